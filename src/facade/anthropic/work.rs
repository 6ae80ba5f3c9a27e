//! What a conversion gathers on its way, beside the request itself.

use super::version::Version;
use crate::domain::error::Error;
use crate::facade::{Remote, Report};
use crate::proto::vendor::{self, Members};

#[derive(Debug)]
pub(super) struct Work {
    pub(super) version: Version,
    pub(super) report: Report,
    pub(super) remote: Vec<Remote>,
    /// Told once, however often it stands there.
    cache_told: bool,
}

impl Work {
    pub(super) fn new(version: Version) -> Self {
        Self { version, report: Report::default(), remote: Vec::new(), cache_told: false }
    }

    /// Models here cache by themselves what they have seen before.
    pub(super) fn cache_control(&mut self, path: &str, json: &str) {
        if !json.is_empty() && !self.cache_told {
            self.cache_told = true;
            self.report.ignored(at(path, "cache_control"), "prefixes are cached without being asked for");
        }
    }

    /// Members that nobody knows are let pass, but not in silence.
    pub(super) fn unknown(&mut self, path: &str, extra: &str) {
        // What was read as JSON is an object.
        let members = vendor::kept::<Members>(extra).map(|members| members.0).unwrap_or_default();
        for (name, value) in members {
            if value.get() != "null" {
                self.report.ignored(at(path, &name), "is not known here");
            }
        }
    }

    /// What the newer version of the API refuses, and the older took.
    pub(super) fn refuse_if_new(&self, path: &str, why: &str) -> Result<(), Error> {
        match self.version {
            Version::New => Err(Error::field(path, format!("{why} (anthropic-version 2026-10-21)"))),
            Version::Old => Ok(()),
        }
    }
}

/// The member `name` of what stands at `path`.
pub(super) fn at(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
