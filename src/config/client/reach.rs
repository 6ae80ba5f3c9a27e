//! From arguments and environment to a decided client: the address, the token, what holds in the work. Asks the disk
//! through `Files` only. `config::parse` calls it.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use http::Uri;
use http::uri::Scheme;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};

use super::super::World;
use super::super::decide::absolute;
use super::super::env;
use super::super::error::{ConfigError, Source};
use super::super::settings::{ApprovalMode, Settings};
use super::super::values::visible;
use super::super::web::{Host, host_and_port};
use super::args::{Parts, WorkArgs};
use super::{Ask, Client, Color, Work};
use crate::domain::secret::Secret;

const SERVER: &str = "AGENA_SERVER";
const TOKEN: &str = "AGENA_TOKEN";
const NO_COLOR: &str = "NO_COLOR";

/// The address of a server: `http(s)://host[:port]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    encrypted: bool,
    host: Host,
}

impl Url {
    /// What was typed; without a scheme it is plain HTTP, as the banner prints the address for gRPC.
    fn read(text: &str) -> Option<Self> {
        let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = full.trim_end_matches('/').parse().ok()?;
        let encrypted = *uri.scheme()? == Scheme::HTTPS;
        let (host, _) = host_and_port(uri.authority()?)?;
        let bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        let web = encrypted || *uri.scheme()? == Scheme::HTTP;
        let text = format!("{}://{}", uri.scheme_str()?, uri.authority()?);
        (bare && web).then_some(Self { text, encrypted, host })
    }

    /// Where a server with these settings is found from this machine. None if only the system knows its port.
    fn of(settings: &Settings) -> Option<Self> {
        let address = match settings.listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let scheme = if settings.tls.is_some() { "https" } else { "http" };
        let address = SocketAddr::new(address, settings.listen.port());
        Self::read(&format!("{scheme}://{address}")).filter(|_| address.port() != 0)
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Whether it is this machine, so that the token of its user is for it.
    pub fn is_here(&self) -> bool {
        let host = self.host.as_str().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    }
}

/// What `parts` come to beside the settings of the server.
pub(in crate::config) fn decide(
    mut parts: Parts,
    settings: &Settings,
    world: &World,
) -> Result<(Client, Ask), ConfigError> {
    let (named, from) = match &parts.reach.server {
        Some(given) => (Some(utf8("--server", given)?.to_owned()), Source::Option("--server")),
        None => (env::read(world.env, SERVER)?, Source::Variable(SERVER)),
    };
    let named = named.map(|text| url(from, &text)).transpose()?.filter(|_| !parts.reach.local);
    let token = token(parts.reach.token_file.take(), world)?;
    if let Some(server) = named.as_ref().filter(|server| token.is_some() && !safe(server)) {
        return Err(ConfigError::PlainServer { server: server.as_str().to_owned() });
    }
    let work = |work: Work, given: &WorkArgs| holds(work, given, world);
    let ask = match parts.ask {
        Ask::Chat(mut chat) => {
            chat.work = work(chat.work, &parts.work)?;
            Ask::Chat(chat)
        }
        Ask::Commands { work: old, json } => Ask::Commands { work: work(old, &parts.work)?, json },
        Ask::Run { line, work: old, approve, json } => {
            Ask::Run { line, work: work(old, &parts.work)?, approve, json }
        }
        ask => ask,
    };
    let client = Client {
        named: named.is_some(),
        server: named.or_else(|| Url::of(settings)),
        start: parts.start,
        token,
        ca: parts.reach.ca.take(),
        color: color(parts.reach.color.unwrap_or_default(), world),
    };
    Ok((client, ask))
}

/// A token goes in the open only where nobody else listens.
fn safe(server: &Url) -> bool {
    server.is_encrypted() || server.is_here()
}

fn url(from: Source, text: &str) -> Result<Url, ConfigError> {
    Url::read(text).ok_or_else(|| ConfigError::Value {
        from,
        key: String::new(),
        problem: format!(
            "`{text}` is not the address of a server; write http(s)://host[:port], for example https://agena.example"
        ),
    })
}

fn token(file: Option<PathBuf>, world: &World) -> Result<Option<Secret>, ConfigError> {
    let (from, text) = match file {
        Some(path) => match world.files.read(&path) {
            Ok(text) => (Source::Option("--token-file"), Some(text)),
            Err(error) => return Err(ConfigError::TokenFile { path, error }),
        },
        None => (Source::Variable(TOKEN), env::read(world.env, TOKEN)?),
    };
    let Some(text) = text else { return Ok(None) };
    match visible(text.trim()) {
        Ok(()) if text.trim().is_empty() => {
            Err(ConfigError::Value { from, key: String::new(), problem: "the token is empty".to_owned() })
        }
        Ok(()) => Ok(Some(Secret::new(text.trim()))),
        Err(problem) => Err(ConfigError::Value { from, key: String::new(), problem }),
    }
}

/// What was asked for wins over what the user wants everywhere.
fn color(asked: Color, world: &World) -> Color {
    let unwanted = world.env.get(NO_COLOR).is_some_and(|value| !value.is_empty());
    if asked == Color::Auto && unwanted { Color::Never } else { asked }
}

fn holds(work: Work, given: &WorkArgs, world: &World) -> Result<Work, ConfigError> {
    let text = |option, given: &Option<OsString>| match given {
        None => Ok(None),
        Some(given) => utf8(option, given).map(|text| Some(text.to_owned())),
    };
    let workspace = text("--workspace", &given.workspace)?
        .map(|path| absolute("workspace", Path::new(&path).to_owned(), world.files))
        .transpose()?;
    let approval_mode = text("--approval-mode", &given.approval_mode)?.map(|word| mode(&word)).transpose()?;
    Ok(Work { workspace, approval_mode, model: text("--model", &given.model)?, ..work })
}

/// Read as the settings read it.
fn mode(word: &str) -> Result<ApprovalMode, ConfigError> {
    let reader: StrDeserializer<'_, ValueError> = word.into_deserializer();
    ApprovalMode::deserialize(reader).map_err(|error| ConfigError::Value {
        from: Source::Option("--approval-mode"),
        key: String::new(),
        problem: error.to_string(),
    })
}

fn utf8<'a>(option: &'static str, given: &'a OsStr) -> Result<&'a str, ConfigError> {
    given.to_str().ok_or(ConfigError::NotUtf8 { from: Source::Option(option) })
}
