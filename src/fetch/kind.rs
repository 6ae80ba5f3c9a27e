//! What bytes are: by how they begin, checked against what their server says. Pure.

/// What stands at a place near the beginning, and what that makes it.
const MAGIC: [(usize, &[u8], &str); 29] = [
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypheix", "image/heic"),
    (4, b"ftyphevc", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypmsf1", "image/heif"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp3g", "video/3gpp"),
    (4, b"ftyp", "video/mp4"),
    (0, b"%PDF-", "application/pdf"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (8, b"AIFF", "audio/aiff"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (0, b"\0\0\x01\xba", "video/mpeg"),
    (0, b"\0\0\x01\xb3", "video/mpeg"),
    (0, b"FLV\x01", "video/x-flv"),
];

/// Other names for the same.
const SPELLINGS: [(&str, &str); 10] = [
    ("image/jpg", "image/jpeg"),
    ("image/pjpeg", "image/jpeg"),
    ("image/x-png", "image/png"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/x-mp3", "audio/mpeg"),
    ("audio/wave", "audio/wav"),
    ("audio/x-wav", "audio/wav"),
    ("audio/vnd.wave", "audio/wav"),
    ("audio/x-flac", "audio/flac"),
    ("application/x-pdf", "application/pdf"),
];

/// What may be one thing or another inside, so that the server's word counts.
const CONTAINERS: [&[&str]; 4] = [
    &["video/mp4", "audio/mp4", "audio/x-m4a", "video/quicktime", "video/3gpp", "audio/3gpp"],
    &["audio/ogg", "video/ogg", "application/ogg", "audio/opus"],
    &["video/webm", "audio/webm", "video/x-matroska"],
    &["image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"],
];

/// Says nothing.
const NOTHING: [&str; 3] = ["", "application/octet-stream", "binary/octet-stream"];

pub(super) fn of(declared: &str, bytes: &[u8]) -> Result<String, String> {
    let declared = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let declared =
        SPELLINGS.iter().find(|(name, _)| *name == declared).map_or(declared.as_str(), |(_, one)| one);
    match sniffed(bytes) {
        Some(found) if CONTAINERS.iter().any(|of| of.contains(&found) && of.contains(&declared)) => {
            Ok(declared.to_owned())
        }
        // Many a picture has another's name; the bytes are what a model looks at.
        Some(found) => Ok(found.to_owned()),
        None if NOTHING.contains(&declared) => {
            Err("does not say what it is, and its bytes do not either; send it as a data: URL with its type"
                .to_owned())
        }
        None if MAGIC.iter().any(|(.., kind)| *kind == declared) => {
            Err(format!("is said to be {declared}, and its bytes are something else"))
        }
        None => Ok(declared.to_owned()),
    }
}

fn sniffed(bytes: &[u8]) -> Option<&'static str> {
    let begins = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|bytes| bytes.starts_with(magic));
    let found = MAGIC.iter().find(|(at, magic, _)| begins(*at, magic) && (*at != 8 || is_riff(bytes)));
    found.map(|(.., kind)| *kind).or_else(|| is_mp3(bytes).then_some("audio/mpeg"))
}

/// WAVE, WEBP and AVI stand in one kind of container, AIFF in its elder.
fn is_riff(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") || bytes.starts_with(b"FORM")
}

/// A frame: eleven bits that are set, then a version and a layer that there is.
fn is_mp3(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, second, third, ..]
        if second & 0xe0 == 0xe0 && second & 0x18 != 0x08 && second & 0x06 == 0x02 && third & 0xf0 != 0xf0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_what_they_are_and_servers_are_believed_about_the_rest() {
        let png = b"\x89PNG\r\n\x1a\n...";
        for (declared, bytes, expected) in [
            ("image/png", &png[..], Ok("image/png")),
            ("", png, Ok("image/png")),
            ("application/octet-stream", png, Ok("image/png")),
            ("image/jpeg", png, Ok("image/png")),
            ("text/html; charset=utf-8", png, Ok("image/png")),
            ("image/jpg", b"\xff\xd8\xff\xe0", Ok("image/jpeg")),
            ("image/webp", b"RIFF....WEBPVP8 ", Ok("image/webp")),
            ("audio/x-wav", b"RIFF....WAVEfmt ", Ok("audio/wav")),
            ("text/plain", b"12345678WAVE", Ok("text/plain")),
            ("image/heif", b"\0\0\0\x18ftypheic", Ok("image/heif")),
            ("audio/mp4", b"\0\0\0\x18ftypisom", Ok("audio/mp4")),
            ("", b"\0\0\0\x18ftypisom", Ok("video/mp4")),
            ("audio/mp3", b"\xff\xfb\x90\x00", Ok("audio/mpeg")),
            ("", b"ID3\x04", Ok("audio/mpeg")),
            ("video/ogg", b"OggS", Ok("video/ogg")),
            ("audio/flac", b"fLaC", Ok("audio/flac")),
            ("application/pdf", b"%PDF-1.7", Ok("application/pdf")),
            ("Text/CSV; charset=x", b"a,b", Ok("text/csv")),
            ("image/svg+xml", b"<svg>", Ok("image/svg+xml")),
            // A page that says it is a picture.
            (
                "image/png",
                b"<!doctype html>",
                Err("is said to be image/png, and its bytes are something else"),
            ),
            (
                "",
                b"hello",
                Err(
                    "does not say what it is, and its bytes do not either; send it as a data: URL with its type",
                ),
            ),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(of(declared, bytes), expected, "{declared} {bytes:?}");
        }
    }
}
