//! The environment as layers. Knows which variable writes which key; does not know what a value may be, which
//! is the schema's to say. `config::parse` calls it.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, SocketAddr};

use super::error::{ConfigError, Source};
use super::layers::Layer;

/// The environment, as far as settings need it: a trait, so that tests need not touch the real one.
pub trait Env {
    /// The value as it stands, because only the reader of a variable can name it when it is not UTF-8.
    fn get(&self, name: &str) -> Option<OsString>;
}

/// The environment of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessEnv;

impl Env for ProcessEnv {
    fn get(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}

impl<K: Borrow<str> + Ord, V: AsRef<OsStr>> Env for BTreeMap<K, V> {
    fn get(&self, name: &str) -> Option<OsString> {
        BTreeMap::get(self, name).map(|value| value.as_ref().to_os_string())
    }
}

/// Names the file to read; not a key itself.
pub(super) const CONFIG: &str = "AGENA_CONFIG";

const PORT: &str = "CODER_AGENT_PORT";
const DEBUG: &str = "DEBUG";
const DEBUG_FILTER: &str = "info,agena=debug";

/// Each variable that is one key under another name.
pub(super) const VARIABLES: [(&str, &str); 12] = [
    ("AGENA_LISTEN", "server.listen"),
    ("AGENA_DATA_DIR", "data_dir"),
    ("AGENA_WORKSPACE", "workspace"),
    ("AGENA_AUTH", "auth.mode"),
    ("AGENA_LOG_FORMAT", "log.format"),
    ("AGENA_PUBLIC_URL", "server.public_url"),
    ("AGENA_MODEL", "model.name"),
    ("AGENA_REHEARSAL", "model.rehearsal"),
    ("AGENA_RECORD", "model.record"),
    ("AGENA_APPROVAL_MODE", "agent.approval_mode"),
    ("AGENA_SANDBOX", "agent.sandbox"),
    ("RUST_LOG", "log.filter"),
];

/// Those of other tools that say the same, weakest first.
pub(super) const HINTS: [(&str, &str); 2] = [("GEMINI_MODEL", "model.name"), ("DEFAULT_MODEL", "model.name")];

/// The layers of the environment, weakest first: the general hints yield to the variables that say the same
/// thing exactly.
pub(super) fn layers(env: &dyn Env) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = Vec::new();
    layers.extend(port(env)?);
    layers.extend(debug(env));
    for (name, key) in HINTS.into_iter().chain(VARIABLES) {
        if let Some(value) = read(env, name)? {
            layers.push(Layer::single(Source::Variable(name), key, value.into()));
        }
    }
    Ok(layers)
}

/// A variable's text. An empty one counts as unset, as `NAME= command` is the common way to unset it.
pub(super) fn read(env: &dyn Env, name: &'static str) -> Result<Option<String>, ConfigError> {
    match env.get(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value).filter(|value| !value.is_empty())),
        Some(Err(_)) => Err(ConfigError::NotUtf8 { from: Source::Variable(name) }),
    }
}

/// A port alone says nothing about being reachable from elsewhere, so it stays on loopback.
fn port(env: &dyn Env) -> Result<Option<Layer>, ConfigError> {
    let Some(value) = read(env, PORT)? else { return Ok(None) };
    let from = Source::Variable(PORT);
    match value.parse::<u16>() {
        Ok(port) => {
            let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, port)).to_string();
            Ok(Some(Layer::single(from, "server.listen", listen.into())))
        }
        Err(_) => Err(ConfigError::Port { from, value }),
    }
}

/// `DEBUG` belongs to many programs: what is not plainly on is not ours to refuse.
fn debug(env: &dyn Env) -> Option<Layer> {
    let on = matches!(env.get(DEBUG).as_deref().and_then(OsStr::to_str), Some("1" | "true"));
    on.then(|| Layer::single(Source::Variable(DEBUG), "log.filter", DEBUG_FILTER.into()))
}
