//! The one place where settings are decided: defaults, rules that span keys, and questions to the disk, which
//! it asks through `Files`. Knows no option, variable or layer; `config::parse` calls it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::World;
use super::error::ConfigError;
use super::files::Files;
use super::mcp;
use super::model;
use super::raw::{self, KeyOrigin, Mode, Raw};
use super::settings::{
    A2a, Agent, ApprovalMode, AuthMode, Durability, Extension, Facade, Limits, Log, LogFormat, NamedKey,
    Sandbox, Settings, Store, TlsFiles, UnknownModels,
};
use super::values::{Bounded, PathText, check_key};
use super::web::{Hosts, Origins};
use crate::domain::quota::Allowance;
use crate::domain::secret::Secret;

const PORT: u16 = 41242;
const MAX_CONNECTIONS: usize = 10_000;
const DRAIN_SECONDS: u64 = 30;
const BODY_BYTES: usize = 4 * 1024 * 1024;
const MESSAGE_BYTES: usize = 4 * 1024 * 1024;
const HEADER_BYTES: usize = 64 * 1024;
const RETENTION_DAYS: u64 = 30;
const REPEAT_SECONDS: u64 = 300;
/// 20 MB of media in base64, and room for the rest.
const FACADE_BODY_BYTES: usize = 32 * 1024 * 1024;
const KEEP_DAYS: u64 = 30;
const FILTER: &str = "info";
const MAX_ANSWERS: usize = 100;
const CONTEXT_TOKENS: u32 = 1_048_576;
const SHELL_SILENCE_SECONDS: u32 = 300;
const SHELL_WALL_SECONDS: u32 = 3600;

/// Where some things were written.
pub(super) struct Written {
    pub(super) file: Option<PathBuf>,
    pub(super) model: model::Written,
}

pub(super) fn decide(raw: Raw, written: Written, world: &World) -> Result<Settings, ConfigError> {
    let files = world.files;
    let mut own_files = own_files(&raw, written.file, files)?;
    let model = model::decide(raw.model, &written.model, world)?;
    own_files.extend(model.backends.iter().flat_map(|backend| backend.files().cloned()));
    let server = raw.server;
    let listen = server.listen.map_or(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)), |listen| listen.0);
    let workspace = workspace(raw.workspace, files)?;
    let mut hosts = server.allowed_hosts;
    // Who announces a name must also answer to it.
    hosts.extend(server.public_url.as_ref().map(|url| url.host().clone()));
    // Behind a proxy that rewrites Host, its own pages would be foreign otherwise.
    let mut origins = server.allowed_origins;
    origins.extend(server.public_url.as_ref().map(|url| url.origin().clone()));
    Ok(Settings {
        listen,
        public_url: server.public_url,
        allowed_hosts: Hosts(hosts),
        allowed_origins: Origins(origins),
        max_connections: number(server.max_connections, MAX_CONNECTIONS),
        drain: Duration::from_secs(
            server.drain_seconds.map_or(DRAIN_SECONDS, |seconds| seconds.get().into()),
        ),
        reflection: server.reflection.unwrap_or(true),
        console: server.console.unwrap_or(true),
        limits: limits(&raw.limits),
        tls: tls(raw.tls, files)?,
        auth: auth(raw.auth, listen, files)?,
        log: log(raw.log),
        store: store(&raw.store),
        agent: agent(raw.agent, &workspace, files)?,
        a2a: a2a(raw.a2a),
        push_hosts: Hosts(raw.push.allow_hosts),
        facade: facade(raw.facade),
        model,
        mcp: mcp::decide(raw.mcp, files)?,
        data_dir: data_dir(raw.data_dir, files)?,
        own_files,
        workspace,
    })
}

fn number<const MIN: u32, const MAX: u32>(given: Option<Bounded<MIN, MAX>>, default: usize) -> usize {
    given.map_or(default, |number| number.get() as usize)
}

fn limits(raw: &raw::Limits) -> Limits {
    Limits {
        body_bytes: number(raw.body_bytes, BODY_BYTES),
        message_bytes: number(raw.message_bytes, MESSAGE_BYTES),
        header_bytes: number(raw.header_bytes, HEADER_BYTES),
    }
}

fn log(raw: raw::Log) -> Log {
    Log {
        format: raw.format.unwrap_or(LogFormat::Text),
        filter: raw.filter.map_or_else(|| FILTER.to_owned(), |filter| filter.0),
    }
}

fn store(raw: &raw::Store) -> Store {
    let days = raw.retention_days.map_or(RETENTION_DAYS, |days| days.get().into());
    Store {
        durability: raw.durability.unwrap_or(Durability::Process),
        retention: (days > 0).then(|| Duration::from_hours(24 * days)),
    }
}

fn agent(raw: raw::Agent, workspace: &Path, files: &dyn Files) -> Result<Agent, ConfigError> {
    let paths = |key, paths: Vec<PathText>| -> Result<Vec<PathBuf>, ConfigError> {
        paths.into_iter().map(|path| absolute(key, path.0, files)).collect()
    };
    let approval_mode = raw.approval_mode.unwrap_or(ApprovalMode::Default);
    Ok(Agent {
        root: root(raw.root, workspace, files)?,
        approval_mode,
        // Who asks for nothing anyway has nothing to keep from clients that ask for just that.
        allow_yolo: raw.allow_yolo.unwrap_or(false) || approval_mode == ApprovalMode::Yolo,
        sandbox: raw.sandbox.unwrap_or(Sandbox::Auto),
        writable: paths("agent.writable", raw.writable)?,
        trusted: paths("agent.trusted", raw.trusted)?,
        rules: raw.rules,
        max_answers: number(raw.max_answers, MAX_ANSWERS),
        context_tokens: raw.context_tokens.map_or(CONTEXT_TOKENS, Bounded::get),
        shell_silence: patience(raw.shell_silence_seconds, SHELL_SILENCE_SECONDS),
        shell_wall: patience(raw.shell_wall_seconds, SHELL_WALL_SECONDS),
    })
}

fn root(raw: Option<PathText>, workspace: &Path, files: &dyn Files) -> Result<PathBuf, ConfigError> {
    let Some(PathText(path)) = raw else { return Ok(workspace.to_owned()) };
    files.directory(&path).map_err(|error| ConfigError::Root { path, error })
}

fn patience(given: Option<raw::Patience>, default: u32) -> Option<Duration> {
    let seconds = given.map_or(default, Bounded::get);
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

fn a2a(raw: raw::A2a) -> A2a {
    let extension =
        |e: raw::Extension| Extension { uri: e.uri, description: e.description, required: e.required };
    A2a {
        streaming: raw.streaming.unwrap_or(true),
        push_notifications: raw.push_notifications.unwrap_or(true),
        extended_card: raw.extended_card.unwrap_or(true),
        development_tool_required: raw.development_tool_required.unwrap_or(false),
        repeat_window: Duration::from_secs(raw.repeat_seconds.map_or(REPEAT_SECONDS, |s| s.get().into())),
        extensions: raw.extensions.into_iter().map(extension).collect(),
        tenants: raw.tenants.into_iter().map(|tenant| tenant.0).collect(),
    }
}

fn facade(raw: raw::Facade) -> Facade {
    let days = raw.keep_days.map_or(KEEP_DAYS, |days| days.get().into());
    Facade {
        strict: raw.strict.unwrap_or(false),
        body_bytes: number(raw.body_bytes, FACADE_BODY_BYTES),
        fetch_media: raw.fetch_media.unwrap_or(true),
        media_hosts: Hosts(raw.media_hosts),
        unknown_models: raw.unknown_models.unwrap_or(UnknownModels::Default),
        keep: Duration::from_hours(24 * days),
    }
}

fn tls(raw: raw::Tls, files: &dyn Files) -> Result<Option<TlsFiles>, ConfigError> {
    match (raw.cert, raw.key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(TlsFiles {
            cert: absolute("tls.cert", cert.0, files)?,
            key: absolute("tls.key", key.0, files)?,
        })),
        (Some(_), None) => Err(ConfigError::HalfTls { present: "tls.cert", missing: "tls.key" }),
        (None, Some(_)) => Err(ConfigError::HalfTls { present: "tls.key", missing: "tls.cert" }),
    }
}

fn auth(raw: raw::Auth, listen: SocketAddr, files: &dyn Files) -> Result<AuthMode, ConfigError> {
    match raw.mode.unwrap_or(Mode::Token) {
        Mode::None if listen.ip().to_canonical().is_loopback() => Ok(AuthMode::None),
        Mode::None => Err(ConfigError::OpenToTheNetwork { listen }),
        Mode::Token => Ok(AuthMode::Token { keys: keys(raw.keys, files)? }),
    }
}

fn keys(raw: Vec<raw::Key>, files: &dyn Files) -> Result<Vec<NamedKey>, ConfigError> {
    let mut keys: Vec<NamedKey> = Vec::with_capacity(raw.len());
    for raw::Key { name, origin, models, requests_per_minute, tokens_per_minute } in raw {
        let name = name.0;
        let allowance = Allowance {
            models: models.into_iter().map(|model| model.0).collect(),
            requests: requests_per_minute.map(Bounded::get),
            tokens: tokens_per_minute.map(Bounded::get),
        };
        if keys.iter().any(|key| key.name == name) {
            return Err(ConfigError::DuplicateKey { name });
        }
        let key = match origin {
            KeyOrigin::Inline(key) => key,
            KeyOrigin::File(path) => key_from_file(&name, path.0, files)?,
        };
        // One of the two would never be seen, and its tasks would be the other's.
        if let Some(same) = keys.iter().find(|other| other.key.is(&key)) {
            return Err(ConfigError::SameKey { first: same.name.clone(), second: name });
        }
        keys.push(NamedKey { name, key, allowance });
    }
    Ok(keys)
}

fn key_from_file(name: &str, path: PathBuf, files: &dyn Files) -> Result<Secret, ConfigError> {
    let name = name.to_owned();
    let text = match files.read(&path) {
        Ok(text) => text,
        Err(error) => return Err(ConfigError::KeyFile { name, path, error }),
    };
    // Most editors end a file with a newline that is no part of the key.
    check_key(text.trim_end().to_owned()).map_err(|problem| ConfigError::KeyFileContent {
        name,
        path,
        problem,
    })
}

/// Also those of keys that are not asked for now: they are secrets all the same.
fn own_files(raw: &Raw, file: Option<PathBuf>, files: &dyn Files) -> Result<Vec<PathBuf>, ConfigError> {
    let key_file = |key: &raw::Key| match &key.origin {
        KeyOrigin::File(path) => Some(("auth.keys", path.0.clone())),
        KeyOrigin::Inline(_) => None,
    };
    let settings = file.map(|path| ("--config", path));
    let tls = raw.tls.key.as_ref().map(|path| ("tls.key", path.0.clone()));
    let keys = raw.auth.keys.iter().filter_map(key_file).chain(mcp::own_files(&raw.mcp));
    let all = settings.into_iter().chain(keys).chain(tls);
    all.map(|(key, path)| absolute(key, path, files)).collect()
}

fn data_dir(raw: Option<PathText>, files: &dyn Files) -> Result<PathBuf, ConfigError> {
    match raw {
        Some(path) => absolute("data_dir", path.0, files),
        None => files.default_data_dir().ok_or(ConfigError::NoDataDir),
    }
}

fn workspace(raw: Option<PathText>, files: &dyn Files) -> Result<PathBuf, ConfigError> {
    let path = raw.map_or_else(|| Path::new(".").to_owned(), |path| path.0);
    files.directory(&path).map_err(|error| ConfigError::Workspace { path, error })
}

/// Settings outlive any change of the current directory.
pub(super) fn absolute(key: &'static str, path: PathBuf, files: &dyn Files) -> Result<PathBuf, ConfigError> {
    if path.is_absolute() {
        return Ok(path);
    }
    match files.current_dir() {
        Ok(current) => Ok(current.join(path)),
        Err(error) => Err(ConfigError::CurrentDir { key, path, error }),
    }
}
