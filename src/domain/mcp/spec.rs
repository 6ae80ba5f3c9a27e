//! An MCP server as somebody named it: the operator, a trusted workspace or a client. The settings are read into it and `mcp`
//! reaches it; neither has another description. Pure.

use std::path::PathBuf;
use std::time::Duration;

use super::Origin;
use crate::domain::secret::Secret;

#[derive(Debug, Clone)]
pub struct Spec {
    /// Letters, digits and `-`, so that `mcp_<server>_` ends at one place only.
    pub name: String,
    pub origin: Origin,
    pub way: Way,
    pub connect: Duration,
    pub call: Duration,
    /// Its tools run unasked, and its word that one only reads is taken. The operator's to say.
    pub trusted: bool,
    /// Only these tools, if there are any.
    pub include: Vec<String>,
    /// Never these.
    pub exclude: Vec<String>,
    /// Kept inside like a command of the model.
    pub confined: bool,
}

/// How it is reached.
#[derive(Debug, Clone)]
pub enum Way {
    Command {
        program: String,
        arguments: Vec<String>,
        environment: Vec<(String, Secret)>,
        /// The workspace, if there is none.
        directory: Option<PathBuf>,
    },
    Http {
        url: String,
        headers: Vec<(String, Secret)>,
        bearer: Option<Secret>,
    },
}

impl Spec {
    /// Of a call, where nobody says otherwise.
    pub const CALL: Duration = Duration::from_mins(10);
    /// Of the way to it, likewise.
    pub const CONNECT: Duration = Duration::from_secs(30);

    /// Whether nothing has changed.
    pub fn is(&self, other: &Self) -> bool {
        let Self { name, origin, way, connect, call, trusted, include, exclude, confined } = self;
        (name, origin, connect, call) == (&other.name, &other.origin, &other.connect, &other.call)
            && (trusted, confined) == (&other.trusted, &other.confined)
            && (include, exclude) == (&other.include, &other.exclude)
            && way.is(&other.way)
    }
}

impl Way {
    /// For people. Arguments are shown, because who agrees to a command agrees to them; values of the environment and
    /// headers are not.
    pub fn words(&self) -> String {
        match self {
            Self::Command { program, arguments, .. } => {
                let words = std::iter::once(program).chain(arguments);
                words.map(|word| quoted(word.as_str())).collect::<Vec<_>>().join(" ")
            }
            Self::Http { url, .. } => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }

    /// What anybody may know of it: the program, or the host.
    pub fn brief(&self) -> String {
        match self {
            Self::Command { program, .. } => program.rsplit('/').next().unwrap_or_default().to_owned(),
            Self::Http { url, .. } => {
                let host = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
                host.and_then(|host| host.rsplit('@').next()).unwrap_or_default().to_owned()
            }
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Command { program, arguments, environment, directory },
                Self::Command { program: p, arguments: a, environment: e, directory: d },
            ) => (program, arguments, directory) == (p, a, d) && same(environment, e),
            (Self::Http { url, headers, bearer }, Self::Http { url: u, headers: h, bearer: b }) => {
                let bearers = match (bearer, b) {
                    (Some(bearer), Some(b)) => bearer.is(b),
                    (None, None) => true,
                    (Some(_), None) | (None, Some(_)) => false,
                };
                url == u && same(headers, h) && bearers
            }
            (Self::Command { .. }, Self::Http { .. }) | (Self::Http { .. }, Self::Command { .. }) => false,
        }
    }

    /// Names of variables or headers that it gets besides.
    pub fn extras(&self) -> Vec<&str> {
        let pairs = match self {
            Self::Command { environment, .. } => environment,
            Self::Http { headers, .. } => headers,
        };
        pairs.iter().map(|(name, _)| name.as_str()).collect()
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("{word:?}"),
    }
}

/// Secrets tell whether they are equal, but not by `==`.
fn same(ours: &[(String, Secret)], theirs: &[(String, Secret)]) -> bool {
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.0 == b.0 && a.1.is(&b.1))
}
