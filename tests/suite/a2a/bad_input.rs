//! What is wrong has its exact code and names its field on every binding, and changes nothing.

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::{TESTER, server};

fn message(change: &Value) -> Value {
    let mut message = json!({"messageId": "say", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    message.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    json!({ "message": message })
}

/// RPC, request, reason, field. The client holds the codes of each binding against the reason. `ENDED` is a task that has ended.
const CASES: &str = include_str!("bad_input.json");

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_has_its_code_and_changes_nothing() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let made = client.call(Binding::Grpc, "SendMessage", &message(&json!({}))).await;
    let ended = made.answers[0]["task"]["id"].as_str().unwrap().to_owned();
    let before = client.call(Binding::Grpc, "ListTasks", &json!({"historyLength": 100})).await;
    let cases: Vec<(String, Value, String, String)> =
        serde_json::from_str(&CASES.replace("ENDED", &ended)).unwrap();
    for (rpc, request, reason, field) in &cases {
        for binding in Binding::ALL {
            let outcome = client.call(binding, rpc, request).await;
            let error = outcome.error.unwrap_or_else(|| panic!("{rpc} {request} passes over {binding:?}"));
            assert_eq!(error["details"][0]["reason"], *reason, "{rpc} {request} over {binding:?}: {error}");
            let blamed = error["details"][1]["fieldViolations"][0]["field"].as_str().unwrap_or_default();
            assert_eq!(blamed, *field, "{rpc} {request} over {binding:?}");
        }
    }
    assert_eq!(client.call(Binding::Grpc, "ListTasks", &json!({"historyLength": 100})).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_long_or_too_many_is_refused_by_its_field() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let made = client.call(Binding::Grpc, "SendMessage", &message(&json!({"messageId": "ask"}))).await;
    let task = made.answers[0]["task"]["id"].clone();
    let before = client.call(Binding::Grpc, "ListTasks", &json!({})).await;
    let long = |bytes: usize| "x".repeat(bytes + 1);
    let url = |bytes: usize| format!("{:x<1$}", "http://127.0.0.1/", bytes + 1);
    let hook = |change: Value| {
        let mut hook = json!({"taskId": task, "url": "http://127.0.0.1/"});
        hook.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        hook
    };
    let (send, create) = ("SendMessage", "CreateTaskPushNotificationConfig");
    let mut hooked = message(&json!({}));
    hooked["configuration"] = json!({"taskPushNotificationConfig": hook(json!({"url": url(2048)}))});
    let credentials = json!({"scheme": "Bearer", "credentials": long(4096)});
    for (rpc, request, field) in [
        (send, message(&json!({"messageId": long(256)})), "message.messageId"),
        (send, message(&json!({"contextId": long(256)})), "message.contextId"),
        (send, message(&json!({"taskId": long(256)})), "message.taskId"),
        (send, message(&json!({"referenceTaskIds": ["a", long(256)]})), "message.referenceTaskIds[1]"),
        (send, message(&json!({"referenceTaskIds": vec!["a"; 65]})), "message.referenceTaskIds"),
        (send, message(&json!({"parts": vec![json!({"text": ""}); 1001]})), "message.parts"),
        (send, hooked, "configuration.taskPushNotificationConfig.url"),
        ("SendStreamingMessage", message(&json!({"messageId": long(256)})), "message.messageId"),
        ("ListTasks", json!({"contextId": long(256)}), "contextId"),
        (create, hook(json!({"id": long(256)})), "id"),
        (create, hook(json!({"url": url(2048)})), "url"),
        (create, hook(json!({"token": long(4096)})), "token"),
        (create, hook(json!({"authentication": credentials})), "authentication.credentials"),
    ] {
        for binding in Binding::ALL {
            let error = client.call(binding, rpc, &request).await.error;
            let error = error.unwrap_or_else(|| panic!("{rpc} with a large {field} passes over {binding:?}"));
            assert_eq!(error["details"][1]["fieldViolations"][0]["field"], field, "{binding:?}: {error}");
        }
    }
    assert_eq!(client.call(Binding::Grpc, "ListTasks", &json!({})).await, before);
    // What is just not too long is taken.
    let fits = hook(json!({"id": "x".repeat(256), "url": url(2047), "token": "t".repeat(4096)}));
    assert_eq!(client.call(Binding::Grpc, create, &fits).await.error, None);
    let fits = json!({"messageId": "y".repeat(256), "contextId": "c".repeat(256)});
    assert_eq!(client.call(Binding::Grpc, send, &message(&fits)).await.error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_rpc_hears_the_version_in_the_query_too() {
    let server = server();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}});
    for (query, code) in [("", -32009), ("?A2A-Version=1.0", -32001), ("?A2A-Version=7.0", -32009)] {
        let post = crate::kit::http().post(format!("{}/a2a/rpc{query}", server.url)).bearer_auth(TESTER);
        let answer = post.json(&body).send().await.unwrap().text().await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], code, "{query}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_an_id_is_answered_all_the_same() {
    let server = server();
    for (method, params, code) in [
        ("SendMessage", message(&json!({})), None),
        ("GetTask", json!({"id": "x"}), Some(-32001)),
        ("x", json!({}), Some(-32601)),
    ] {
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let post = crate::kit::http().post(&server.url).bearer_auth(TESTER).header("a2a-version", "1.0");
        let response = post.json(&body).send().await.unwrap();
        assert_eq!(response.status(), 200, "{method}");
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(answer["id"], Value::Null, "{answer}");
        assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
    }
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

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_on_the_way_to_json_rpc_is_refused_in_its_envelope() {
    let server = server();
    let post = |path: &str| crate::kit::http().post(format!("{}{path}", server.url)).body("{}");
    let plain = |path: &str| post(path).bearer_auth(TESTER).header("content-type", "text/plain");
    let keyless = |path: &str| post(path).header("content-type", "application/json");
    for path in ["/", "/a2a/rpc", "/a2a/rpc/"] {
        for (request, status, code) in [(plain(path), 415, -32005), (keyless(path), 401, -32600)] {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), status, "{path}");
            let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
            assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &Value::Null), "{path}: {body}");
            assert_eq!(body["error"]["code"], code, "{path}: {body}");
        }
    }
}
