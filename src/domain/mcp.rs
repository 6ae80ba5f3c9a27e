//! What MCP servers are to the agent and to whoever shows them: tools that come and go, prompts, and how each server
//! fares. `mcp` implements it, the agent joins it with the tools of a workspace; neither knows the other.

mod spec;

use std::sync::Arc;

use async_trait::async_trait;

use super::tool::{Arguments, BadSettings, Call, Declaration, Outcome, Plan, Run, ToolError};
use crate::proto::devtool::McpServer;

pub use spec::{Spec, Way};

/// Whose task it is: principal, tenant and context. Servers that a client has named belong to just one of them.
pub type Whose = (String, String, String);

pub type Opened = Result<Arc<dyn Crew>, BadSettings>;

/// All servers that this process may reach.
pub trait Servers: Send + Sync + 'static {
    /// Whether a client may name these. An error says which setting is wrong and what is allowed.
    fn check(&self, named: &[McpServer]) -> Result<(), BadSettings>;

    /// The servers for one task: those of the settings, of the workspace if it is trusted, and those that its client
    /// named. Reads files; connects nothing.
    fn open(&self, whose: &Whose, workspace: &str, named: &[McpServer]) -> Opened;

    /// Lets go of what nobody has used for long. To be called now and then.
    fn tidy(&self);
}

/// The servers for one task.
#[async_trait]
pub trait Crew: Send + Sync + 'static {
    /// Whether a tool of this name is for them to plan and run.
    fn owns(&self, tool: &str) -> bool;

    /// What they offer now. Connects what is not connected, and waits for it only shortly: who comes later is there at
    /// the next turn.
    async fn declarations(&self) -> Vec<Declaration>;

    async fn plan(&self, call: &Call) -> Result<Plan, ToolError>;

    async fn run(&self, run: Run) -> Result<Outcome, ToolError>;

    /// The prompts of all servers that have some.
    async fn prompts(&self) -> Vec<Prompt>;

    /// A prompt filled in, as text for the model. The error is for the user.
    async fn prompt(&self, server: &str, name: &str, arguments: Arguments) -> Result<String, String>;

    fn status(&self) -> Vec<ServerStatus>;

    /// What tells a server from another that has its name later: what is started or dialled, as a digest. Empty where
    /// there is no such server.
    fn mark(&self, server: &str) -> String;

    /// Closes the connections of one server, or of all: the next use opens them anew. False if there is no such server.
    fn reload(&self, server: Option<&str>) -> bool;
}

/// A prompt that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub server: String,
    pub name: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}

/// How a server fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    pub origin: Origin,
    /// The command or the address, without anything secret; of a server of the operator only the program or the host.
    pub way: String,
    pub trusted: bool,
    pub state: State,
    /// Full names, as the model knows them.
    pub tools: Vec<String>,
    /// What went wrong last, and tools that are left out with the reason.
    pub problems: Vec<String>,
}

/// Who named a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Settings,
    Workspace,
    Client,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A client named it and nobody has agreed yet.
    Unapproved,
    /// Nobody has needed it yet.
    Idle,
    Connecting,
    Connected,
    Failed,
}

/// Tools about servers rather than of one.
pub const LIST: &str = "list_mcp_resources";
pub const READ: &str = "read_mcp_resource";
pub const CONNECT: &str = "connect_mcp_server";

/// Room for the tool in a name of 63.
const NAME: usize = 24;

/// A name of a server that names of tools can carry.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match (1..=NAME).contains(&name.len()) && name.chars().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "`{}` is no name of a server; use letters, digits and `-`, {NAME} at the most",
            name.chars().take(80).collect::<String>()
        )),
    }
}

/// Where there are no servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoServers;

impl Servers for NoServers {
    fn check(&self, named: &[McpServer]) -> Result<(), BadSettings> {
        match named.is_empty() {
            true => Ok(()),
            false => Err(BadSettings {
                field: "mcp_servers",
                problem: "this server lets no client name MCP servers; its operator can (mcp.from_clients)"
                    .to_owned(),
            }),
        }
    }

    fn open(&self, _: &Whose, _: &str, named: &[McpServer]) -> Opened {
        self.check(named)?;
        Ok(Arc::new(Self))
    }

    fn tidy(&self) {}
}

#[async_trait]
impl Crew for NoServers {
    fn owns(&self, _: &str) -> bool {
        false
    }

    async fn declarations(&self) -> Vec<Declaration> {
        Vec::new()
    }

    async fn plan(&self, call: &Call) -> Result<Plan, ToolError> {
        Err(ToolError::new("tool_not_registered", format!("there is no tool \"{}\"", call.tool)))
    }

    async fn run(&self, run: Run) -> Result<Outcome, ToolError> {
        Err(ToolError::new("tool_not_registered", format!("there is no tool \"{}\"", run.call.tool)))
    }

    async fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    async fn prompt(&self, server: &str, _: &str, _: Arguments) -> Result<String, String> {
        Err(format!("there is no MCP server {server}"))
    }

    fn status(&self) -> Vec<ServerStatus> {
        Vec::new()
    }

    fn mark(&self, _: &str) -> String {
        String::new()
    }

    fn reload(&self, server: Option<&str>) -> bool {
        server.is_none()
    }
}
