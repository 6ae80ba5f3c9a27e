//! Slash commands and checkpoints, as clients meet them.

mod bindings;
mod custom;
mod meaning;
mod restore;

use serde_json::{Value, json};

use crate::agent::kit::Talk;

/// Executes a command in a context, and tells what was answered.
async fn execute(talk: &Talk, context: &str, line: &str) -> Value {
    let mut words = line.splitn(3, ' ');
    let mut path: Vec<&str> = vec![words.next().unwrap()];
    path.extend(words.next().filter(|word| *word != "-"));
    let args = words.next().unwrap_or_default();
    talk.call("command/execute", json!({"command_path": path, "args": args, "context_id": context})).await
}

/// The task of an execution, when it has ended or asks.
async fn settled(talk: &Talk, executed: &Value) -> Value {
    let id = executed["execution_id"].as_str().unwrap_or_else(|| panic!("no execution in {executed}"));
    crate::kit::soon(async {
        loop {
            let task = talk.call("tasks/get", json!({"id": id})).await;
            match task["status"]["state"].as_str() {
                Some("working" | "submitted") => tokio::task::yield_now().await,
                _ => return task,
            }
        }
    })
    .await
}

/// What a task says at its end.
fn said(task: &Value) -> String {
    task["status"]["message"]["parts"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no words in {task}"))
        .to_owned()
}

/// Executes a command that asks for nothing, and tells what it said.
async fn told(talk: &Talk, context: &str, line: &str) -> String {
    let executed = execute(talk, context, line).await;
    assert_eq!(executed["status"], "STARTED", "{line}: {executed}");
    said(&settled(talk, &executed).await)
}
