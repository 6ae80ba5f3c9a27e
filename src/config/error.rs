//! What can be wrong with a configuration, each as one line for the person who wrote it. Does no I/O and knows
//! no setting; every other module of the configuration returns these.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::model::BadModel;

/// Where a value was written, so that an error can say where to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Option(&'static str),
    Set(String),
    Variable(&'static str),
    File(PathBuf),
    /// All layers together, after each has passed on its own.
    Merged,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(name) => f.write_str(name),
            Self::Set(key) => write!(f, "--set {key}"),
            Self::Variable(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Merged => f.write_str("settings"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: {problem}", place(.from, .key))]
    Value { from: Source, key: String, problem: String },
    #[error("{}:{line}:{column}: not valid TOML: {problem}", .file.display())]
    Syntax { file: PathBuf, line: usize, column: usize, problem: String },
    #[error("{from}: the value is not valid UTF-8; write it as plain text")]
    NotUtf8 { from: Source },
    #[error("{from}: `{value}` is not a port; set a number from 0 to 65535")]
    Port { from: Source, value: String },
    #[error("--set: `{given}` is not KEY=VALUE; write for example --set server.drain_seconds=5")]
    SetForm { given: String },
    #[error("cannot read the configuration {} ({error}); mend it or name another file with --config", .path.display())]
    ConfigFile { path: PathBuf, error: io::Error },
    #[error(
        "--auth none is only for loopback; listen on 127.0.0.1 or use --auth token (server.listen is {listen})"
    )]
    OpenToTheNetwork { listen: SocketAddr },
    #[error("{present} is set without {missing}; set both to serve TLS, or neither")]
    HalfTls { present: &'static str, missing: &'static str },
    #[error("workspace: {} is not a readable directory ({error}); name one with --workspace", .path.display())]
    Workspace { path: PathBuf, error: io::Error },
    #[error("agent.root: {} is not a readable directory ({error}); name the one that workspaces lie under", .path.display())]
    Root { path: PathBuf, error: io::Error },
    #[error("data_dir: no home directory is known for a default; name one with --data-dir or AGENA_DATA_DIR")]
    NoDataDir,
    #[error("{key}: `{}` is relative and the current directory is unknown ({error}); write an absolute path", .path.display())]
    CurrentDir { key: &'static str, path: PathBuf, error: io::Error },
    #[error("auth.keys: the name `{name}` is used twice; give each key its own name")]
    DuplicateKey { name: String },
    #[error("auth.keys: `{first}` and `{second}` have the same key; give each its own")]
    SameKey { first: String, second: String },
    #[error("auth.keys: cannot read the key_file of `{name}`, {} ({error}); mend the path or the permissions", .path.display())]
    KeyFile { name: String, path: PathBuf, error: io::Error },
    #[error("auth.keys: the key_file of `{name}`, {}: {problem}", .path.display())]
    KeyFileContent { name: String, path: PathBuf, problem: String },
    #[error("mcp.servers.{name}: the bearer_token_file {} cannot be read ({error}); mend it or name another", .path.display())]
    McpToken { name: String, path: PathBuf, error: io::Error },
    #[error("--token-file: cannot read {} ({error}); mend the path or the permissions", .path.display())]
    TokenFile { path: PathBuf, error: io::Error },
    #[error("the token would go unencrypted to {server}; use https, or a tunnel that ends on this machine")]
    PlainServer { server: String },
    #[error(transparent)]
    Model(#[from] BadModel),
}

/// `--set a.b` names its key already.
fn place(from: &Source, key: &str) -> String {
    match from {
        Source::Set(set) if key.starts_with(set.as_str()) => format!("--set {key}"),
        _ if key.is_empty() => from.to_string(),
        _ => format!("{from}: {key}"),
    }
}

/// Which of the two streams a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// The end of the program before it began: help that was asked for, or a refusal.
#[derive(Debug, PartialEq, Eq)]
pub struct Exit {
    /// Complete, with its last newline.
    pub text: String,
    pub stream: Stream,
    pub code: u8,
}

impl From<clap::Error> for Exit {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        if error.use_stderr() {
            Self { text, stream: Stream::Stderr, code: 2 }
        } else {
            Self { text, stream: Stream::Stdout, code: 0 }
        }
    }
}

impl From<ConfigError> for Exit {
    fn from(error: ConfigError) -> Self {
        // A value that is quoted back may have lines of its own.
        let line = error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
        Self { text: format!("error: {line}\n"), stream: Stream::Stderr, code: 2 }
    }
}
