//! A tool call in the shape that Gemini CLI's own server sends: the request, where it stands, what is asked, and what
//! came of it. Pure; the view of that dialect prints with it.

use serde_json::{Value, json};

use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::tool_call::Result as CallResult;
use crate::proto::devtool::tool_output::Result as Output;
use crate::proto::devtool::{ErrorDetails, FileDiff, ToolCall, ToolCallStatus, ToolOutput};

/// `prompt_id` is what the call belongs to.
pub(super) fn shape(call: &ToolCall, prompt_id: &str) -> Value {
    let details = call.confirmation_request.as_ref().and_then(|request| request.details.as_ref());
    let mut shown = json!({
        "request": {
            "callId": call.tool_call_id,
            "name": call.tool_name,
            "args": arguments(call, details),
            "isClientInitiated": false,
            "prompt_id": prompt_id,
        },
        "status": status(call),
        "tool": {
            "name": call.tool_name,
            "displayName": call.tool_name,
            "description": call.description(),
        },
    });
    let mut put = |name: &str, value: Option<Value>| {
        if let (Some(value), Some(members)) = (value, shown.as_object_mut()) {
            members.insert(name.to_owned(), value);
        }
    };
    put("confirmationDetails", details.map(|details| confirmation(call, details)));
    put("liveOutput", call.live_content.as_deref().map(Value::from));
    put("outcome", call.decision.as_ref().map(|decision| decision.selected_option_id.as_str().into()));
    put("response", call.result.as_ref().map(|result| response(&call.tool_call_id, result)));
    shown
}

fn status(call: &ToolCall) -> &'static str {
    match call.status() {
        ToolCallStatus::Pending if call.confirmation_request.is_some() => "awaiting_approval",
        ToolCallStatus::Pending | ToolCallStatus::StatusUnspecified => "scheduled",
        ToolCallStatus::Executing => "executing",
        ToolCallStatus::Succeeded => "success",
        ToolCallStatus::Failed => "error",
        ToolCallStatus::Cancelled => "cancelled",
    }
}

/// An edit by pieces is shown with the file that it would make.
fn arguments(call: &ToolCall, details: Option<&Details>) -> Value {
    let mut arguments = serde_json::to_value(&call.input_parameters).unwrap_or_default();
    if let Some(Details::FileEditDetails(diff)) = details
        && call.tool_name == "replace"
        && let Some(members) = arguments.as_object_mut()
    {
        members.insert("newContent".to_owned(), diff.new_content.as_str().into());
    }
    if arguments.is_null() { json!({}) } else { arguments }
}

fn confirmation(call: &ToolCall, details: &Details) -> Value {
    let title = if call.description().is_empty() { call.tool_name.as_str() } else { call.description() };
    match details {
        Details::FileEditDetails(file) => {
            let mut shown = diff(file);
            shown["type"] = "edit".into();
            shown["title"] = title.into();
            shown
        }
        Details::ExecuteDetails(run) => {
            let root = run.command.split_whitespace().next().unwrap_or_default();
            json!({
                "type": "exec", "title": title, "command": run.command,
                "rootCommand": root, "rootCommands": [root],
            })
        }
        Details::McpDetails(mcp) => json!({
            "type": "mcp", "title": title, "serverName": mcp.server_name,
            "toolName": mcp.tool_name, "toolDisplayName": mcp.tool_name,
        }),
        Details::GenericDetails(other) if !other.questions.is_empty() => {
            let questions: Vec<Value> = other
                .questions
                .iter()
                .map(|question| {
                    let options = question.choices.iter();
                    let options = options.map(|c| json!({"label": c.label, "description": c.description}));
                    json!({
                        "question": question.question, "header": question.header,
                        "type": if question.choices.is_empty() { "text" } else { "choice" },
                        "options": options.collect::<Vec<_>>(), "multiSelect": question.several,
                    })
                })
                .collect();
            json!({"type": "ask_user", "title": title, "questions": questions})
        }
        Details::GenericDetails(other) => {
            json!({"type": "info", "title": title, "prompt": other.description})
        }
    }
}

fn diff(file: &FileDiff) -> Value {
    json!({
        "fileName": file.file_name,
        "filePath": file.file_path,
        "fileDiff": file.formatted_diff(),
        "originalContent": file.old_content,
        "newContent": file.new_content,
    })
}

fn response(call_id: &str, result: &CallResult) -> Value {
    match result {
        CallResult::Output(output) => json!({"callId": call_id, "resultDisplay": display(output)}),
        CallResult::Error(ErrorDetails { message, r#type, .. }) => json!({
            "callId": call_id,
            "resultDisplay": message,
            "error": {"message": message},
            "errorType": r#type,
        }),
    }
}

fn display(output: &ToolOutput) -> Value {
    match &output.result {
        Some(Output::Text(text)) => text.as_str().into(),
        Some(Output::Diff(file)) => diff(file),
        Some(Output::StructuredData(data)) => serde_json::to_value(data).unwrap_or_default(),
        None => "".into(),
    }
}
