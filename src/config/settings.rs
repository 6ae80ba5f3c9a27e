//! Settings after every decision: typed, complete and unchanging. Knows nothing of options, variables and
//! files; `decide` makes them and the server and the commands read them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::mcp::Mcp;
use super::model::Model;
use super::web::{Hosts, Origins, PublicUrl};
use crate::domain::quota::Allowance;
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
    pub console: bool,
    pub limits: Limits,
    pub tls: Option<TlsFiles>,
    pub auth: AuthMode,
    pub log: Log,
    pub store: Store,
    pub agent: Agent,
    pub a2a: A2a,
    pub push_hosts: Hosts,
    pub facade: Facade,
    pub model: Model,
    pub mcp: Mcp,
    /// Absolute, and perhaps not there yet.
    pub data_dir: PathBuf,
    /// The files behind these settings that hold keys, or decide who may do what: the settings file, the files of
    /// keys and credentials, the private key of TLS. Absolute, as they were named.
    pub own_files: Vec<PathBuf>,
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
    /// What its holder may ask of models through the facades.
    pub allowance: Allowance,
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

/// How the agent works: where, how much of it unasked, and within which limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Every workspace of a client lies under it. Canonical, and there when the settings were decided.
    pub root: PathBuf,
    pub approval_mode: ApprovalMode,
    /// Clients may ask for yolo.
    pub allow_yolo: bool,
    pub sandbox: Sandbox,
    /// Besides what a confined command may change anyway. Absolute.
    pub writable: Vec<PathBuf>,
    /// Directories whose memory files are believed, besides those of `agena trust`. Absolute.
    pub trusted: Vec<PathBuf>,
    pub rules: Vec<Rule>,
    /// Answers of the model in one turn, at the most.
    pub max_answers: usize,
    /// What the model can hold.
    pub context_tokens: u32,
    /// How long a command may print nothing; none means for ever.
    pub shell_silence: Option<Duration>,
    /// How long a command may take at all; none means for ever.
    pub shell_wall: Option<Duration>,
}

/// How much is done without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    Default,
    AutoEdit,
    Yolo,
    Plan,
}

impl ApprovalMode {
    /// As the file spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AutoEdit => "auto_edit",
            Self::Yolo => "yolo",
            Self::Plan => "plan",
        }
    }
}

/// Whether commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// Or the server does not start.
    On,
    Off,
    /// Where the kernel can.
    Auto,
}

/// One of `[[agent.rules]]`, as it was written: what it means, and whether it holds water, is the agent's to say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with tool and decision")]
pub struct Rule {
    pub tool: String,
    pub command: Option<String>,
    pub path: Option<String>,
    pub decision: Decision,
    pub reason: Option<String>,
    #[serde(default)]
    pub matches: Vec<String>,
    #[serde(default)]
    pub not_matches: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct A2a {
    pub streaming: bool,
    pub push_notifications: bool,
    pub extended_card: bool,
    /// Whether a client must name the development-tool extension.
    pub development_tool_required: bool,
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

/// How the APIs of other vendors are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facade {
    /// Refuses whatever a conversion would change.
    pub strict: bool,
    pub body_bytes: usize,
    /// Whether pictures and documents that a request only names are fetched.
    pub fetch_media: bool,
    /// Hosts that these may come from though they lie inside.
    pub media_hosts: Hosts,
    pub unknown_models: UnknownModels,
    /// How long what an answer needs of the one before it is kept.
    pub keep: Duration,
}

/// What becomes of a name that nobody here knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownModels {
    /// It stands for the default model.
    Default,
    Refuse,
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
