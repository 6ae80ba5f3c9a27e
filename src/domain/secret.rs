//! A string that must not leak. Knows nothing of where it came from; settings and authentication hold it.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

/// A key or token. It has no `Display`, no `Serialize` and no `PartialEq`, so that printing it or comparing it
/// in a way that tells by its duration how much was right does not compile.
#[derive(Clone)]
pub struct Secret {
    value: String,
    digest: Digest,
}

/// In characters.
const LEAST_TELLING: usize = 8;

/// What of a string is compared. Made once per string, because whoever asks need not be known yet.
#[derive(Clone)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        let value = value.into();
        Self { digest: Digest::of(&value), value }
    }

    /// The bare value: for the one place that must show or send it.
    pub fn expose(&self) -> &str {
        &self.value
    }

    /// Whether it can be taken out of a text: one that is shorter also stands in words that have nothing to do with it.
    pub fn is_telling(&self) -> bool {
        self.value.chars().nth(LEAST_TELLING - 1).is_some()
    }

    /// Whether `candidate` is this secret. Digests are compared rather than the strings, because a comparison
    /// of the strings would still tell their length.
    pub fn matches(&self, candidate: &Digest) -> bool {
        self.digest.0.ct_eq(&candidate.0).into()
    }

    /// Whether the two hold one value.
    pub fn is(&self, other: &Self) -> bool {
        self.matches(&other.digest)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_the_value() {
        let secret = Secret::new("correct horse battery staple");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "[redacted] Some([redacted])");
    }

    #[test]
    fn eight_characters_tell() {
        for (value, tells) in [("", false), ("k", false), ("tööls67", false), ("tööls678", true)] {
            assert_eq!(Secret::new(value).is_telling(), tells, "{value:?}");
        }
    }

    #[test]
    fn matches_the_same_string_only() {
        let secret = Secret::new("0123456789abcdef");
        for (candidate, expected) in [
            ("0123456789abcdef", true),
            ("0123456789abcdeF", false),
            ("0123456789abcde", false),
            ("0123456789abcdef0", false),
            ("", false),
        ] {
            assert_eq!(secret.matches(&Digest::of(candidate)), expected, "{candidate:?}");
        }
    }
}
