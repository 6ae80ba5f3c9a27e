//! Which paths a rule is about. Pure, by names alone; the rules ask it.

use globset::{GlobBuilder, GlobMatcher};

use super::super::place::Place;
use super::{BadRule, Decision, Match};
use crate::domain::tool::Extent;

/// The path of a rule.
#[derive(Debug, Clone)]
pub(super) struct Glob {
    matcher: GlobMatcher,
    /// Of `x/**`, the directory `x` itself.
    itself: Option<GlobMatcher>,
    /// Between the slashes, in lower case. None where the glob has other slashes than those between names.
    names: Option<Vec<String>>,
}

impl Glob {
    pub(super) fn new(path: &str, decision: Decision) -> Result<Self, BadRule> {
        let above = path.strip_suffix("/**").filter(|above| !above.is_empty());
        let plain = !path.contains(['{', '[', '\\']);
        Ok(Self {
            matcher: matcher(path, decision)?,
            itself: above.map(|above| matcher(above, decision)).transpose()?,
            names: plain.then(|| path.to_lowercase().split('/').map(str::to_owned).collect()),
        })
    }

    /// Of an allowing rule: just what it says.
    pub(super) fn allows(&self, place: &Place) -> bool {
        self.matcher.is_match(place.text())
    }

    /// Of an asking or denying rule: `x/**` is about `x` too, for to look into it is to look at what is in it.
    pub(super) fn touches(&self, place: &Place, extent: Extent) -> Match {
        let path = place.text();
        let is_itself = self.itself.as_ref().is_some_and(|itself| itself.is_match(path));
        match self.matcher.is_match(path) || is_itself {
            true => Match::Yes,
            false if self.may_lie_in(path, extent) => Match::Maybe,
            false => Match::No,
        }
    }

    /// Whether a path that fits could lie in this directory, as deep as it is looked into.
    fn may_lie_in(&self, directory: &str, extent: Extent) -> bool {
        if extent == Extent::Itself {
            return false;
        }
        let Some(names) = &self.names else { return true };
        let directory = directory.to_lowercase();
        let mut left = names.iter().map(String::as_str);
        for found in directory.split('/').filter(|name| !name.is_empty()) {
            match left.next() {
                Some("**") => return true,
                Some(name) if name.contains(['*', '?']) || name == found => {}
                _ => return false,
            }
        }
        match (extent, left.next()) {
            (_, None) => false,
            (_, Some("**")) | (Extent::All, _) => true,
            _ => left.next().is_none(),
        }
    }
}

/// What is asked for or denied is so in upper and lower case: some file systems do not know the difference.
fn matcher(path: &str, decision: Decision) -> Result<GlobMatcher, BadRule> {
    let glob = GlobBuilder::new(path)
        .literal_separator(true)
        .case_insensitive(decision != Decision::Allow)
        .build()
        .map_err(|e| BadRule::Path(e.to_string()))?;
    Ok(glob.compile_matcher())
}
