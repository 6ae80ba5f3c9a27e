//! A client that is written against that server's dialect alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::agent::kit::Bench;
use crate::kit::{TOKEN, http, soon};

/// Calls one server as one user.
#[derive(Debug, Clone)]
pub struct Coder {
    url: String,
    workspace: String,
}

/// What one stream said.
#[derive(Debug, Clone, Default)]
pub struct Seen(pub Vec<Value>);

impl Coder {
    pub fn of(bench: &Bench) -> Self {
        let workspace = bench.workspace.path().to_str().unwrap().to_owned();
        Self { url: bench.server.url("/"), workspace }
    }

    pub fn settings(&self) -> Value {
        json!({"coderAgent": {"kind": "agent-settings", "workspacePath": self.workspace}})
    }

    /// A new task.
    pub async fn begin(&self, text: &str) -> Seen {
        let message = json!({"parts": [{"kind": "text", "text": text}], "metadata": self.settings()});
        self.stream(message, |_| false).await
    }

    /// Further words in the same task.
    pub async fn say(&self, task: &str, text: &str) -> Seen {
        self.stream(json!({"taskId": task, "parts": [{"kind": "text", "text": text}]}), |_| false).await
    }

    /// Answers a confirmation; `answer` is `{callId, outcome, newContent?}`.
    pub async fn answer(&self, task: &str, answer: Value) -> Seen {
        self.stream(json!({"taskId": task, "parts": [{"kind": "data", "data": answer}]}), |_| false).await
    }

    pub async fn stream(&self, message: Value, enough: impl FnMut(&Value) -> bool) -> Seen {
        soon(self.read("message/stream", json!({"message": named(message)}), enough)).await
    }

    pub async fn read(&self, method: &str, params: Value, enough: impl FnMut(&Value) -> bool) -> Seen {
        seen(self.post(method, &params).await, enough).await
    }

    /// What comes behind a cursor, or the task first, until the stream ends or says that it does.
    pub async fn follow(&self, task: &str, after: Option<u64>) -> Seen {
        let body =
            json!({"jsonrpc": "2.0", "id": "1", "method": "tasks/resubscribe", "params": {"id": task}});
        let request = http().post(&self.url).bearer_auth(TOKEN).json(&body);
        let request = match after {
            Some(after) => request.header("last-event-id", after.to_string()),
            None => request,
        };
        soon(async { seen(request.send().await.unwrap(), |_| false).await }).await
    }

    pub async fn call(&self, method: &str, params: Value) -> Value {
        let answer: Value = soon(self.post(method, &params).await.json()).await.unwrap();
        answer.get("result").cloned().unwrap_or(answer)
    }

    async fn post(&self, method: &str, params: &Value) -> reqwest::Response {
        let body = json!({"jsonrpc": "2.0", "id": "1", "method": method, "params": params});
        http().post(&self.url).bearer_auth(TOKEN).json(&body).send().await.unwrap()
    }
}

/// Reads a stream as that server's SDK does.
pub async fn seen(mut response: reqwest::Response, mut enough: impl FnMut(&Value) -> bool) -> Seen {
    let (mut seen, mut rest) = (Seen::default(), String::new());
    while let Some(chunk) = response.chunk().await.unwrap() {
        rest.push_str(std::str::from_utf8(&chunk).unwrap());
        while let Some((frame, more)) = rest.split_once("\n\n") {
            let data = frame.lines().find_map(|line| line.strip_prefix("data: "));
            let event: Option<Value> = data.map(|data| serde_json::from_str(data).unwrap());
            rest = more.to_owned();
            let Some(event) = event else { continue };
            seen.0.push(event.get("result").cloned().unwrap_or(event));
            // That server's SDK closes a stream at the first event that says so.
            let last = seen.0.last().unwrap();
            if last["final"] == true || enough(last) {
                return seen;
            }
        }
    }
    seen
}

pub fn named(mut message: Value) -> Value {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let own =
        json!({"kind": "message", "role": "user", "messageId": format!("c~{}-{number}", std::process::id())});
    message.as_object_mut().unwrap().extend(own.as_object().cloned().unwrap());
    message
}

impl Seen {
    pub fn task(&self) -> String {
        let first = &self.0[0];
        let id = first.get("id").or_else(|| first.get("taskId"));
        id.and_then(Value::as_str).unwrap_or_else(|| panic!("no task in {first}")).to_owned()
    }

    /// Of every event: its kind, with the status of the call or the state of the task.
    pub fn trail(&self) -> Vec<String> {
        let word = |event: &Value| match event["kind"].as_str().unwrap_or_default() {
            "status-update" => {
                let kind = event["metadata"]["coderAgent"]["kind"].as_str().unwrap_or("?");
                let call = &event["status"]["message"]["parts"][0]["data"]["status"];
                let what = call.as_str().or_else(|| event["status"]["state"].as_str()).unwrap_or_default();
                format!("{kind} {what}")
            }
            other => other.to_owned(),
        };
        self.0.iter().map(word).collect()
    }

    /// The last call that is asked for.
    pub fn asked(&self) -> Value {
        let asks = |event: &&Value| event["metadata"]["coderAgent"]["kind"] == "tool-call-confirmation";
        let event = self.0.iter().rfind(asks).unwrap_or_else(|| panic!("nothing is asked: {:?}", self.0));
        event["status"]["message"]["parts"][0]["data"].clone()
    }

    pub fn answer(&self, outcome: &str) -> Value {
        json!({"callId": self.asked()["request"]["callId"], "outcome": outcome})
    }

    pub fn last(&self) -> &Value {
        self.0.last().unwrap_or(&Value::Null)
    }

    pub fn text(&self) -> String {
        let parts = self.0.iter().map(|event| &event["status"]["message"]["parts"][0]["text"]);
        parts.filter_map(Value::as_str).collect()
    }

    /// What a call prints, as a client puts it together.
    pub fn output(&self) -> String {
        let mut whole = String::new();
        for update in self.0.iter().filter(|event| event["kind"] == "artifact-update") {
            if update["append"] != true {
                whole.clear();
            }
            whole.push_str(update["artifact"]["parts"][0]["text"].as_str().unwrap());
        }
        whole
    }
}
