//! Rules: the operator's, checked with their examples when they are loaded, and those that a user's "always" makes.
//! A rule says what it is about; what follows from several rules is for `decide` to say. Must not know modes or
//! options' words; the policy asks it, the composition root loads it, the scheduler keeps what it grants.

mod always;
mod glob;
mod load;
mod pattern;

pub use always::{AlwaysRule, cover, covers, covers_part, grants};
pub use load::{BadRule, RuleSpec};

use serde::Deserialize;

use super::place::Place;
use super::shell::{Parsed, Simple, Word};
use super::subject::{About, Subject};
use crate::domain::tool::Extent;
use glob::Glob;
use pattern::ToolPattern;

/// What a rule wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Allow,
    Ask,
    Deny,
}

/// A rule of the operator.
#[derive(Debug, Clone)]
pub struct Rule {
    tool: ToolPattern,
    scope: Scope,
    decision: Decision,
    reason: Option<String>,
}

/// Which calls of the tool are meant.
#[derive(Debug, Clone)]
enum Scope {
    All,
    /// Commands that begin with these words. Never empty.
    Command(Vec<String>),
    Path(Glob),
}

/// Whether a rule is about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    No,
    /// It cannot be told before it runs.
    Maybe,
    Yes,
}

impl Rule {
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// For the model, of a rule that denies.
    pub fn reason(&self) -> String {
        let given = || "The operator of this server does not allow this. Do it another way, or say that it cannot be done.";
        self.reason.clone().unwrap_or_else(|| given().to_owned())
    }

    /// Whether an asking or denying rule is about a call. Any part of it is enough, and so is another spelling.
    pub fn touches(&self, subject: &Subject) -> Match {
        match (&self.scope, &subject.about) {
            _ if !self.tool.matches(subject) => Match::No,
            (Scope::All, _) => Match::Yes,
            (Scope::Command(words), About::Command(parsed)) => touches_command(words, parsed),
            (Scope::Path(glob), About::Edit(place)) => reaches(glob, std::slice::from_ref(place)),
            (Scope::Path(glob), About::Paths(places)) => reaches(glob, places),
            (Scope::Path(glob), About::Reach(reached)) => {
                reached.iter().map(|(place, extent)| glob.touches(place, *extent)).max().unwrap_or(Match::No)
            }
            _ => Match::No,
        }
    }

    /// Whether an allowing rule allows a whole call. A command is allowed part by part instead.
    pub fn allows(&self, subject: &Subject) -> bool {
        let places = match &subject.about {
            About::Edit(place) => std::slice::from_ref(place),
            About::Paths(places) => places.as_slice(),
            _ => &[],
        };
        self.tool.matches(subject)
            && match (&self.scope, &subject.about) {
                (_, About::Command(_)) | (Scope::Command(_), _) => false,
                (Scope::All, About::Edit(place)) => !place.is_sensitive(),
                (Scope::All, _) => true,
                (Scope::Path(glob), _) => !places.is_empty() && places.iter().all(|p| glob.allows(p)),
            }
    }

    /// Whether an allowing rule allows one part of a command: word by word, from the first on.
    pub fn allows_part(&self, subject: &Subject, part: &Simple) -> bool {
        let Scope::Command(words) = &self.scope else { return false };
        self.tool.matches(subject)
            && words[0] == part.name
            && prefix(&words[1..], &part.arguments) == Match::Yes
    }

    /// Asks for or denies some commands of this tool.
    pub(super) fn restricts_commands_of(&self, subject: &Subject) -> bool {
        self.decision != Decision::Allow
            && matches!(self.scope, Scope::Command(_))
            && self.tool.matches(subject)
    }
}

fn touches_command(words: &[String], parsed: &Parsed) -> Match {
    let Parsed::Understood(parts) = parsed else { return Match::Maybe };
    let part = |part: &Simple| match is_same_program(&words[0], &part.name) {
        true => prefix(&words[1..], &part.arguments),
        false => Match::No,
    };
    parts.iter().map(part).max().unwrap_or(Match::Maybe)
}

/// `/bin/rm` is `rm` too.
fn is_same_program(named: &str, called: &str) -> bool {
    named == called || called.rsplit('/').next().is_some_and(|base| base.eq_ignore_ascii_case(named))
}

fn prefix(words: &[String], arguments: &[Word]) -> Match {
    for (index, word) in words.iter().enumerate() {
        match arguments.get(index) {
            Some(Word::Literal(argument)) if argument == word => {}
            Some(Word::Computed) => return Match::Maybe,
            _ => return Match::No,
        }
    }
    Match::Yes
}

fn reaches(glob: &Glob, places: &[Place]) -> Match {
    places.iter().map(|place| glob.touches(place, Extent::Itself)).max().unwrap_or(Match::No)
}
