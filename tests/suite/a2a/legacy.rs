//! A2A 0.3 on the same server: its flows over JSON-RPC are recorded in `tests/golden/a2a03flow`, and gRPC and REST of
//! 0.3 tell the same.

use std::collections::BTreeMap;

use agena::proto::a2a_v03::a2a_service_client::A2aServiceClient;
use agena::proto::a2a_v03::stream_response::Payload;
use agena::proto::a2a_v03::{Message, Part, Role, SendMessageRequest, TaskState, part};
use futures::StreamExt;
use serde_json::{Value, json};

use super::client::Client;
use super::normal::{Names, compare, fill};
use super::{TESTER, server};
use crate::kit::{http, soon};

/// By name, the calls one after the other.
const FLOWS: &str = include_str!("legacy.json");

#[tokio::test(flavor = "multi_thread")]
async fn every_flow_of_0_3_is_as_recorded() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let flows: BTreeMap<String, Vec<(String, Value)>> = serde_json::from_str(FLOWS).unwrap();
    for (name, steps) in &flows {
        let mut names = Names::default();
        let (mut task, mut context) = (String::new(), uuid::Uuid::now_v7().to_string());
        let mut transcript = Vec::new();
        for (method, params) in steps {
            let params = fill(params, &task, &context, name);
            let body = json!({"jsonrpc": "2.0", "id": "x", "method": method, "params": params});
            let answers = soon(client.post(&[], &body)).await;
            if let Some(made) = answers.first().map(|a| &a["result"]).filter(|r| r["kind"] == "task") {
                task = made["id"].as_str().unwrap().to_owned();
                context = made["contextId"].as_str().unwrap().to_owned();
            }
            transcript.push(json!({"call": names.of(&body), "answers": names.of(&json!(answers))}));
        }
        compare("a2a03flow", name, &Value::Array(transcript));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grpc_of_0_3_streams_with_a_final_event() {
    let server = server();
    let mut client = A2aServiceClient::connect(server.url.clone()).await.unwrap();
    for (id, last) in [("say", TaskState::Completed), ("ask", TaskState::InputRequired)] {
        let text = Part { part: Some(part::Part::Text("hi".to_owned())) };
        let message = Message {
            message_id: id.to_owned(),
            role: Role::User.into(),
            content: vec![text],
            ..Message::default()
        };
        let mut request =
            tonic::Request::new(SendMessageRequest { request: Some(message), ..Default::default() });
        request.metadata_mut().insert("authorization", format!("Bearer {TESTER}").parse().unwrap());
        let items = soon(client.send_streaming_message(request)).await.unwrap().into_inner();
        let items: Vec<_> = soon(items.map(|item| item.unwrap().payload.unwrap()).collect::<Vec<_>>()).await;
        assert!(matches!(items[0], Payload::Task(_)));
        let update = |item: &Payload| match item {
            Payload::StatusUpdate(update) => Some((update.r#final, update.status.as_ref().unwrap().state())),
            _ => None,
        };
        let finals: Vec<_> = items.iter().filter_map(update).collect();
        let (end, before) = finals.split_last().unwrap();
        assert_eq!(*end, (true, last));
        assert!(before.iter().all(|(is_final, _)| !is_final));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rest_of_0_3_reads_both_spellings() {
    let server = server();
    let proto = json!({"message": {"messageId": "say-1", "role": "ROLE_USER", "content": [{"text": "hi"}]}});
    let kinds = json!({"message": {
        "kind": "message", "messageId": "say-2", "role": "user", "parts": [{"kind": "text", "text": "hi"}],
    }});
    for body in [proto, kinds] {
        let post = http().post(format!("{}/v1/message:send", server.url)).bearer_auth(TESTER).json(&body);
        let response = soon(post.send()).await.unwrap();
        assert_eq!(response.status(), 200, "{body}");
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        let task = &answer["task"];
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
        assert_eq!(task["history"][0]["content"][0]["text"], "hi");
        let url = format!("{}/v1/tasks/{}", server.url, task["id"].as_str().unwrap());
        let read = http().get(url).bearer_auth(TESTER).send().await.unwrap().text().await.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&read).unwrap()["id"], task["id"]);
    }
}
