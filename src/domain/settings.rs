//! Reading what a client sets about the agent out of the metadata of a message: the RFC's AgentSettings under the
//! extension's address, or what clients of Gemini CLI's server send. Pure; services ask it.

use super::extension::{CODER_AGENT, DEVELOPMENT_TOOL, means};
use crate::proto::a2a::Message;
use crate::proto::devtool::AgentSettings;
use crate::proto::wkt::{Kind, Struct};

/// What is wrong with it: the field, and the problem.
pub type Bad = (String, String);

pub fn settings(message: &Message) -> Result<Option<AgentSettings>, Bad> {
    let Some(metadata) = &message.metadata else { return Ok(None) };
    for (key, value) in &metadata.fields {
        let Some(Kind::Struct(object)) = &value.kind else {
            if means(key, DEVELOPMENT_TOOL) {
                return Err((format!("message.metadata[\"{key}\"]"), "is not an object".to_owned()));
            }
            continue;
        };
        if means(key, DEVELOPMENT_TOOL) && is_settings(object) {
            return read(key, object).map(Some);
        }
        if key == CODER_AGENT && text(object, "kind") == Some("agent-settings") {
            return Ok(text(object, "workspacePath")
                .map(|path| AgentSettings { workspace_path: path.to_owned(), ..AgentSettings::default() }));
        }
    }
    Ok(None)
}

/// Beside settings the same key carries the kind of an event.
fn is_settings(object: &Struct) -> bool {
    !object.fields.contains_key("kind")
}

/// Some clients put the object below its name.
fn read(key: &str, object: &Struct) -> Result<AgentSettings, Bad> {
    let named = ["agent_settings", "agentSettings", "AgentSettings"];
    let below = named.iter().find_map(|name| match object.fields.get(*name)?.kind.as_ref()? {
        Kind::Struct(below) => Some(below),
        _ => None,
    });
    let object = below.unwrap_or(object);
    let field = || format!("message.metadata[\"{key}\"]");
    let text = serde_json::to_string(object).map_err(|error| (field(), error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| (field(), format!("is not an AgentSettings: {error}")))
}

fn text<'a>(object: &'a Struct, name: &str) -> Option<&'a str> {
    match object.fields.get(name)?.kind.as_ref()? {
        Kind::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::ApprovalMode;

    fn message(metadata: &str) -> Message {
        let metadata = metadata.replace("URI", DEVELOPMENT_TOOL);
        Message { metadata: Some(serde_json::from_str(&metadata).unwrap()), ..Message::default() }
    }

    #[test]
    fn settings_are_found_where_clients_put_them() {
        for metadata in [
            r#"{"URI": {"workspace_path": "/w"}}"#,
            r#"{"URI": {"workspacePath": "/w"}}"#,
            r#"{"URI": {"agent_settings": {"workspace_path": "/w"}}}"#,
            r#"{"coderAgent": {"kind": "agent-settings", "workspacePath": "/w", "isTrusted": true}}"#,
        ] {
            let found = settings(&message(metadata)).unwrap();
            assert_eq!(found.map(|settings| settings.workspace_path).as_deref(), Some("/w"), "{metadata}");
        }
        let yolo = settings(&message(r#"{"URI": {"approval_mode": "YOLO"}}"#)).unwrap().unwrap();
        assert_eq!(yolo.approval_mode(), ApprovalMode::Yolo);
        for nothing in ["{}", r#"{"other": {}}"#, r#"{"URI": {"kind": "TOOL_CALL_CONFIRMATION"}}"#] {
            assert_eq!(settings(&message(nothing)).unwrap(), None);
        }
        let (field, _) = settings(&message(r#"{"URI": {"workspace_path": 5}}"#)).unwrap_err();
        assert!(field.starts_with("message.metadata["), "{field}");
    }
}
