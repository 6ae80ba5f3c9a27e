//! What a webhook gets: the bodies of both versions, the headers, the order.

use agena::domain::dialect::Dialect;
use agena::proto::a2a::TaskPushNotificationConfig;
use agena::proto::a2a::a2a_service_server::A2aService;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tonic::Request;

use super::hook::{Hook, Received};
use super::{SHOWN, assert_in_order, quick, send_with, server, stored, until_done, waiting_task};
use crate::kit::A2aServer;

#[tokio::test(flavor = "multi_thread")]
async fn a_1_0_webhook_gets_every_event_that_a_stream_shows() {
    let (server, hook) = (server(quick()).await, Hook::willing().await);
    let task = send_with(&server, json!({"url": hook.url()})).await;
    let bodies: Vec<Value> = hook.wait(SHOWN.len()).await.iter().map(Received::json).collect();
    until_done(&server, &task).await;
    assert_in_order(&hook, &SHOWN);
    let told: Vec<Value> = bodies.iter().map(|body| short(body, &task)).collect();
    assert_eq!(
        told,
        [
            json!(["TASK_STATE_WORKING", null]),
            json!(["TASK_STATE_WORKING", "one"]),
            json!(["TASK_STATE_WORKING", " two"]),
            json!(["a", "x", null, null]),
            json!(["a", "y", true, true]),
            json!(["TASK_STATE_COMPLETED", "done"]),
        ]
    );
}

/// A body of 1.0 in short. It has one member, names its task, and tells nothing of ours.
fn short(body: &Value, task: &str) -> Value {
    let (kind, update) = body.as_object().unwrap().iter().next().unwrap();
    assert_eq!((body.as_object().unwrap().len(), update["taskId"].as_str()), (1, Some(task)));
    assert!(update["contextId"].is_string() && update.get("metadata").is_none(), "{update}");
    let text = |holder: &Value| holder["parts"][0]["text"].clone();
    match kind.as_str() {
        "statusUpdate" => json!([update["status"]["state"], text(&update["status"]["message"])]),
        "artifactUpdate" => {
            let artifact = &update["artifact"];
            json!([artifact["name"], text(artifact), update.get("append"), update.get("lastChunk")])
        }
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_0_3_webhook_gets_the_task_as_it_is_after_each_change() {
    let (server, hook) = (server(quick()).await, Hook::willing().await);
    let task = waiting_task(&server).await;
    create_03(&server, &task, &hook).await;
    server.say("go", json!({"taskId": task}), json!({})).await;
    until_done(&server, &task).await;
    let received = hook.received();
    let told: Vec<Value> = received.iter().map(|one| short_03(&one.json(), &task)).collect();
    assert_eq!(
        told,
        [
            // State, what was said so far, artifacts.
            json!(["input-required", ["begin", "go"], null]),
            json!(["working", ["begin", "go"], null]),
            json!(["working", ["begin", "go"], "x"]),
            json!(["working", ["begin", "go"], "xy"]),
            json!(["working", ["begin", "go", "one two"], "xy"]),
            json!(["completed", ["begin", "go", "one two"], "xy"]),
        ]
    );
    assert!(received.iter().all(|one| one.header("content-type") == "application/json"));
    assert_in_order(&hook, &[5, 6, 11, 12, 13, 14]);
}

/// As the front of 0.3 calls it.
async fn create_03(server: &A2aServer, task: &str, hook: &Hook) {
    let config =
        TaskPushNotificationConfig { task_id: task.to_owned(), url: hook.url(), ..Default::default() };
    let mut request = Request::new(config);
    request.extensions_mut().insert(A2aServer::tester());
    request.extensions_mut().insert(Dialect::V03);
    server.a2a.create_task_push_notification_config(request).await.unwrap();
}

fn short_03(body: &Value, task: &str) -> Value {
    assert_eq!((body["kind"].as_str(), body["id"].as_str()), (Some("task"), Some(task)));
    assert!(body.get("metadata").is_none());
    let said = body["history"].as_array().unwrap().iter().map(|message| message["parts"][0]["text"].clone());
    let said: Vec<Value> = said.collect();
    json!([body["status"]["state"], said, body["artifacts"][0]["parts"][0]["text"]])
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_carry_the_credentials_the_delivery_and_a_signature() {
    let (server, hook) = (server(quick()).await, Hook::willing().await);
    let config = json!({
        "url": hook.url(), "id": "my hook", "token": "t0ken",
        "authentication": {"scheme": "Bearer", "credentials": "cr3dentials"},
    });
    let task = send_with(&server, config).await;
    until_done(&server, &task).await;
    for one in hook.received() {
        let mut names: Vec<&str> = one.headers.keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        let expected = [
            "a2a-notification-token",
            "accept",
            "authorization",
            "content-length",
            "content-type",
            "host",
            "user-agent",
            "x-a2a-notification-token",
            "x-agena-delivery",
            "x-agena-signature",
        ];
        assert_eq!(names, expected);
        assert_eq!(one.path, "/hook?secret=path");
        for (name, value) in [
            ("authorization", "Bearer cr3dentials".to_owned()),
            ("x-a2a-notification-token", "t0ken".to_owned()),
            ("a2a-notification-token", "t0ken".to_owned()),
            ("content-type", "application/a2a+json".to_owned()),
            ("user-agent", format!("agena/{}", env!("CARGO_PKG_VERSION"))),
            ("x-agena-delivery", format!("{task}/my%20hook/{}", one.sequence())),
        ] {
            assert_eq!(one.header(name), value, "{name}");
        }
        assert!(is_signed(&one, b"t0ken") && !is_signed(&one, b"other"));
    }
}

/// As a receiver would check it.
fn is_signed(one: &Received, key: &[u8]) -> bool {
    let (time, signature) = one.header("x-agena-signature").split_once(",v1=").unwrap();
    let time = time.strip_prefix("t=").unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert!(now.abs_diff(time.parse().unwrap()) < 60);
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(format!("{time}.").as_bytes());
    mac.update(&one.body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    hex == signature
}

#[tokio::test(flavor = "multi_thread")]
async fn without_secrets_there_are_no_headers_for_them() {
    let (server, hook) = (server(quick()).await, Hook::willing().await);
    let task = send_with(&server, json!({"url": hook.url()})).await;
    until_done(&server, &task).await;
    let headers = &hook.received()[0].headers;
    for name in ["authorization", "x-a2a-notification-token", "a2a-notification-token", "x-agena-signature"] {
        assert!(headers.get(name).is_none(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_that_is_repeated_brings_no_second_webhook() {
    let (server, hook) = (server(quick()).await, Hook::willing().await);
    let request = json!({
        "message": {"messageId": "again", "role": "ROLE_USER", "parts": [{"text": "go"}]},
        "configuration": {"taskPushNotificationConfig": {"url": hook.url()}},
    });
    let first = server.call("POST", "/message:send", Some(&request)).await;
    let task = first["task"]["id"].as_str().unwrap();
    until_done(&server, task).await;
    let again = server.call("POST", "/message:send", Some(&request)).await;
    assert_eq!(again["task"]["id"], task);
    assert_eq!(stored(&server, task).await.len(), 1);
    until_done(&server, task).await;
    assert_in_order(&hook, &SHOWN);
}
