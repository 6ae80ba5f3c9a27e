//! Server-sent events, read from bytes that were cut anywhere. Pure; the backends' readers call it. What is no event but
//! JSON or markup by itself, as some servers send their errors in the middle of a stream, comes out as it is.

use memchr::memchr;

/// A line or an event that is longer is not kept: whatever it is, it is no chunk of an answer.
const MOST: usize = 64 << 20;

/// Something that came.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The data of an event; several lines of it are joined by line feeds.
    Data(&'a [u8]),
    /// Not an event.
    Raw(&'a [u8]),
    /// Longer than anything that could be meant. Nothing comes behind it.
    TooLong,
}

#[derive(Debug, Default)]
pub struct Frames {
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
    /// Data of the event that has not ended.
    data: Vec<u8>,
    has_data: bool,
    raw: Vec<u8>,
    nesting: Nesting,
    begun: bool,
    broken: bool,
}

impl Frames {
    /// Takes what came and tells every frame that it completes.
    pub fn read(&mut self, mut bytes: &[u8], each: &mut impl FnMut(Frame<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, more) = (&bytes[..end], &bytes[end + 1..]);
            if self.rest.is_empty() {
                self.line(line, each);
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                self.line(&whole, each);
                // Its memory serves the next line.
                whole.clear();
                self.rest = whole;
            }
            bytes = more;
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() + self.data.len() + self.raw.len() > MOST {
            self.overflow(each);
        }
    }

    /// Nothing more comes: what has no end yet ends now.
    pub fn finish(&mut self, each: &mut impl FnMut(Frame<'_>)) {
        if !self.rest.is_empty() {
            let line = std::mem::take(&mut self.rest);
            self.line(&line, each);
        }
        self.event(each);
        self.end_raw(each);
    }

    fn line(&mut self, line: &[u8], each: &mut impl FnMut(Frame<'_>)) {
        if self.broken {
            return;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = line.strip_prefix("\u{feff}".as_bytes()).filter(|_| first).unwrap_or(line);
        if !self.raw.is_empty() || !self.has_data && begins_raw(line) {
            return self.raw_line(line, each);
        }
        if line.is_empty() {
            return self.event(each);
        }
        // Comments, names, ids and whatever else there may be say nothing here.
        let Some(value) = line.strip_prefix(b"data") else { return };
        let value = match value.strip_prefix(b":") {
            Some(value) => value.strip_prefix(b" ").unwrap_or(value),
            None if value.is_empty() => value,
            None => return,
        };
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
    }

    fn event(&mut self, each: &mut impl FnMut(Frame<'_>)) {
        if std::mem::take(&mut self.has_data) {
            each(Frame::Data(&self.data));
            self.data.clear();
        }
    }

    /// Ends where its last bracket closes, else with everything.
    fn raw_line(&mut self, line: &[u8], each: &mut impl FnMut(Frame<'_>)) {
        self.raw.extend_from_slice(line);
        self.raw.push(b'\n');
        line.iter().for_each(|byte| self.nesting.pass(*byte));
        if self.nesting.is_closed() {
            self.end_raw(each);
        }
    }

    fn end_raw(&mut self, each: &mut impl FnMut(Frame<'_>)) {
        if !self.raw.is_empty() {
            each(Frame::Raw(&self.raw));
            self.raw.clear();
        }
        self.nesting = Nesting::default();
    }

    fn overflow(&mut self, each: &mut impl FnMut(Frame<'_>)) {
        if !std::mem::replace(&mut self.broken, true) {
            each(Frame::TooLong);
        }
        (self.rest, self.data, self.raw, self.has_data) = (Vec::new(), Vec::new(), Vec::new(), false);
    }
}

/// How deep in brackets of JSON a byte stands. Each byte is looked at once, however long it goes on.
#[derive(Debug, Default)]
struct Nesting {
    begun: bool,
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl Nesting {
    fn pass(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b'{' | b'[' => (self.begun, self.depth) = (true, self.depth + 1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn is_closed(&self) -> bool {
        self.begun && self.depth == 0 && !self.quoted
    }
}

/// No field of an event begins so, but JSON and markup do.
fn begins_raw(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'[' | b'<'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut told = Vec::new();
        let mut each = |frame: Frame<'_>| {
            told.push(match frame {
                Frame::Data(data) => String::from_utf8_lossy(data).into_owned(),
                Frame::Raw(raw) => format!("raw {}", String::from_utf8_lossy(raw).trim_end()),
                Frame::TooLong => "too long".to_owned(),
            });
        };
        let mut frames = Frames::default();
        pieces.iter().for_each(|piece| frames.read(piece, &mut each));
        frames.finish(&mut each);
        told
    }

    const CASES: [(&str, &[&str]); 13] = [
        ("data: a\n\ndata: b\n\n", &["a", "b"]),
        ("data:a\r\n\r\ndata:  b\r\n\r\n", &["a", " b"]),
        (": a comment\ndata: a\n: another\ndata: b\n\n", &["a\nb"]),
        ("event: x\nid: 1\nretry: 5\nother: y\ndata: a\n\n", &["a"]),
        ("\n\n\ndata: a\n\n\n", &["a"]),
        ("data\n\ndata:\n\n", &["", ""]),
        ("database: a\n\n", &[]),
        ("\u{feff}data: ä€😀\n\n", &["ä€😀"]),
        ("data: a\n\ndata: cut off", &["a", "cut off"]),
        (
            "data: a\n\n{\n  \"error\": {\n    \"code\": 500\n  }\n}\n",
            &["a", "raw {\n  \"error\": {\n    \"code\": 500\n  }\n}"],
        ),
        ("[{\n  \"error\": {}\n}\n]\ndata: b\n\n", &["raw [{\n  \"error\": {}\n}\n]", "b"]),
        ("[{\"a\": \"]}\\\"\"}\n,\n{}\n]\n", &["raw [{\"a\": \"]}\\\"\"}\n,\n{}\n]"]),
        ("<html>\n<p>: no</p>", &["raw <html>\n<p>: no</p>"]),
    ];

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        for (text, expected) in CASES {
            assert_eq!(all(&[text.as_bytes()]), expected, "{text:?}");
            for cut in 0..text.len() {
                let (one, two) = text.as_bytes().split_at(cut);
                assert_eq!(all(&[one, two]), expected, "{text:?} cut at {cut}");
            }
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(all(&bytes), expected, "{text:?} byte by byte");
        }
    }

    #[test]
    fn a_long_list_is_read_in_one_go() {
        let mut text = "[{\n".to_owned();
        for number in 0..200_000 {
            text.push_str(&format!("  \"text\": \"{number}\"\n}},\n{{\n"));
        }
        text.push_str("}]\n");
        let began = std::time::Instant::now();
        assert_eq!(all(&[text.as_bytes()]).len(), 1);
        assert!(began.elapsed() < std::time::Duration::from_secs(2), "{:?}", began.elapsed());
    }

    #[test]
    fn what_never_ends_is_given_up() {
        let piece = vec![b'x'; 1 << 20];
        let mut told = 0;
        let mut frames = Frames::default();
        for _ in 0..200 {
            frames.read(&piece, &mut |frame| told += usize::from(frame == Frame::TooLong));
        }
        frames.read(b"\ndata: a\n\n", &mut |_| told += 1);
        frames.finish(&mut |_| told += 1);
        assert_eq!(told, 1);
        assert!(frames.rest.capacity() <= MOST);
    }
}
