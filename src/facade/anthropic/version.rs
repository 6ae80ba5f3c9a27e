//! The versions of the API, which are dates.

use crate::domain::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// `2023-06-01`. Who names none, which only gRPC's clients may, means it too: it takes more.
    Old,
    /// `2026-10-21`: no samplers, no documents and no beginnings from the assistant.
    New,
}

const OLD: &str = "2023-06-01";
const NEW: &str = "2026-10-21";

/// As `2023-06-01`.
fn is_date(text: &str) -> bool {
    let fits =
        |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == NEW.len() && text.bytes().enumerate().all(fits)
}

impl Version {
    /// The newest that is not later; dates in this form sort as texts.
    pub(super) fn of(date: &str) -> Result<Self, Error> {
        match date {
            "" => Ok(Self::Old),
            _ if !is_date(date) || date < OLD => Err(Error::field(
                "anthropic-version",
                format!("{date:?} is no version of the API; send {OLD} or {NEW}"),
            )),
            _ if date >= NEW => Ok(Self::New),
            _ => Ok(Self::Old),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_between_two_versions_means_the_older() {
        for (date, version) in [
            ("", Version::Old),
            ("2023-06-01", Version::Old),
            ("2026-10-20", Version::Old),
            ("2026-10-21", Version::New),
            ("2030-01-01", Version::New),
        ] {
            assert_eq!(Version::of(date).unwrap(), version, "{date}");
        }
        for wrong in ["garbage", "2023-01-01", "2026-10-21x", "2026/10/21", "20261021"] {
            assert!(Version::of(wrong).is_err(), "{wrong}");
        }
    }
}
