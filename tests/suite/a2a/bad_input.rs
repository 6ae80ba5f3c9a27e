//! What is wrong has its exact code and names its field on every binding, and changes nothing.

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::{TESTER, server};

fn message(change: &Value) -> Value {
    let mut message = json!({"messageId": "say", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    message.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    json!({ "message": message })
}

/// RPC, request, reason, field.
fn cases(ended: &str) -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let invalid = "INVALID_ARGUMENT";
    let with = |configuration: Value| {
        let mut request = message(&json!({}));
        request["configuration"] = configuration;
        request
    };
    let hook = |url: &str| json!({"taskId": ended, "url": url});
    vec![
        ("SendMessage", json!({}), invalid, "message"),
        ("SendMessage", message(&json!({"messageId": ""})), invalid, "message.messageId"),
        ("SendMessage", message(&json!({"role": "ROLE_UNSPECIFIED"})), invalid, "message.role"),
        ("SendMessage", message(&json!({"role": "ROLE_AGENT"})), invalid, "message.role"),
        ("SendMessage", message(&json!({"parts": []})), invalid, "message.parts"),
        ("SendMessage", message(&json!({"parts": [{"text": "a"}, {}]})), invalid, "message.parts[1]"),
        (
            "SendMessage",
            message(&json!({"parts": [{"text": "a", "mediaType": "image/png"}]})),
            "CONTENT_TYPE_NOT_SUPPORTED",
            "",
        ),
        (
            "SendMessage",
            message(&json!({"parts": [{"url": "https://example.com/"}]})),
            "CONTENT_TYPE_NOT_SUPPORTED",
            "",
        ),
        ("SendMessage", message(&json!({"taskId": "nope"})), "TASK_NOT_FOUND", ""),
        (
            "SendMessage",
            message(&json!({"taskId": ended, "contextId": "another"})),
            invalid,
            "message.contextId",
        ),
        ("SendMessage", message(&json!({"taskId": ended})), "UNSUPPORTED_OPERATION", ""),
        ("SendMessage", with(json!({"historyLength": -1})), invalid, "configuration.historyLength"),
        (
            "SendMessage",
            with(json!({"taskPushNotificationConfig": {"url": "ftp://x/"}})),
            invalid,
            "configuration.taskPushNotificationConfig.url",
        ),
        ("SendStreamingMessage", message(&json!({"messageId": ""})), invalid, "message.messageId"),
        ("SendStreamingMessage", message(&json!({"taskId": "nope"})), "TASK_NOT_FOUND", ""),
        ("GetTask", json!({"id": "nope"}), "TASK_NOT_FOUND", ""),
        ("GetTask", json!({"id": ended, "historyLength": -1}), invalid, "historyLength"),
        ("ListTasks", json!({"pageSize": 0}), invalid, "pageSize"),
        ("ListTasks", json!({"pageSize": 101}), invalid, "pageSize"),
        ("ListTasks", json!({"pageToken": "made-up"}), invalid, "pageToken"),
        ("ListTasks", json!({"historyLength": -5}), invalid, "historyLength"),
        ("CancelTask", json!({"id": "nope"}), "TASK_NOT_FOUND", ""),
        ("CancelTask", json!({"id": ended}), "TASK_NOT_CANCELABLE", ""),
        ("SubscribeToTask", json!({"id": "nope"}), "TASK_NOT_FOUND", ""),
        ("SubscribeToTask", json!({"id": ended}), "UNSUPPORTED_OPERATION", ""),
        ("CreateTaskPushNotificationConfig", hook("http://10.0.0.1/"), invalid, "url"),
        ("CreateTaskPushNotificationConfig", hook("http://user:pass@127.0.0.1/"), invalid, "url"),
        (
            "CreateTaskPushNotificationConfig",
            json!({"taskId": "nope", "url": "http://127.0.0.1/"}),
            "TASK_NOT_FOUND",
            "",
        ),
        ("GetTaskPushNotificationConfig", json!({"taskId": ended, "id": "nope"}), "TASK_NOT_FOUND", ""),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_has_its_code_and_changes_nothing() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let made = client.call(Binding::Grpc, "SendMessage", &message(&json!({}))).await;
    let ended = made.answers[0]["task"]["id"].as_str().unwrap().to_owned();
    let before = client.call(Binding::Grpc, "ListTasks", &json!({"historyLength": 100})).await;
    for (rpc, request, reason, field) in cases(&ended) {
        for binding in Binding::ALL {
            let outcome = client.call(binding, rpc, &request).await;
            let error = outcome.error.unwrap_or_else(|| panic!("{rpc} {request} passes over {binding:?}"));
            assert_eq!(error["details"][0]["reason"], reason, "{rpc} {request} over {binding:?}: {error}");
            let blamed = error["details"][1]["fieldViolations"][0]["field"].as_str().unwrap_or_default();
            assert_eq!(blamed, field, "{rpc} {request} over {binding:?}");
        }
    }
    assert_eq!(client.call(Binding::Grpc, "ListTasks", &json!({"historyLength": 100})).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_card_does_not_offer_is_refused_as_a2a_says() {
    let off = ["a2a.streaming=false", "a2a.push_notifications=false", "a2a.extended_card=false"];
    let mut options: Vec<&str> = off.iter().flat_map(|setting| ["--set", setting]).collect();
    options.extend(["--set", r#"a2a.extensions=[{uri="urn:needed", required=true}]"#]);
    let server = crate::kit::process::Running::start_in(super::home(), &options);
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let refused = client.call(binding, "GetTask", &json!({"id": "x"})).await.error.unwrap();
        assert_eq!(refused["details"][0]["reason"], "EXTENSION_SUPPORT_REQUIRED", "{binding:?}");
    }
    let named = [("a2a-version", "1.0"), ("a2a-extensions", "urn:other, urn:needed")];
    for (method, params, code) in [
        ("SendStreamingMessage", message(&json!({})), -32004),
        ("SubscribeToTask", json!({"id": "x"}), -32004),
        ("CreateTaskPushNotificationConfig", json!({"taskId": "x", "url": "https://example.com"}), -32003),
        ("GetExtendedAgentCard", json!({}), -32004),
        ("GetTask", json!({"id": "x"}), -32001),
        ("NoSuchMethod", json!({}), -32601),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = client.post(&named, &body).await;
        assert_eq!(answer[0]["error"]["code"], code, "{method}: {answer:?}");
    }
    let other = [("a2a-version", "7.0"), ("a2a-extensions", "urn:needed")];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}});
    assert_eq!(client.post(&other, &body).await[0]["error"]["code"], -32009);
}
