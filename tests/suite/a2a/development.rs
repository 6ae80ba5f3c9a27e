//! The life of a tool call with the development-tool extension is the same over the four bindings of 1.0 and, in its
//! words, over 0.3.

use agena::domain::extension::DEVELOPMENT_TOOL;
use agena::proto::a2a_v03::{self, a2a_service_client::A2aServiceClient};
use futures::StreamExt;
use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::normal::{Names, compare};
use super::{TESTER, server};
use crate::kit::soon;

const PROMPT: &str = "Go.\n```rehearsal\n- think: {subject: Plan, description: Say hello.}\n\
    - call: {tool: run_shell_command, with: {command: echo hello}}\n- say: 'Done: {result}'\n```\n";

fn message(id: String, task: &str, part: Value) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "taskId": task, "parts": [part]}})
}

/// Asks, approves, and reads the task.
async fn life(client: &Client, binding: Binding) -> Vec<Value> {
    let run = uuid::Uuid::now_v7();
    let ask = message(format!("ask~{run}"), "", json!({"text": PROMPT}));
    let mut seen = client.call(binding, "SendStreamingMessage", &ask).await.answers;
    let task = seen[0]["task"]["id"].as_str().unwrap().to_owned();
    let asked = &seen.last().unwrap()["statusUpdate"]["status"]["message"]["parts"][1]["data"];
    let decision = json!({"tool_call_id": asked["tool_call_id"], "selected_option_id": "proceed_once"});
    let yes = message(format!("yes~{run}"), &task, json!({"data": decision}));
    seen.extend(client.call(binding, "SendStreamingMessage", &yes).await.answers);
    seen.extend(client.call(binding, "GetTask", &json!({"id": task})).await.answers);
    seen
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let metadata = events.iter().map(|event| &event["statusUpdate"]["metadata"][DEVELOPMENT_TOOL]);
    metadata.filter_map(|metadata| metadata["kind"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_call_lives_the_same_over_the_four_bindings() {
    let server = server();
    let workspace = server.home().canonicalize().unwrap();
    let client = Client::new(&server.url, TESTER).await.with("a2a-extensions", DEVELOPMENT_TOOL);
    let mut recorded = None;
    for binding in Binding::ALL {
        let events = life(&client, binding).await;
        let text = Value::from(events.clone()).to_string().replace(workspace.to_str().unwrap(), "/home");
        let mut named = Names::default().of(&serde_json::from_str(&text).unwrap());
        blur(&mut named);
        assert!(kinds(&events).contains(&"THOUGHT"), "{binding:?}: {:?}", kinds(&events));
        match &recorded {
            None => recorded = Some(named),
            Some(recorded) => assert_eq!(&named, recorded, "{binding:?}"),
        }
    }
    compare("devtool", "bindings", &recorded.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_older_bindings_carry_it_too() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let extension = [("x-a2a-extensions", DEVELOPMENT_TOOL)];
    let run = uuid::Uuid::now_v7();
    let params = json!({"message": {"kind": "message", "messageId": format!("old~{run}"), "role": "user",
        "parts": [{"kind": "text", "text": PROMPT}]}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params});
    let events = client.post(&extension, &body).await;
    let kind = |event: &Value| event["result"]["metadata"][DEVELOPMENT_TOOL]["kind"].clone();
    let kinds: Vec<Value> = events.iter().map(kind).filter(|kind| !kind.is_null()).collect();
    assert_eq!(kinds, ["STATE_CHANGE", "THOUGHT", "TOOL_CALL_UPDATE", "STATE_CHANGE"]);
    let rest = json!({"message": {"messageId": format!("rest~{run}"), "role": "ROLE_USER",
        "content": [{"text": PROMPT}]}});
    let answer = crate::kit::http()
        .post(format!("{}/v1/message:stream", server.url))
        .bearer_auth(TESTER)
        .header("x-a2a-extensions", DEVELOPMENT_TOOL)
        .json(&rest);
    let text = answer.send().await.unwrap().text().await.unwrap();
    for kind in ["STATE_CHANGE", "THOUGHT", "TOOL_CALL_UPDATE"] {
        assert!(text.contains(&format!("\"kind\":\"{kind}\"")), "{kind}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_older_grpc_package_carries_it_too() {
    let server = server();
    let mut client = soon(A2aServiceClient::connect(server.url.clone())).await.unwrap();
    let part = a2a_v03::Part { part: Some(a2a_v03::part::Part::Text(PROMPT.to_owned())) };
    let message = a2a_v03::Message {
        message_id: uuid::Uuid::now_v7().to_string(),
        role: a2a_v03::Role::User.into(),
        content: vec![part],
        ..Default::default()
    };
    let send = a2a_v03::SendMessageRequest { request: Some(message), ..Default::default() };
    let mut request = tonic::Request::new(send);
    request.metadata_mut().insert("x-api-key", TESTER.parse().unwrap());
    request.metadata_mut().insert("x-a2a-extensions", DEVELOPMENT_TOOL.parse().unwrap());
    let stream = soon(client.send_streaming_message(request)).await.unwrap().into_inner();
    let items: Vec<_> = soon(stream.collect()).await;
    let text = format!("{items:?}");
    for kind in ["STATE_CHANGE", "THOUGHT", "TOOL_CALL_UPDATE"] {
        assert!(text.contains(kind), "{kind}: {text}");
    }
}

/// Fingerprints cover the place of the workspace.
fn blur(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.entry("fingerprint").and_modify(|fingerprint| *fingerprint = json!("FINGERPRINT"));
            members.values_mut().for_each(blur);
        }
        Value::Array(items) => items.iter_mut().for_each(blur),
        _ => {}
    }
}
