//! Where bytes are, and of what kind: `data:` URLs, addresses, names of files. Pure; every facade whose requests hold pictures
//! and documents asks it.

use crate::proto::gemini::{Blob, FileData};

pub const OCTETS: &str = "application/octet-stream";

/// Kinds by the ending of a name. What is missing here is told by the bytes when they are fetched.
const ENDINGS: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("json", "application/json"),
    ("wav", "audio/wav"),
    ("mp3", "audio/mp3"),
    ("mp4", "video/mp4"),
];

/// By the ending of a name or of the path of an address.
pub fn mime_of(name: &str) -> Option<&'static str> {
    let name = name.split(['?', '#']).next().unwrap_or_default();
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, mime)| *mime)
}

/// Both alphabets, and line breaks that some put in.
pub fn is_base64(data: &str) -> bool {
    let fine =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=' | b'\r' | b'\n');
    !data.is_empty() && data.bytes().all(fine)
}

pub enum Source {
    Bytes(Blob),
    /// To be fetched.
    Web(FileData),
    /// Where the model looks itself.
    Stored(FileData),
    /// Nothing that says what it is.
    Bare,
}

impl Source {
    pub fn of(url: &str) -> Result<Self, &'static str> {
        if let Some(rest) = url.get(..5).filter(|start| start.eq_ignore_ascii_case("data:")).and(url.get(5..))
        {
            return data(rest).map(Self::Bytes);
        }
        let found =
            || FileData { mime_type: mime_of(url).unwrap_or_default().to_owned(), file_uri: url.to_owned() };
        match url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
            Some("https" | "http") => Ok(Self::Web(found())),
            Some("gs") => Ok(Self::Stored(found())),
            Some(_) => Err("has a scheme that is not read; send a data: URL, or an https: one"),
            None => Ok(Self::Bare),
        }
    }
}

fn data(url: &str) -> Result<Blob, &'static str> {
    let (head, data) = url.split_once(',').ok_or("has no comma: a data: URL is data:TYPE;base64,BYTES")?;
    let Some(mime) = head.strip_suffix(";base64") else {
        return Err("must be in base64: data:TYPE;base64,BYTES");
    };
    if !is_base64(data) {
        return Err("is not base64 behind the comma");
    }
    let mime = mime.split(';').next().unwrap_or_default();
    let mime = match mime {
        "" => OCTETS,
        // No such type exists, and many send it.
        "image/jpg" => "image/jpeg",
        mime => mime,
    };
    let data = if data.contains(['\r', '\n']) { data.replace(['\r', '\n'], "") } else { data.to_owned() };
    Ok(Blob { mime_type: mime.to_ascii_lowercase(), data })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_what_they_are() {
        for (url, expected) in [
            ("data:image/png;base64,AA==", "bytes image/png AA=="),
            ("DATA:image/PNG;name=x;base64,A-_\nA", "bytes image/png A-_A"),
            ("data:image/jpg;base64,AA==", "bytes image/jpeg AA=="),
            ("data:;base64,AA==", "bytes application/octet-stream AA=="),
            ("data:text/plain,hello", "must be in base64: data:TYPE;base64,BYTES"),
            ("data:image/png;base64", "has no comma: a data: URL is data:TYPE;base64,BYTES"),
            ("data:image/png;base64,", "is not base64 behind the comma"),
            ("data:image/png;base64,ä", "is not base64 behind the comma"),
            ("https://x/a.JPG?b=c.png", "web image/jpeg"),
            ("http://x/a", "web "),
            ("gs://x/a.pdf", "stored application/pdf"),
            ("file:///etc/passwd", "has a scheme that is not read; send a data: URL, or an https: one"),
            ("iVBORw0KGgo=", "bare"),
            ("", "bare"),
        ] {
            let told = match Source::of(url) {
                Ok(Source::Bytes(blob)) => format!("bytes {} {}", blob.mime_type, blob.data),
                Ok(Source::Web(file)) => format!("web {}", file.mime_type),
                Ok(Source::Stored(file)) => format!("stored {}", file.mime_type),
                Ok(Source::Bare) => "bare".to_owned(),
                Err(problem) => problem.to_owned(),
            };
            assert_eq!(told, expected, "{url}");
        }
    }
}
