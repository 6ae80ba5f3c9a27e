//! The typed service on the real binary: every call over every binding, for two principals, with the rehearsal behind.

mod client;
mod interact;
mod isolation;
mod life;
mod lists;
mod races;
mod resume;
mod stops;

use serde_json::{Value, json};

use self::client::{Binding, Client};

/// A prompt that the rehearsal follows.
fn script(steps: &str) -> String {
    format!("Do it.\n```rehearsal\n{steps}\n```\n")
}

fn shell() -> String {
    script("- call: {tool: run_shell_command, with: {command: echo hello}}\n- say: 'Done: {result}'")
}

/// What a stream told, one word for each.
fn kinds(answers: &[Value]) -> Vec<String> {
    let names = [
        "created",
        "message",
        "status",
        "text",
        "thought",
        "tool_call",
        "live_output",
        "decided",
        "usage",
        "artifact",
    ];
    let kind = |answer: &Value| names.into_iter().find(|name| answer["update"].get(*name).is_some());
    answers.iter().filter_map(kind).map(str::to_owned).collect()
}

fn state(answer: &Value) -> &str {
    answer["update"]["status"]["state"].as_str().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Starts a task that asks, and returns its id, its context and the call.
async fn asking(client: &Client, binding: Binding, prompt: &str) -> (String, String, Value) {
    let answers = client.call(binding, "StartTask", json!({"prompt": prompt})).await.answers;
    assert_eq!(state(answers.last().unwrap()), "TASK_STATE_INPUT_REQUIRED", "{answers:#?}");
    let first = &answers[0]["update"];
    let call = answers.iter().rev().find_map(|answer| answer["update"].get("tool_call")).unwrap();
    assert!(call.get("confirmation_request").is_some(), "{call}");
    (text(&first["task_id"]), text(&first["context_id"]), call.clone())
}

fn confirmation(task: &str, call: &Value, option: &str, more: Value) -> Value {
    let mut confirmation = json!({"tool_call_id": call["tool_call_id"], "selected_option_id": option});
    confirmation.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    json!({"task_id": task, "confirmation": confirmation})
}
