//! Settings after every decision: typed, complete and unchanging. Knows nothing of options, variables and
//! files; `decide` makes them and the server and the commands read them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::web::{Hosts, Origins, PublicUrl};
use crate::domain::secret::Secret;

#[derive(Debug, Clone)]
pub struct Settings {
    pub listen: SocketAddr,
    /// What the agent card announces; without it, the bound address.
    pub public_url: Option<PublicUrl>,
    /// Includes the host of `public_url`.
    pub allowed_hosts: Hosts,
    /// Includes the origin of `public_url`.
    pub allowed_origins: Origins,
    pub max_connections: usize,
    /// How long running calls may still take once a stop was asked for.
    pub drain: Duration,
    pub reflection: bool,
    pub limits: Limits,
    pub tls: Option<TlsFiles>,
    pub auth: AuthMode,
    pub log: Log,
    pub store: Store,
    pub a2a: A2a,
    pub push_hosts: Hosts,
    /// A script to follow instead of the built-in one.
    pub rehearsal: Option<PathBuf>,
    /// Absolute, and perhaps not there yet.
    pub data_dir: PathBuf,
    /// Canonical, and there when the settings were decided.
    pub workspace: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub body_bytes: usize,
    pub message_bytes: usize,
    pub header_bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, Clone)]
pub enum AuthMode {
    /// Everyone who reaches the address may call; decided for loopback only.
    None,
    /// The generated token, and these keys.
    Token { keys: Vec<NamedKey> },
}

#[derive(Debug, Clone)]
pub struct NamedKey {
    pub name: String,
    pub key: Secret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Store {
    pub durability: Durability,
    /// How long a task is kept after it has ended; none keeps it for ever.
    pub retention: Option<Duration>,
}

/// What an acknowledged event survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The end of the process, in whatever way.
    Process,
    /// The end of the power, at the cost of a disk's wait for every commit.
    Power,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct A2a {
    pub streaming: bool,
    pub push_notifications: bool,
    pub extended_card: bool,
    /// A send that comes again within this time is the same send.
    pub repeat_window: Duration,
    pub extensions: Vec<Extension>,
    /// Besides the one without a name.
    pub tenants: Vec<String>,
}

/// An extension that the card announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    pub uri: String,
    pub description: String,
    pub required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub format: LogFormat,
    /// Known to be readable by `tracing_subscriber::EnvFilter`.
    pub filter: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}
