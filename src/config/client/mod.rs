//! What the commands of the terminal client were asked for: which server, with which token, and what to do there. Decided
//! once, like the settings of the server, and from the same sources. Does not know how a server is talked to; `cli` does.

pub(super) mod args;
mod reach;

use std::path::PathBuf;

use clap::ValueEnum;

use super::settings::ApprovalMode;
use crate::domain::secret::Secret;

pub use self::reach::Url;
pub(super) use self::reach::decide;

/// How a server is reached, and how things are shown.
#[derive(Debug, Clone)]
pub struct Client {
    /// None if nobody can know the port of the local server.
    pub server: Option<Url>,
    /// Somebody said where the server is, so no other one will do.
    pub named: bool,
    pub start: Start,
    /// What was given; without one, a server of this machine gets the local token.
    pub token: Option<Secret>,
    /// Certificates to trust instead of those of the system.
    pub ca: Option<PathBuf>,
    pub color: Color,
}

/// Whether a server is started for the length of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Never,
    /// If none is there and none was named.
    IfNone,
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    Always,
    Never,
}

/// What to do there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    Chat(Chat),
    Tasks { context: Option<String>, all: bool, json: bool },
    Watch { task: Option<String>, approve: Approve, json: bool },
    Cancel { task: String },
    Rules { context: Option<String>, json: bool },
    Revoke { rule: String, context: Option<String> },
    Commands { work: Work, json: bool },
    Run { line: String, work: Work, approve: Approve, json: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    /// None talks.
    pub prompt: Option<Prompt>,
    pub work: Work,
    pub approve: Approve,
    pub json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    Text(String),
    /// All of standard input.
    Stdin,
}

/// In which conversation, and what holds in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Work {
    pub context: Context,
    /// Absolute, as the server would find it.
    pub workspace: Option<PathBuf>,
    pub approval_mode: Option<ApprovalMode>,
    pub model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Context {
    #[default]
    New,
    /// The one in which something happened last.
    Last,
    Id(String),
}

/// What is answered when the agent asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Approve {
    /// The user says; without a terminal nobody does, and the command ends.
    #[default]
    Ask,
    /// Whatever is asked for is allowed, each time once. Questions stay unanswered.
    Once,
    /// Whatever is asked for is refused, and the agent goes on.
    Never,
}
