//! What such a client says when it opens a task before it has something to say. Pure; the service calls it.

use serde_json::Value;

use crate::proto::devtool::AgentSettings;

/// `{contextId?, agentSettings?: {kind, workspacePath, autoExecute?, isTrusted?}}`. What a client says of trust, or of
/// going on unasked, counts for nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Opening {
    pub context_id: String,
    pub settings: Option<AgentSettings>,
}

/// An error names the field and what is wrong with it.
pub fn read(body: &Value) -> Result<Opening, (&'static str, &'static str)> {
    let empty = Value::Null;
    let Some(members) = body.as_object() else { return Err(("body", "must be an object")) };
    let member = |name: &str| members.get(name).unwrap_or(&empty);
    let context_id = match member("contextId") {
        Value::Null => String::new(),
        Value::String(id) => id.clone(),
        _ => return Err(("contextId", "must be a string")),
    };
    let settings = match member("agentSettings") {
        Value::Null => None,
        Value::Object(settings) => match settings.get("workspacePath") {
            None | Some(Value::Null) => None,
            Some(Value::String(path)) => {
                Some(AgentSettings { workspace_path: path.clone(), ..AgentSettings::default() })
            }
            Some(_) => return Err(("agentSettings.workspacePath", "must be a string")),
        },
        _ => return Err(("agentSettings", "must be an object")),
    };
    Ok(Opening { context_id, settings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_workspace_is_taken() {
        let settings = json!({"kind": "agent-settings", "workspacePath": "/w", "isTrusted": true});
        let opening = read(&json!({"contextId": "c", "agentSettings": settings})).unwrap();
        let workspace = AgentSettings { workspace_path: "/w".to_owned(), ..AgentSettings::default() };
        assert_eq!(opening, Opening { context_id: "c".to_owned(), settings: Some(workspace) });
        assert_eq!(read(&json!({})).unwrap(), Opening::default());
        for (body, field) in [
            (json!([]), "body"),
            (json!({"contextId": 1}), "contextId"),
            (json!({"agentSettings": "x"}), "agentSettings"),
            (json!({"agentSettings": {"workspacePath": 1}}), "agentSettings.workspacePath"),
        ] {
            assert_eq!(read(&body).unwrap_err().0, field);
        }
    }
}
