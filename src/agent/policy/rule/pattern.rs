//! Which tools a rule is about. Must not know anything but names; the rules ask it.

use super::super::subject::Subject;

/// The tools that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolPattern {
    Any,
    Exact(String),
    /// All of an MCP server, written `mcp_<server>_*`. Compared with the server and not with the name, or the server
    /// `a_b` could pass for `a`.
    Server(String),
}

impl ToolPattern {
    /// None if it is none of the three.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let server = text.strip_prefix("mcp_").and_then(|rest| rest.strip_suffix("_*"));
        match (text, server) {
            ("*", _) => Some(Self::Any),
            (_, Some(server)) => is_name(server).then(|| Self::Server(server.to_owned())),
            _ => is_name(text).then(|| Self::Exact(text.to_owned())),
        }
    }

    pub(super) fn matches(&self, subject: &Subject) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => *name == subject.tool,
            Self::Server(name) => subject.server.as_ref() == Some(name),
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c))
}
