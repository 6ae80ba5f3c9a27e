//! Tools about servers rather than of one: what resources there are, reading one, and agreeing to a server that a client
//! has named. Declarations and arguments; `crew` performs them.

use serde_json::json;

use super::server::Server;
use crate::domain::mcp::{CONNECT, LIST, READ, Way};
use crate::domain::tool::{Arguments, Declaration, Kind, ToolError};

/// Addresses of resources are short.
const URI: usize = 4096;

pub(super) fn resources() -> [Declaration; 2] {
    [
        Declaration {
            name: LIST.to_owned(),
            title: "ListMcpResources".to_owned(),
            description: "Lists the resources that MCP servers offer: address, name and what each is."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"server": {"type": "string", "description": "Only of this server."}},
            }),
            kind: Kind::Read,
            server: None,
        },
        Declaration {
            name: READ.to_owned(),
            title: "ReadMcpResource".to_owned(),
            description: "Reads a resource of an MCP server, by its address from list_mcp_resources."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "server": {"type": "string", "description": "The server that offers it."},
                    "uri": {"type": "string", "description": "The address, exactly as it was listed."},
                },
                "required": ["server", "uri"],
            }),
            kind: Kind::Other,
            server: None,
        },
    ]
}

pub(super) fn connect<'a>(waiting: impl Iterator<Item = &'a Server>) -> Declaration {
    let names: Vec<&str> = waiting.map(|server| server.spec.name.as_str()).collect();
    Declaration {
        name: CONNECT.to_owned(),
        title: "ConnectMcpServer".to_owned(),
        description: format!(
            "Connects an MCP server that the client of this task offers, after the user agreed. Its tools are there \
             from your next answer on. Servers: {}.",
            names.join(", ")
        ),
        parameters: json!({
            "type": "object",
            "properties": {"server": {"type": "string", "enum": names}},
            "required": ["server"],
        }),
        kind: Kind::Other,
        server: None,
    }
}

/// What the user reads before a server is started or dialled.
pub(super) fn question(server: &Server) -> String {
    let extras = server.spec.way.extras();
    let with = match extras.is_empty() {
        true => String::new(),
        false => format!(" (it is given {})", extras.join(", ")),
    };
    let verb = match &server.spec.way {
        Way::Command { .. } => "Start the MCP server",
        Way::Http { .. } => "Connect to the MCP server",
    };
    format!("{verb} {}: {}{with}", server.spec.name, server.spec.way.words())
}

pub(super) fn text<'a>(arguments: &'a Arguments, name: &str) -> Result<Option<&'a str>, ToolError> {
    let bad = |problem: &str| Err(ToolError::new("invalid_tool_params", format!("{name}: {problem}")));
    match arguments.get(name) {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(serde_json::Value::String(text)) if text.len() > URI => bad("it is too long"),
        Some(serde_json::Value::String(text)) => Ok(Some(text)),
        Some(_) => bad("it is no text"),
    }
}

pub(super) fn needed<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, ToolError> {
    text(arguments, name)?
        .filter(|text| !text.is_empty())
        .ok_or_else(|| ToolError::new("invalid_tool_params", format!("{name}: it is missing")))
}
