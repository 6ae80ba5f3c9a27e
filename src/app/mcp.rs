//! MCP servers, as the settings ask for them.

use std::path::PathBuf;
use std::sync::Arc;

use super::StartError;
use crate::agent::policy::{self, RuleSpec};
use crate::config::{self, McpWay, Settings};
use crate::domain::mcp::Origin;
use crate::mcp::{Hub, Options, Spec, Way};
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
        servers: mcp.servers.iter().map(spec).collect(),
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

fn spec(server: &config::McpServer) -> Spec {
    let way = match server.way.clone() {
        McpWay::Command { program, arguments, environment, directory } => {
            Way::Command { program, arguments, environment, directory }
        }
        McpWay::Http { url, headers, bearer } => Way::Http { url, headers, bearer },
    };
    Spec {
        name: server.name.clone(),
        origin: Origin::Settings,
        way,
        connect: server.connect,
        call: server.call,
        trusted: server.trust,
        include: server.include_tools.clone(),
        exclude: server.exclude_tools.clone(),
        confined: server.confined,
    }
}

/// What is trusted needs no question, but for what other rules of the operator say.
pub(super) fn rules(
    servers: &[config::McpServer],
) -> impl Iterator<Item = Result<policy::Rule, policy::BadRule>> {
    servers.iter().filter(|server| server.trust).map(|server| {
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
