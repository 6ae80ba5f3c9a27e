//! Opens workspaces for clients: under the configured root, with the tools that were asked for. Made once by the
//! composition root, from settings that it has decided.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::asks::Asks;
use super::background::Background;
use super::shape::Place;
use super::toolbox::{Tools, every_tool};
use super::web::{Web, WebError, WebOptions};
use crate::domain::mcp::{CONNECT, LIST, READ};
use crate::domain::tool::{BadSettings, RESTORE, Toolbox, Workshop};
use crate::proto::devtool::AgentSettings;
use crate::sandbox::environment::environment;
use crate::sandbox::landlock::Confinement;
use crate::sandbox::process::Launcher;
use crate::sandbox::{Root, Trusted};

/// Directories for what is thrown away.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];
/// Where a home directory keeps what proves who somebody is.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".gemini",
    ".password-store",
    ".config/gcloud",
    ".config/gh",
    ".config/agena",
    ".local/share/agena",
    ".local/share/keyrings",
    ".cargo/credentials.toml",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
];
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh"];
/// Tools of MCP servers are not known here; whoever brings them decides about them.
const OF_MCP: &str = "mcp_";
const ABOUT_MCP: [&str; 3] = [LIST, READ, CONNECT];

/// How long a command may take; none means for ever.
#[derive(Debug, Clone)]
pub struct ShellLimits {
    /// Without printing anything.
    pub silence: Option<Duration>,
    pub wall: Option<Duration>,
    /// Takes `-c` and a command.
    pub program: PathBuf,
}

impl Default for ShellLimits {
    fn default() -> Self {
        let found = SHELLS.iter().map(PathBuf::from).find(|shell| shell.exists());
        Self {
            silence: Some(Duration::from_mins(5)),
            wall: Some(Duration::from_hours(1)),
            program: found.unwrap_or_else(|| PathBuf::from("/bin/sh")),
        }
    }
}

/// What the composition root decides.
#[derive(Debug, Clone)]
pub struct Options {
    /// Every workspace lies under it.
    pub root: PathBuf,
    /// For clients that name none. An absolute path under the root.
    pub default_workspace: Option<PathBuf>,
    /// Confine commands with Landlock and without new privileges.
    pub sandbox: bool,
    /// Besides workspace and temporary directories, what a confined command may change: caches, for example.
    pub writable: Vec<PathBuf>,
    /// The server's own files and directories: never in a workspace, and not even read by a confined command, which
    /// does not see the usual places of keys either.
    pub hidden: Vec<PathBuf>,
    /// Directories whose GEMINI.md and AGENTS.md are believed, with all that lies below them.
    pub trusted: Vec<PathBuf>,
    pub shell: ShellLimits,
    /// The agena binary, which becomes the supervisor of each command: `sandbox::process::own_binary`.
    pub helper: PathBuf,
    /// The variables of the server. What a command gets is chosen from them.
    pub environment: Vec<(OsString, OsString)>,
    pub web: WebOptions,
    /// A directory of commands that are there in every workspace.
    pub commands: Option<PathBuf>,
    /// A model for the tools that ask one. Those that need it are there only if it can look things up.
    pub asks: Option<Asks>,
}

impl Options {
    /// What is sensible below a root.
    pub fn new(root: PathBuf, helper: PathBuf) -> Self {
        Self {
            root,
            default_workspace: None,
            sandbox: true,
            writable: Vec::new(),
            hidden: Vec::new(),
            trusted: Vec::new(),
            shell: ShellLimits::default(),
            helper,
            environment: std::env::vars_os().collect(),
            web: WebOptions::default(),
            commands: None,
            asks: None,
        }
    }
}

/// Why there can be no workspaces.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the root of workspaces {path} cannot be opened: {error}")]
    Root { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Web(#[from] WebError),
}

/// For every workspace; each adds itself to what may be written.
fn confinement(
    environment: &[(OsString, OsString)],
    writable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
) -> Confinement {
    let value =
        |name: &str| environment.iter().find(|(n, _)| n == name).map(|(_, value)| PathBuf::from(value));
    let secrets = value("HOME").into_iter().flat_map(|home| SECRETS.iter().map(move |name| home.join(name)));
    Confinement {
        write: TEMPORARY.iter().map(PathBuf::from).chain(value("TMPDIR")).chain(writable).collect(),
        hide: secrets.chain(hidden).collect(),
    }
}

/// As they really are, because that is how workspaces are known. What does not exist stands for nothing.
fn real(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
}

/// Where workspaces are opened.
pub struct Bench {
    root: Arc<Root>,
    default_workspace: Option<PathBuf>,
    trusted: Trusted,
    own: Vec<PathBuf>,
    confinement: Option<Confinement>,
    environment: Vec<(OsString, OsString)>,
    shell: ShellLimits,
    helper: PathBuf,
    web: Web,
    commands: Option<PathBuf>,
    asks: Option<Asks>,
}

impl Bench {
    pub fn new(options: Options) -> Result<Self, OpenError> {
        let root = Root::open(&options.root)
            .map_err(|error| OpenError::Root { path: options.root.clone(), error })?;
        let own = real(&options.hidden);
        let environment = environment(options.environment);
        let confinement =
            options.sandbox.then(|| confinement(&environment, options.writable, options.hidden));
        Ok(Self {
            root: Arc::new(root),
            default_workspace: options.default_workspace,
            trusted: Trusted::new(&options.trusted),
            own,
            confinement,
            shell: options.shell,
            helper: options.helper,
            web: Web::new(&options.web)?,
            commands: options.commands,
            asks: options.asks,
            environment,
        })
    }

    /// How commands are started, for what else is to be kept inside like them.
    pub fn launcher(&self) -> Launcher {
        let (helper, environment) = (self.helper.clone(), self.environment.clone());
        Launcher { helper, environment, confinement: self.confinement.clone() }
    }

    fn keeps_off(&self, workspace: &Path) -> Result<(), BadSettings> {
        let Some(own) = self.own.iter().find(|own| meet(workspace, own)) else { return Ok(()) };
        let (workspace, own) = (workspace.display(), own.display());
        let problem =
            format!("{workspace} would open the server's own files in {own}; name another directory");
        Err(BadSettings { field: "workspace_path", problem })
    }

    /// Like `open`, with the type that it is.
    pub fn tools(&self, settings: &AgentSettings) -> Result<Tools, BadSettings> {
        check_names(&settings.allowed_tools)?;
        let default = self.default_workspace.as_deref().map(Path::to_string_lossy);
        let path = match (settings.workspace_path.as_str(), default) {
            ("", Some(default)) => default.into_owned(),
            ("", None) => {
                let problem = format!("is missing; name a directory under {}", self.root.path().display());
                return Err(BadSettings { field: "workspace_path", problem });
            }
            (given, _) => given.to_owned(),
        };
        let workspace = Arc::new(self.root.workspace(&path)?);
        self.keeps_off(Path::new(workspace.path()))?;
        let mut launcher = self.launcher();
        if let Some(confinement) = &mut launcher.confinement {
            confinement.write.push(PathBuf::from(workspace.path()));
        }
        let place = Place {
            workspace,
            launcher,
            shell: self.shell.clone(),
            background: Background::default(),
            web: self.web.clone(),
            asks: self.asks.as_ref().and_then(|asks| asks.able(&settings.model)),
        };
        let (root, trusted) = (Arc::clone(&self.root), self.trusted.clone());
        let tools = Tools::new(place, root, trusted, &settings.allowed_tools);
        Ok(tools.with_commands(self.commands.clone()))
    }
}

/// Files of the server and directories that hold them are nobody's workspace: reading there is free.
fn meet(workspace: &Path, hidden: &Path) -> bool {
    workspace.starts_with(hidden) || hidden.starts_with(workspace)
}

fn check_names(names: &[String]) -> Result<(), BadSettings> {
    let known: Vec<String> =
        every_tool().iter().map(|tool| tool.declaration().name).filter(|name| name != RESTORE).collect();
    let is_mcp = |name: &str| name.starts_with(OF_MCP) || ABOUT_MCP.contains(&name);
    match names.iter().find(|name| !known.contains(name) && !is_mcp(name)) {
        Some(name) => Err(BadSettings {
            field: "allowed_tools",
            problem: format!("there is no tool {name:?}; these are there: {}", known.join(", ")),
        }),
        None => Ok(()),
    }
}

impl Workshop for Bench {
    fn open(&self, settings: &AgentSettings) -> Result<Arc<dyn Toolbox>, BadSettings> {
        Ok(Arc::new(self.tools(settings)?))
    }
}
