//! What the model counted, read out of bytes that pass through: the last `totalTokenCount`, wherever reads were cut. Pure.

use std::sync::LazyLock;

use memchr::memmem::Finder;

const NAME: &[u8] = b"\"totalTokenCount\"";
/// Behind the name: a colon, perhaps spaces, and a number of at most ten digits.
const BEHIND: usize = 24;

#[derive(Debug, Default)]
pub(super) struct Usage {
    /// The end of what was read, in which one may have begun.
    rest: Vec<u8>,
}

/// So much of one may stand in what was read before.
const EDGE: usize = NAME.len() + BEHIND;

impl Usage {
    /// The last one that is whole in what was read so far, if there is a new one.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Option<u32> {
        let (first, rest) = bytes.split_at(bytes.len().min(EDGE));
        self.rest.extend_from_slice(first);
        let found = last(bytes).or_else(|| last(&self.rest));
        self.rest.extend_from_slice(&rest[rest.len().saturating_sub(EDGE)..]);
        self.rest.drain(..self.rest.len().saturating_sub(EDGE));
        found
    }
}

/// Made once: to make one takes longer than to search a chunk with it.
static FIND: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(NAME));

/// Of those that are whole.
fn last(bytes: &[u8]) -> Option<u32> {
    FIND.find_iter(bytes).filter_map(|at| number(&bytes[at + NAME.len()..])).last()
}

/// None if its end is not there yet.
fn number(bytes: &[u8]) -> Option<u32> {
    let is_before = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    let start = bytes.iter().position(|byte| !is_before(byte))?;
    let digits = bytes.get(start..)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_count_is_found_wherever_reads_are_cut() {
        let body = "data: {\"usageMetadata\":{\"totalTokenCount\": 7,\"x\":1}}\r\n\r\n\
                    data: {\"usageMetadata\":{\"promptTokenCount\":3,\"totalTokenCount\" : 1234\n}}\r\n\r\n";
        for size in 1..body.len() {
            let mut usage = Usage::default();
            let mut last = None;
            for piece in body.as_bytes().chunks(size) {
                last = usage.read(piece).or(last);
            }
            assert_eq!(last, Some(1234), "in pieces of {size}");
        }
        assert_eq!(Usage::default().read(b"{\"totalTokenCount\":\"x\"} and 12"), None);
    }
}
