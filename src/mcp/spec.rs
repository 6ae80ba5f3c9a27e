//! What of a server is for `mcp` alone: what those may name who are not the operator, what tells servers apart, and which
//! tools are wanted. Pure; an error says what is wrong in words that fit behind the name of the field.

use sha2::{Digest, Sha256};

use crate::domain::mcp::{Origin, Spec, Way, check_name};
use crate::domain::secret::Secret;
use crate::domain::webhook;
use crate::proto::devtool::McpServer;

/// Of everything that a client or a workspace says about one server.
const LONGEST: usize = 32 * 1024;
/// Bytes that tell ways apart.
const MARK: usize = 8;
/// Variables by which programs load code that nobody named.
const LOADERS: &[&str] = &["LD_", "DYLD_"];

impl Way {
    /// Another one for whatever else is started or dialled.
    pub(super) fn mark(&self) -> String {
        let parts = match self {
            Self::Command { program, arguments, environment, directory } => {
                let set = environment.iter().map(|(name, value)| format!("{name}={}", value.expose()));
                let directory = directory.as_ref().map(|path| path.display().to_string());
                serde_json::json!([program, arguments, set.collect::<Vec<_>>(), directory])
            }
            Self::Http { url, .. } => serde_json::json!([url]),
        };
        let digest = Sha256::digest(parts.to_string().as_bytes());
        digest.iter().take(MARK).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Spec {
    /// What a client names is never trusted and always confined.
    pub(super) fn of_client(named: &McpServer, allowed: &[String]) -> Result<Self, String> {
        check_name(&named.name)?;
        let secret = |(name, value): (&String, &String)| (name.clone(), Secret::new(value.clone()));
        let way = match (named.command.as_str(), named.url.as_str()) {
            ("", "") => return Err(format!("`{}` has neither command nor url; add one", named.name)),
            (_, "") => Way::Command {
                program: named.command.clone(),
                arguments: named.arguments.clone(),
                environment: named.environment.iter().map(secret).collect(),
                directory: None,
            },
            ("", url) => Way::Http {
                url: url.to_owned(),
                headers: named.headers.iter().map(secret).collect(),
                bearer: None,
            },
            _ => return Err(format!("`{}` has both command and url; keep one", named.name)),
        };
        Self::foreign(named.name.clone(), Origin::Client, way, allowed)
    }

    /// Of somebody who is not the operator: bounded, and only addresses that lie outside or are allowed.
    pub(super) fn foreign(
        name: String,
        origin: Origin,
        way: Way,
        allowed: &[String],
    ) -> Result<Self, String> {
        check_name(&name)?;
        let size: usize = match &way {
            Way::Command { program, arguments, environment, .. } => {
                let loads = |variable: &str| LOADERS.iter().any(|prefix| variable.starts_with(prefix));
                if let Some((variable, _)) = environment.iter().find(|(variable, _)| loads(variable)) {
                    return Err(format!(
                        "`{name}`: the variable {variable} is for the operator alone to set"
                    ));
                }
                let pairs = environment.iter().map(|(name, value)| name.len() + value.expose().len());
                program.len() + arguments.iter().map(String::len).sum::<usize>() + pairs.sum::<usize>()
            }
            Way::Http { url, headers, .. } => {
                webhook::check(url, allowed).map_err(|bad| format!("`{name}`: url: {bad}"))?;
                url.len() + headers.iter().map(|(n, value)| n.len() + value.expose().len()).sum::<usize>()
            }
        };
        if size > LONGEST {
            return Err(format!("`{name}` takes more than {LONGEST} bytes to describe"));
        }
        Ok(Self {
            name,
            origin,
            way,
            connect: Self::CONNECT,
            call: Self::CALL,
            trusted: false,
            include: Vec::new(),
            exclude: Vec::new(),
            confined: true,
        })
    }

    /// Whether a tool of the server is wanted. What is excluded is out even if it is included; `name(` counts as `name`.
    pub(super) fn wants(&self, tool: &str) -> bool {
        let listed = |names: &[String]| names.iter().any(|n| n.split('(').next() == Some(tool));
        !listed(&self.exclude) && (self.include.is_empty() || listed(&self.include))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(command: &str, url: &str) -> McpServer {
        McpServer {
            name: "hub".to_owned(),
            command: command.to_owned(),
            url: url.to_owned(),
            ..McpServer::default()
        }
    }

    #[test]
    fn what_a_client_names_is_checked_and_never_trusted() {
        let spec = Spec::of_client(&named("node", ""), &[]).unwrap();
        assert!(!spec.trusted && spec.confined && spec.origin == Origin::Client);
        assert!(Spec::of_client(&named("", "https://example.com/mcp"), &[]).is_ok());
        for (bad, word) in [
            (named("", ""), "neither"),
            (named("a", "https://b.example"), "both"),
            (named("", "http://127.0.0.1:1/mcp"), "url"),
            (named("", "ftp://example.com"), "url"),
            (McpServer { name: "a_b".to_owned(), ..named("a", "") }, "no name"),
            (
                McpServer { environment: [("LD_PRELOAD".into(), "/x.so".into())].into(), ..named("a", "") },
                "LD_PRELOAD",
            ),
            (McpServer { arguments: vec!["x".repeat(LONGEST + 1)], ..named("a", "") }, "bytes"),
        ] {
            let problem = Spec::of_client(&bad, &[]).unwrap_err();
            assert!(problem.contains(word), "{problem}");
        }
        assert!(Spec::of_client(&named("", "http://127.0.0.1:1/mcp"), &["127.0.0.1".to_owned()]).is_ok());
    }

    #[test]
    fn excluded_is_out_and_secrets_are_not_in_words() {
        let mut spec = Spec::of_client(&named("node", ""), &[]).unwrap();
        assert!(spec.wants("a"));
        (spec.include, spec.exclude) = (vec!["a(".to_owned(), "b".to_owned()], vec!["b".to_owned()]);
        assert!(spec.wants("a") && !spec.wants("b") && !spec.wants("c"));
        let way = Way::Http {
            url: "https://example.com/mcp?key=s3cret".to_owned(),
            headers: vec![("x-key".to_owned(), Secret::new("s3cret"))],
            bearer: Some(Secret::new("s3cret")),
        };
        assert!(!format!("{way:?}").replace("?key=s3cret", "").contains("s3cret"));
        assert_eq!((way.words().as_str(), way.extras()), ("https://example.com/mcp", vec!["x-key"]));
        assert_eq!((way.brief().as_str(), spec.way.brief().as_str()), ("example.com", "node"));
        let other =
            Spec::of_client(&McpServer { arguments: vec!["x".into()], ..named("node", "") }, &[]).unwrap();
        assert!(spec.way.mark() != other.way.mark() && spec.way.mark() == spec.clone().way.mark());
    }
}
