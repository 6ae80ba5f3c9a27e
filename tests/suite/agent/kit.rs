//! A client of the extension over JSON-RPC 0.3, and a server with a workspace of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agena::domain::extension::DEVELOPMENT_TOOL;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::agent::AgentSetup;
use crate::kit::{A2aServer, A2aSetup, TOKEN, http, soon};

/// A server, and the directory that its agent works in.
pub struct Bench {
    pub server: A2aServer,
    pub workspace: Arc<TempDir>,
}

impl Bench {
    pub async fn start(script: &str) -> Self {
        Self::with(script, |setup| setup).await
    }

    pub async fn with(script: &str, change: impl FnOnce(A2aSetup) -> A2aSetup) -> Self {
        let workspace = Arc::new(tempfile::tempdir().unwrap());
        Self::at(script, workspace, change).await
    }

    pub async fn at(
        script: &str,
        workspace: Arc<TempDir>,
        change: impl FnOnce(A2aSetup) -> A2aSetup,
    ) -> Self {
        let setup = A2aSetup { agent: AgentSetup::at(workspace.path()), ..A2aSetup::default() };
        let server = A2aServer::start(script, change(setup)).await;
        Self { server, workspace }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.workspace.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn talk(&self) -> Talk {
        Talk { url: self.server.url("/"), knows: true, key: TOKEN }
    }

    pub fn plain_talk(&self) -> Talk {
        Talk { knows: false, ..self.talk() }
    }
}

/// Calls one server.
#[derive(Debug, Clone)]
pub struct Talk {
    url: String,
    /// The client names the extension.
    knows: bool,
    key: &'static str,
}

/// What one stream said, as far as it was read.
#[derive(Debug, Clone, Default)]
pub struct Heard(pub Vec<Value>);

impl Talk {
    /// As somebody else.
    pub fn as_key(&self, key: &'static str) -> Self {
        Self { key, ..self.clone() }
    }

    /// A first message.
    pub async fn ask(&self, text: &str) -> Heard {
        self.stream(json!({"parts": [{"kind": "text", "text": text}]})).await
    }

    /// To a task that is there.
    pub async fn say(&self, task: &str, text: &str) -> Heard {
        self.stream(json!({"taskId": task, "parts": [{"kind": "text", "text": text}]})).await
    }

    /// Decides about calls.
    pub async fn decide(&self, task: &str, decisions: &[Value]) -> Heard {
        let parts: Vec<Value> = decisions.iter().map(|d| json!({"kind": "data", "data": d})).collect();
        self.stream(json!({"taskId": task, "parts": parts})).await
    }

    pub async fn stream(&self, message: Value) -> Heard {
        self.stream_until(message, |_| false).await
    }

    /// Reads until the stream ends, or until something was heard. A stream that is left does not stop the work.
    pub async fn stream_until(&self, message: Value, enough: impl FnMut(&Value) -> bool) -> Heard {
        soon(self.read(message, enough)).await
    }

    async fn read(&self, message: Value, mut enough: impl FnMut(&Value) -> bool) -> Heard {
        let mut response = self.post("message/stream", params(message)).await;
        let (mut heard, mut rest) = (Heard::default(), String::new());
        while let Some(chunk) = response.chunk().await.unwrap() {
            rest.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some((frame, more)) = rest.split_once("\n\n") {
                let data = frame.lines().find_map(|line| line.strip_prefix("data: "));
                let event: Option<Value> = data.map(|data| serde_json::from_str(data).unwrap());
                rest = more.to_owned();
                if let Some(event) = event {
                    let event = event.get("result").cloned().unwrap_or(event);
                    heard.0.push(event.clone());
                    if enough(&event) {
                        return heard;
                    }
                }
            }
        }
        heard
    }

    pub async fn call(&self, method: &str, params: Value) -> Value {
        let answer: Value = soon(self.post(method, params).await.json()).await.unwrap();
        answer.get("result").cloned().unwrap_or(answer)
    }

    async fn post(&self, method: &str, params: Value) -> reqwest::Response {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut post = http().post(&self.url).bearer_auth(self.key).json(&body);
        if self.knows {
            post = post.header("X-A2A-Extensions", DEVELOPMENT_TOOL);
        }
        post.send().await.unwrap()
    }
}

fn params(mut message: Value) -> Value {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let own =
        json!({"kind": "message", "role": "user", "messageId": format!("m~{}-{number}", std::process::id())});
    message.as_object_mut().unwrap().extend(own.as_object().cloned().unwrap());
    json!({"message": message})
}

impl Heard {
    /// The id of the task that the first event tells.
    pub fn task(&self) -> String {
        let event = self.0.first().unwrap_or(&Value::Null);
        let id = event.get("id").or_else(|| event.get("taskId"));
        id.and_then(Value::as_str).unwrap_or_else(|| panic!("no task in {event}")).to_owned()
    }

    /// The state of the last event.
    pub fn state(&self) -> String {
        let last = self.0.last().unwrap_or(&Value::Null);
        last["status"]["state"].as_str().unwrap_or_else(|| panic!("no state in {last}")).to_owned()
    }

    /// All text of the agent.
    pub fn text(&self) -> String {
        let parts = self
            .0
            .iter()
            .flat_map(|event| event["status"]["message"]["parts"].as_array().cloned().unwrap_or_default());
        parts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
    }

    /// Every update of a call, in order.
    pub fn calls(&self) -> Vec<Value> {
        let updates = self.0.iter().filter(|event| kind(event) == Some("TOOL_CALL_UPDATE"));
        updates.map(|event| event["status"]["message"]["parts"][0]["data"].clone()).collect()
    }

    /// `name STATUS` of every update.
    pub fn trail(&self) -> Vec<String> {
        let word = |call: Value| {
            format!("{} {}", call["tool_name"].as_str().unwrap(), call["status"].as_str().unwrap())
        };
        self.calls().into_iter().map(word).collect()
    }

    /// The calls that are asked for at the end.
    pub fn asked(&self) -> Vec<Value> {
        let parts = self.0.last().map(|event| event["status"]["message"]["parts"].clone());
        let parts = parts.and_then(|parts| parts.as_array().cloned()).unwrap_or_default();
        parts.into_iter().filter(|part| part["kind"] == "data").map(|part| part["data"].clone()).collect()
    }

    pub fn error(&self) -> Value {
        self.0.last().map(|event| event["error"].clone()).unwrap_or_default()
    }
}

/// What the extension says that an event is.
pub fn kind(event: &Value) -> Option<&str> {
    event["metadata"][DEVELOPMENT_TOOL]["kind"].as_str()
}

pub fn decision(call: &Value, option: &str) -> Value {
    json!({"tool_call_id": call["tool_call_id"], "selected_option_id": option})
}

/// A rule that makes these calls, then says something.
pub fn script(calls: &[(&str, Value)]) -> String {
    let calls: Vec<Value> = calls.iter().map(|(tool, with)| json!({"tool": tool, "with": with})).collect();
    json!({"rules": [{"do": [{"calls": calls}, {"say": "All done: {result}"}]}]}).to_string()
}

pub fn shell(command: &str) -> (&'static str, Value) {
    ("run_shell_command", json!({"command": command}))
}

pub fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({"file_path": path, "content": content}))
}
