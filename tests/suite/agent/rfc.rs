//! The RFC's appendix A: byte for byte over JSON-RPC 0.3 but for ids and times, and its equivalent over gRPC 1.0.

use agena::domain::extension::DEVELOPMENT_TOOL;
use agena::proto::a2a::a2a_service_client::A2aServiceClient;
use agena::proto::a2a::{Message, Part, Role, SendMessageRequest, part};
use agena::proto::json as protojson;
use futures::StreamExt;
use serde_json::{Value, json};

use super::kit::{Bench, decision, kind, script, shell, write};
use crate::a2a::normal::{Names, compare};
use crate::kit::{TOKEN, soon};

/// Ids, times, fingerprints and the place of the workspace differ from run to run.
fn recorded(bench: &Bench, events: &[Value]) -> Value {
    let text = Value::from(events.to_vec()).to_string();
    let text = text.replace(bench.workspace.path().to_str().unwrap(), "/workspace");
    let mut events: Value = serde_json::from_str(&text).unwrap();
    hide(&mut events);
    Names::default().of(&events)
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.contains_key("fingerprint") {
                members.insert("fingerprint".to_owned(), json!("FINGERPRINT"));
            }
            members.values_mut().for_each(hide);
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        _ => {}
    }
}

fn settings(bench: &Bench) -> Value {
    json!({DEVELOPMENT_TOOL: {"workspace_path": bench.workspace.path()}})
}

#[tokio::test(flavor = "multi_thread")]
async fn appendix_a_over_json_rpc() {
    let bench = Bench::start(&script(&[write("hello.py", "print('hi')\n")])).await;
    let talk = bench.talk();
    let first = json!({"parts": [{"kind": "text", "text": "go"}], "metadata": settings(&bench)});
    let first = talk.stream(first).await;
    let kinds: Vec<_> = first.0.iter().map(kind).collect();
    assert_eq!(kinds, [None, Some("STATE_CHANGE"), Some("TOOL_CALL_UPDATE"), Some("STATE_CHANGE")]);
    assert_eq!(first.state(), "input-required");
    assert!(!bench.path("hello.py").exists());
    compare("devtool", "appendix-a-1", &recorded(&bench, &first.0));

    let second = talk.decide(&first.task(), &[decision(&first.calls()[0], "proceed_once")]).await;
    let kinds: Vec<_> = second.0.iter().map(kind).collect();
    let update = Some("TOOL_CALL_UPDATE");
    assert_eq!(kinds, [update, update, Some("TEXT_CONTENT"), Some("STATE_CHANGE")]);
    assert_eq!(second.trail(), ["write_file EXECUTING", "write_file SUCCEEDED"]);
    assert_eq!(second.state(), "completed");
    assert_eq!(bench.read("hello.py"), "print('hi')\n");
    compare("devtool", "appendix-a-2", &recorded(&bench, &second.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_really_runs_and_is_seen_while_it_does() {
    let command = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two";
    let bench = Bench::start(&script(&[shell(command)])).await;
    let talk = bench.talk();
    let first = talk.ask("go").await;
    let (call, path) = (&first.asked()[0], bench.path("go"));
    let confirm =
        json!({"taskId": first.task(), "parts": [{"kind": "data", "data": decision(call, "proceed_once")}]});
    let heard = talk
        .stream_until(confirm, |event| {
            let live = &event["status"]["message"]["parts"][0]["data"]["live_content"];
            if live.as_str().is_some_and(|text| text.contains("one")) {
                // Only now may it go on: what it printed was seen while it ran.
                std::fs::write(&path, "").unwrap();
            }
            false
        })
        .await;
    assert_eq!(heard.state(), "completed");
    let last = heard.calls().pop().unwrap();
    assert_eq!(last["status"], "SUCCEEDED");
    assert!(heard.text().contains("one\ntwo"), "{}", heard.text());
    assert!(heard.calls().iter().all(|call| call["input_parameters"]["command"] == command));
}

#[tokio::test(flavor = "multi_thread")]
async fn appendix_a_over_grpc_shows_the_task_first() {
    let bench = Bench::start(&script(&[write("hello.py", "print('hi')\n")])).await;
    let first = grpc(&bench, "go~", "", Part::text("go")).await;
    let task = first[0]["task"]["id"].as_str().unwrap().to_owned();
    let asked = &first[2]["statusUpdate"]["status"]["message"]["parts"][0]["data"];
    assert_eq!((&asked["status"], &asked["tool_name"]), (&json!("PENDING"), &json!("write_file")));
    let data = decision(asked, "proceed_once").to_string();
    let content = Some(part::Content::Data(serde_json::from_str(&data).unwrap()));
    let second = grpc(&bench, "yes~", &task, Part { content, ..Part::default() }).await;
    assert!(second[0].get("task").is_some(), "{}", second[0]);
    assert_eq!(bench.read("hello.py"), "print('hi')\n");
    compare("devtool", "appendix-a-grpc", &recorded(&bench, &[first, second].concat()));
}

async fn grpc(bench: &Bench, message_id: &str, task_id: &str, part: Part) -> Vec<Value> {
    let mut client = soon(A2aServiceClient::connect(bench.server.url(""))).await.unwrap();
    let message = Message {
        message_id: message_id.to_owned(),
        task_id: task_id.to_owned(),
        role: Role::User.into(),
        parts: vec![part],
        ..Message::default()
    };
    let send = SendMessageRequest { message: Some(message), ..Default::default() };
    let mut request = tonic::Request::new(send);
    request.metadata_mut().insert("x-api-key", TOKEN.parse().unwrap());
    request.metadata_mut().insert("a2a-extensions", DEVELOPMENT_TOOL.parse().unwrap());
    let stream = soon(client.send_streaming_message(request)).await.unwrap().into_inner();
    let items: Vec<_> = soon(stream.collect()).await;
    let print = |item: Result<_, tonic::Status>| {
        let mut text = Vec::new();
        protojson::encode(&item.unwrap(), &mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    items.into_iter().map(print).collect()
}
