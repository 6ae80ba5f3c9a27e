//! What that server tells of a task on its own routes: its state, its model and its tools. Pure; the service calls it.

use serde_json::{Value, json};

use crate::domain::mcp::{ServerStatus, State};
use crate::domain::tool::Declaration;
use crate::projection::v03;
use crate::proto::a2a::TaskState;

/// One task.
#[derive(Debug, Clone, Default)]
pub struct Facts<'a> {
    pub id: &'a str,
    pub context_id: &'a str,
    pub state: TaskState,
    pub model: &'a str,
    pub tools: &'a [Declaration],
    pub servers: &'a [ServerStatus],
}

pub fn shape(facts: &Facts<'_>) -> Value {
    let servers = facts.servers.iter().map(|server| {
        let its = facts.tools.iter().filter(|tool| tool.server.as_ref() == Some(&server.name));
        json!({"name": server.name, "status": status(server.state), "tools": its.map(tool).collect::<Vec<_>>()})
    });
    json!({
        "id": facts.id,
        "contextId": facts.context_id,
        "taskState": state(facts.state),
        "model": facts.model,
        "mcpServers": servers.collect::<Vec<_>>(),
        "availableTools": facts.tools.iter().map(tool).collect::<Vec<_>>(),
    })
}

fn status(state: State) -> &'static str {
    match state {
        State::Connected => "connected",
        State::Connecting => "connecting",
        State::Unapproved | State::Idle | State::Failed => "disconnected",
    }
}

/// The word of 0.3 for a state.
pub(super) fn state(state: TaskState) -> &'static str {
    v03::state_name(state)
}

fn tool(declaration: &Declaration) -> Value {
    json!({
        "name": declaration.name,
        "description": declaration.description,
        "parameterSchema": declaration.parameters,
    })
}
