//! Reading a rule of the operator, and trying its examples, so that a rule that says something else than its author
//! thinks does not start the server. Must not know where the text comes from; the composition root calls it.

use serde::Deserialize;

use super::super::place::Place;
use super::super::shell::{self, Parsed};
use super::super::subject::{About, Subject};
use super::glob::Glob;
use super::pattern::ToolPattern;
use super::{Decision, Match, Rule, Scope};
use crate::domain::tool::Kind;

/// A rule as the operator writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// A name, `*`, or `mcp_<server>_*`.
    pub tool: String,
    /// The first words of a command, separated by blanks.
    pub command: Option<String>,
    /// A glob, relative to the workspace. `*` does not cross a slash, `**` does.
    pub path: Option<String>,
    pub decision: Decision,
    /// What the model is told when it is denied.
    pub reason: Option<String>,
    /// Commands, paths or names of tools that the rule must be about.
    #[serde(default)]
    pub matches: Vec<String>,
    /// And those that it must not be about.
    #[serde(default)]
    pub not_matches: Vec<String>,
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    #[error("tool: `{0}` is neither a name, nor `*`, nor `mcp_<server>_*`")]
    Tool(String),
    #[error("a rule is about a command or about a path, not both")]
    Both,
    #[error("command: `{0}` has no words, or holds something else than plain words")]
    Command(String),
    #[error("command: `{command}` is never allowed unasked: {why}")]
    NeverAllowed { command: String, why: shell::Why },
    #[error("path: {0}")]
    Path(String),
    #[error("matches: the rule is not about `{0}`")]
    Missed(String),
    #[error("not_matches: the rule is about `{0}`")]
    Caught(String),
}

const EXAMPLE_ROOT: &str = "/workspace";

impl TryFrom<RuleSpec> for Rule {
    type Error = BadRule;

    fn try_from(spec: RuleSpec) -> Result<Self, BadRule> {
        let tool = ToolPattern::parse(&spec.tool).ok_or(BadRule::Tool(spec.tool))?;
        let scope = match (spec.command, spec.path) {
            (None, None) => Scope::All,
            (Some(command), None) => Scope::Command(words(&command, spec.decision)?),
            (None, Some(path)) => Scope::Path(Glob::new(&path, spec.decision)?),
            (Some(_), Some(_)) => return Err(BadRule::Both),
        };
        let rule = Self { tool, scope, decision: spec.decision, reason: spec.reason };
        let missed = spec.matches.into_iter().find(|example| !rule.is_about(example));
        let caught = spec.not_matches.into_iter().find(|example| rule.is_about(example));
        match (missed, caught) {
            (Some(example), _) => Err(BadRule::Missed(example)),
            (_, Some(example)) => Err(BadRule::Caught(example)),
            (None, None) => Ok(rule),
        }
    }
}

/// Quotes and the like mean nothing in a rule, so that nobody may think they do.
fn words(command: &str, decision: Decision) -> Result<Vec<String>, BadRule> {
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+./:=@%,".contains(c);
    if words.is_empty() || !words.iter().all(|word| word.chars().all(plain)) {
        return Err(BadRule::Command(command.to_owned()));
    }
    match (decision, shell::parse(command)) {
        (Decision::Allow, Parsed::NotUnderstood { why }) => {
            Err(BadRule::NeverAllowed { command: command.to_owned(), why })
        }
        _ => Ok(words),
    }
}

impl Rule {
    /// About an example: a command, a path, or the name of a tool.
    fn is_about(&self, example: &str) -> bool {
        let (tool, server) = match &self.tool {
            ToolPattern::Exact(name) => (name.clone(), None),
            ToolPattern::Any => (example.to_owned(), None),
            ToolPattern::Server(server) => (example.to_owned(), Some(server.clone())),
        };
        let (about, tool) = match self.scope {
            Scope::All => (About::Nothing, example.to_owned()),
            Scope::Command(_) => (About::Command(shell::parse(example)), tool),
            Scope::Path(_) => (About::Paths(vec![Place::of(example, EXAMPLE_ROOT)]), tool),
        };
        let server = server.filter(|name| !matches!(self.scope, Scope::All) || is_tool_of(name, example));
        let subject =
            Subject { tool, kind: Kind::Other, server, mark: String::new(), about, always_asks: false };
        match (self.decision, &subject.about) {
            (Decision::Allow, About::Command(Parsed::Understood(parts))) => {
                parts.iter().all(|part| self.allows_part(&subject, part))
            }
            (Decision::Allow, _) => self.allows(&subject),
            _ => self.touches(&subject) == Match::Yes,
        }
    }
}

fn is_tool_of(server: &str, name: &str) -> bool {
    name.strip_prefix("mcp_").and_then(|n| n.strip_prefix(server)).is_some_and(|n| n.starts_with('_'))
}
