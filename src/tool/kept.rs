//! Output that may be longer than anybody wants to keep: its beginning and its end are kept. And bytes that become
//! text as they come, whole characters at a time. Pure.

/// The first fifth and the last four fifths of what fits; what lies between is counted.
#[derive(Debug)]
pub(super) struct Kept {
    limit: usize,
    head: String,
    head_chars: usize,
    tail: std::collections::VecDeque<char>,
    left_out: usize,
}

impl Kept {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            head: String::new(),
            head_chars: 0,
            tail: std::collections::VecDeque::new(),
            left_out: 0,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        let (head, tail) = (self.limit / 5, self.limit - self.limit / 5);
        for character in text.chars() {
            if self.head_chars < head {
                self.head.push(character);
                self.head_chars += 1;
                continue;
            }
            if self.tail.len() == tail {
                self.tail.pop_front();
                self.left_out += 1;
            }
            self.tail.push_back(character);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head_chars == 0
    }

    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.head.clone();
        if self.left_out > 0 {
            text.push_str(&format!("\n... [{} characters left out] ...\n", self.left_out));
        }
        text.extend(&self.tail);
        text
    }
}

/// Bytes on their way to text. A character that is not all there yet waits for the rest.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    waiting: Vec<u8>,
}

impl Decoder {
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.waiting.extend_from_slice(bytes);
        let whole = self.waiting.len() - unfinished(&self.waiting);
        let rest = self.waiting.split_off(whole);
        let text = String::from_utf8_lossy(&self.waiting).into_owned();
        self.waiting = rest;
        text
    }

    /// What still waits will not become whole any more.
    pub(super) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.waiting)).into_owned()
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let start = bytes[from..].iter().rposition(|byte| byte & 0xc0 != 0x80).map(|at| from + at);
    let Some(start) = start else { return 0 };
    let length = match bytes[start] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let there = bytes.len() - start;
    if there < length { there } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut kept = Kept::new(10);
        assert!(kept.is_empty());
        kept.push("0123456789");
        assert_eq!((kept.text().as_str(), kept.left_out()), ("0123456789", 0));
        kept.push("äbc");
        assert_eq!(kept.text(), "01\n... [3 characters left out] ...\n56789äbc");
    }

    #[test]
    fn characters_come_whole_however_they_are_cut() {
        let text = "aä€😀z";
        for size in 1..=text.len() {
            let mut decoder = Decoder::default();
            let pieces: Vec<String> = text.as_bytes().chunks(size).map(|piece| decoder.push(piece)).collect();
            assert!(pieces.iter().all(|piece| !piece.contains('\u{fffd}')), "{size}: {pieces:?}");
            assert_eq!(pieces.concat() + &decoder.finish(), text, "{size}");
        }
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"a\xff\xf0\x9f"), "a\u{fffd}");
        assert_eq!(decoder.finish(), "\u{fffd}");
    }
}
