//! The MCP servers of the operator: the table `mcp` of the file, and what is decided of it. Starts and dials nothing; the
//! composition root hands it on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::error::ConfigError;
use super::files::Files;
use super::values::{Bounded, PathText};
use super::web::{Host, Hosts};
use crate::domain::mcp::{Origin, Spec, Way, check_name};
use crate::domain::secret::Secret;
use crate::domain::webhook::{self, BadWebhook};

/// The table, as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(super) struct Raw {
    pub(super) from_clients: Option<bool>,
    pub(super) from_workspaces: Option<bool>,
    pub(super) allow_hosts: Vec<Host>,
    pub(super) servers: BTreeMap<Name, RawServer>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        check_name(&name).map(|()| Self(name))
    }
}

/// One of `[mcp.servers.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct RawServer {
    way: RawWay,
    timeout_seconds: Option<Bounded<1, 86_400>>,
    connect_seconds: Option<Bounded<1, 600>>,
    trust: bool,
    include_tools: Vec<String>,
    exclude_tools: Vec<String>,
    confined: bool,
}

#[derive(Debug)]
enum RawWay {
    Command { program: String, arguments: Vec<String>, environment: Values, directory: Option<PathText> },
    Http { url: String, headers: Values, bearer: Option<Bearer> },
}

#[derive(Debug)]
enum Bearer {
    Inline(Secret),
    File(PathText),
}

/// Values that must not be printed, by name.
type Values = BTreeMap<String, Hidden>;

#[derive(Debug, Deserialize)]
#[serde(from = "String")]
struct Hidden(Secret);

impl From<String> for Hidden {
    fn from(value: String) -> Self {
        Self(Secret::new(value))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with command or url")]
struct Fields {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Values,
    cwd: Option<PathText>,
    url: Option<String>,
    #[serde(default)]
    headers: Values,
    bearer_token: Option<Hidden>,
    bearer_token_file: Option<PathText>,
    timeout_seconds: Option<Bounded<1, 86_400>>,
    connect_seconds: Option<Bounded<1, 600>>,
    #[serde(default)]
    trust: bool,
    #[serde(default)]
    include_tools: Vec<String>,
    #[serde(default)]
    exclude_tools: Vec<String>,
    confined: Option<bool>,
}

impl TryFrom<Fields> for RawServer {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let has_http =
            !fields.headers.is_empty() || fields.bearer_token.is_some() || fields.bearer_token_file.is_some();
        let has_command = !fields.args.is_empty() || !fields.env.is_empty() || fields.cwd.is_some();
        let way = match (fields.command, fields.url) {
            (Some(_), Some(_)) => return Err("it has both command and url; keep one of them".to_owned()),
            (None, None) => return Err("it has neither command nor url; add one of them".to_owned()),
            (Some(_), None) if has_http => {
                return Err("headers and bearer_token are for a url; use env for a command".to_owned());
            }
            (None, Some(_)) if has_command => {
                return Err("args, env and cwd are for a command, not for a url".to_owned());
            }
            (Some(program), None) if program.trim().is_empty() => return Err("command is empty".to_owned()),
            (Some(program), None) => RawWay::Command {
                program,
                arguments: fields.args,
                environment: fields.env,
                directory: fields.cwd,
            },
            (None, Some(url)) => {
                check_url(&url)?;
                let bearer = match (fields.bearer_token, fields.bearer_token_file) {
                    (Some(_), Some(_)) => {
                        return Err("it has both bearer_token and bearer_token_file; keep one".to_owned());
                    }
                    (Some(Hidden(token)), None) => Some(Bearer::Inline(token)),
                    (None, file) => file.map(Bearer::File),
                };
                RawWay::Http { url, headers: fields.headers, bearer }
            }
        };
        Ok(Self {
            way,
            timeout_seconds: fields.timeout_seconds,
            connect_seconds: fields.connect_seconds,
            trust: fields.trust,
            include_tools: fields.include_tools,
            exclude_tools: fields.exclude_tools,
            confined: fields.confined.unwrap_or(true),
        })
    }
}

/// The operator may name what lies inside.
fn check_url(url: &str) -> Result<(), String> {
    match webhook::check(url, &[]) {
        Ok(()) | Err(BadWebhook::Inward) => Ok(()),
        Err(bad) => Err(format!("url: {bad}")),
    }
}

/// What is decided.
#[derive(Debug, Clone)]
pub struct Mcp {
    /// Clients may name servers of their own.
    pub from_clients: bool,
    /// The files of trusted workspaces may.
    pub from_workspaces: bool,
    /// Hosts that lie inside and that they may name.
    pub hosts: Hosts,
    pub servers: Vec<Spec>,
}

pub(super) fn decide(raw: Raw, files: &dyn Files) -> Result<Mcp, ConfigError> {
    let servers = raw.servers.into_iter().map(|(name, server)| decide_server(name.0, server, files));
    Ok(Mcp {
        from_clients: raw.from_clients.unwrap_or(false),
        from_workspaces: raw.from_workspaces.unwrap_or(true),
        hosts: Hosts(raw.allow_hosts),
        servers: servers.collect::<Result<_, _>>()?,
    })
}

fn decide_server(name: String, raw: RawServer, files: &dyn Files) -> Result<Spec, ConfigError> {
    let values = |values: Values| values.into_iter().map(|(name, Hidden(value))| (name, value)).collect();
    let way = match raw.way {
        RawWay::Command { program, arguments, environment, directory } => Way::Command {
            program,
            arguments,
            environment: values(environment),
            directory: directory
                .map(|path| super::decide::absolute("mcp.servers", path.0, files))
                .transpose()?,
        },
        RawWay::Http { url, headers, bearer } => Way::Http {
            url,
            headers: values(headers),
            bearer: match bearer {
                None => None,
                Some(Bearer::Inline(token)) => Some(token),
                Some(Bearer::File(PathText(path))) => {
                    let read = files.read(&path);
                    let text =
                        read.map_err(|error| ConfigError::McpToken { name: name.clone(), path, error })?;
                    Some(Secret::new(text.trim()))
                }
            },
        },
    };
    let seconds = |given: u32| Duration::from_secs(given.into());
    Ok(Spec {
        name,
        origin: Origin::Settings,
        way,
        call: raw.timeout_seconds.map_or(Spec::CALL, |given| seconds(given.get())),
        connect: raw.connect_seconds.map_or(Spec::CONNECT, |given| seconds(given.get())),
        trusted: raw.trust,
        include: raw.include_tools,
        exclude: raw.exclude_tools,
        confined: raw.confined,
    })
}

/// The files that hold tokens.
pub(super) fn own_files(raw: &Raw) -> impl Iterator<Item = (&'static str, PathBuf)> {
    raw.servers.values().filter_map(|server| match &server.way {
        RawWay::Http { bearer: Some(Bearer::File(path)), .. } => Some(("mcp.servers", path.0.clone())),
        _ => None,
    })
}

impl Mcp {
    /// Whether nothing has changed.
    pub(super) fn is(&self, other: &Self) -> bool {
        let same = |(a, b): (&Spec, &Spec)| a.is(b);
        (self.from_clients, self.from_workspaces) == (other.from_clients, other.from_workspaces)
            && self.hosts == other.hosts
            && self.servers.len() == other.servers.len()
            && self.servers.iter().zip(&other.servers).all(same)
    }
}
