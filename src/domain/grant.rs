//! What a user has allowed for the rest of a context, and how it is written down. The policy gives it its meaning,
//! stores keep it, services list it and take it back.

use std::fmt;
use std::time::SystemTime;

/// Such calls need not be asked for again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlwaysRule {
    /// Files of the workspace, but none that is sensitive.
    Edits,
    /// A program, with its verb where it has verbs, as in `git status`.
    Command { root: String },
    /// A tool of an MCP server, by its full name.
    Tool { name: String },
    /// All tools of an MCP server.
    Server { name: String },
    /// A host, with its port where that is not the usual one.
    Host { name: String },
}

/// One that stands in a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub id: String,
    pub rule: AlwaysRule,
    pub at: SystemTime,
}

impl AlwaysRule {
    /// As two words, for a store.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Edits => ("edits", ""),
            Self::Command { root } => ("command", root),
            Self::Tool { name } => ("tool", name),
            Self::Server { name } => ("server", name),
            Self::Host { name } => ("host", name),
        }
    }

    /// None for words of a newer program: what is not understood allows nothing.
    pub fn from_parts(kind: &str, value: String) -> Option<Self> {
        match kind {
            "edits" => Some(Self::Edits),
            "command" => Some(Self::Command { root: value }),
            "tool" => Some(Self::Tool { name: value }),
            "server" => Some(Self::Server { name: value }),
            "host" => Some(Self::Host { name: value }),
            _ => None,
        }
    }
}

impl fmt::Display for AlwaysRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edits => f.write_str("edits of files in the workspace"),
            Self::Command { root } => write!(f, "the command `{root}`"),
            Self::Tool { name } => write!(f, "the tool {name}"),
            Self::Server { name } => write!(f, "all tools of the server {name}"),
            Self::Host { name } => write!(f, "fetching from {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_read_back() {
        let name = || "x".to_owned();
        for rule in [
            AlwaysRule::Edits,
            AlwaysRule::Command { root: name() },
            AlwaysRule::Tool { name: name() },
            AlwaysRule::Server { name: name() },
            AlwaysRule::Host { name: name() },
        ] {
            let (kind, value) = rule.parts();
            assert_eq!(AlwaysRule::from_parts(kind, value.to_owned()), Some(rule.clone()));
        }
        assert_eq!(AlwaysRule::from_parts("everything", String::new()), None);
    }
}
