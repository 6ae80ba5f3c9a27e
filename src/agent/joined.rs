//! The tools of a workspace and those of MCP servers as one toolbox. Decides nothing but whose a call is; the session
//! holds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::mcp::Crew;
use crate::domain::tool::{Approval, Call, Declaration, Outcome, Plan, Run, ToolError, Toolbox};
use crate::proto::task::SavedFile;

pub(super) struct Joined {
    pub(super) tools: Arc<dyn Toolbox>,
    pub(super) servers: Arc<dyn Crew>,
}

#[async_trait]
impl Toolbox for Joined {
    /// Only those of the workspace: what servers offer changes, and is asked for at every turn.
    fn declarations(&self) -> &[Declaration] {
        self.tools.declarations()
    }

    async fn plan(&self, call: &Call) -> Result<Plan, ToolError> {
        match self.servers.owns(&call.tool) {
            true => self.servers.plan(call).await,
            false => self.tools.plan(call).await,
        }
    }

    async fn run(&self, run: Run) -> Result<Outcome, ToolError> {
        match self.servers.owns(&run.call.tool) {
            true => self.servers.run(run).await,
            false => self.tools.run(run).await,
        }
    }

    /// A server changes no file that could be brought back.
    async fn saves(&self, call: &Call, approval: &Approval) -> Vec<SavedFile> {
        match self.servers.owns(&call.tool) {
            true => Vec::new(),
            false => self.tools.saves(call, approval).await,
        }
    }

    fn commands(&self) -> BTreeMap<String, String> {
        self.tools.commands()
    }

    async fn content(&self, path: &str) -> Result<Option<String>, ToolError> {
        self.tools.content(path).await
    }

    fn workspace(&self) -> &str {
        self.tools.workspace()
    }

    fn memory(&self) -> BTreeMap<String, String> {
        self.tools.memory()
    }
}
