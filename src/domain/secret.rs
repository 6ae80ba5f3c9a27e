//! A string that must not leak. Knows nothing of where it came from; settings and authentication hold it.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A key or token. It has no `Display`, no `Serialize` and no `PartialEq`, so that printing it or comparing it
/// in a way that tells by its duration how much was right does not compile.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The bare value: for the one place that must show or send it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `candidate` is this secret. Digests are compared rather than the strings, because a comparison
    /// of the strings would still tell their length.
    pub fn matches(&self, candidate: &str) -> bool {
        let ours = Sha256::digest(self.0.as_bytes());
        let theirs = Sha256::digest(candidate.as_bytes());
        ours.as_slice().ct_eq(theirs.as_slice()).into()
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
    fn matches_the_same_string_only() {
        let secret = Secret::new("0123456789abcdef");
        for (candidate, expected) in [
            ("0123456789abcdef", true),
            ("0123456789abcdeF", false),
            ("0123456789abcde", false),
            ("0123456789abcdef0", false),
            ("", false),
        ] {
            assert_eq!(secret.matches(candidate), expected, "{candidate:?}");
        }
    }
}
