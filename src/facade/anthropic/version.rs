//! The versions of the API, which are dates.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// `2023-06-01`. Who names none, which only gRPC's clients may, means it too: it takes more.
    Old,
    /// `2026-10-21`: no samplers, no documents and no beginnings from the assistant.
    New,
}

const NEW: &str = "2026-10-21";

impl Version {
    /// The newest that is not later; dates in this form sort as texts.
    pub(super) fn of(date: &str) -> Self {
        if date >= NEW { Self::New } else { Self::Old }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_between_two_versions_means_the_older() {
        for (date, version) in [
            ("", Version::Old),
            ("2023-01-01", Version::Old),
            ("2023-06-01", Version::Old),
            ("2026-10-20", Version::Old),
            ("2026-10-21", Version::New),
            ("2030-01-01", Version::New),
        ] {
            assert_eq!(Version::of(date), version, "{date}");
        }
    }
}
