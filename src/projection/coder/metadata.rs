//! What that server tells of a task on its own routes: its state, its model and its tools. Pure; the service calls it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

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
}

pub fn shape(facts: &Facts<'_>) -> Value {
    let mut servers: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for declaration in facts.tools {
        if let Some(server) = &declaration.server {
            servers.entry(server).or_default().push(tool(declaration));
        }
    }
    let servers = servers.into_iter();
    let servers = servers.map(|(name, tools)| json!({"name": name, "status": "connected", "tools": tools}));
    json!({
        "id": facts.id,
        "contextId": facts.context_id,
        "taskState": state(facts.state),
        "model": facts.model,
        "mcpServers": servers.collect::<Vec<_>>(),
        "availableTools": facts.tools.iter().map(tool).collect::<Vec<_>>(),
    })
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
