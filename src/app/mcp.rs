//! MCP servers, as the settings ask for them.

use std::path::PathBuf;
use std::sync::Arc;

use super::StartError;
use crate::agent::policy::{self, RuleSpec};
use crate::config::Settings;
use crate::domain::mcp::Spec;
use crate::mcp::{Hub, Options};
use crate::sandbox::process::Launcher;
use crate::telemetry::metrics::McpCalls;

/// `launcher` starts them as it starts commands.
pub(super) fn hub(
    settings: &Settings,
    launcher: Launcher,
    trusted: Vec<PathBuf>,
    metrics: Arc<McpCalls>,
) -> Result<Hub, StartError> {
    let mcp = &settings.mcp;
    let hub = Hub::new(Options {
        servers: mcp.servers.clone(),
        from_clients: mcp.from_clients,
        from_workspaces: mcp.from_workspaces,
        hosts: mcp.hosts.iter().map(|host| host.as_str().to_owned()).collect(),
        root: settings.agent.root.clone(),
        workspace: settings.workspace.clone(),
        trusted,
        launcher,
        metrics,
    });
    let hub =
        hub.map_err(|error| StartError::Workspace(format!("{}: {error}", settings.agent.root.display())))?;
    hub.warm();
    Ok(hub)
}

/// What is trusted needs no question, but for what other rules of the operator say.
pub(super) fn rules(servers: &[Spec]) -> impl Iterator<Item = Result<policy::Rule, policy::BadRule>> {
    servers.iter().filter(|server| server.trusted).map(|server| {
        policy::Rule::try_from(RuleSpec {
            tool: format!("mcp_{}_*", server.name),
            command: None,
            path: None,
            decision: policy::Decision::Allow,
            reason: None,
            matches: Vec::new(),
            not_matches: Vec::new(),
        })
    })
}
