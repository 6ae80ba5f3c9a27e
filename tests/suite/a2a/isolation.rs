//! Two principals: what belongs to one looks missing to the other, on every binding and with every operation.

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::{OTHER, TESTER, home, server};
use crate::kit::process::Running;

const MISSING: &str = "00000000-0000-7000-8000-000000000000";

fn message(id: &str, place: Value) -> Value {
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    message.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    json!({ "message": message })
}

/// Every operation that names a task.
fn operations(task: &str) -> Vec<(&'static str, Value)> {
    let named = json!({"taskId": task, "id": "h"});
    vec![
        ("GetTask", json!({"id": task})),
        ("CancelTask", json!({"id": task})),
        ("SubscribeToTask", json!({"id": task})),
        ("SendMessage", message("say-1", json!({"taskId": task}))),
        ("SendStreamingMessage", message("say-2", json!({"taskId": task}))),
        ("CreateTaskPushNotificationConfig", json!({"taskId": task, "url": "http://127.0.0.1:9/"})),
        ("GetTaskPushNotificationConfig", named.clone()),
        ("ListTaskPushNotificationConfigs", json!({"taskId": task})),
        ("DeleteTaskPushNotificationConfig", named),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn anothers_task_is_a_task_that_does_not_exist() {
    let server = server();
    let mine = Client::new(&server.url, TESTER).await;
    let theirs = Client::new(&server.url, OTHER).await;
    let made = mine.call(Binding::Grpc, "SendMessage", &message("ask", json!({}))).await;
    let task = made.answers[0]["task"]["id"].as_str().unwrap().to_owned();
    let hook = json!({"taskId": task, "id": "h", "url": "http://127.0.0.1:9/"});
    assert!(mine.call(Binding::Grpc, "CreateTaskPushNotificationConfig", &hook).await.error.is_none());
    for binding in Binding::ALL {
        for ((rpc, foreign), (_, missing)) in operations(&task).into_iter().zip(operations(MISSING)) {
            let seen = theirs.call(binding, rpc, &foreign).await;
            assert_eq!(seen, theirs.call(binding, rpc, &missing).await, "{rpc} over {binding:?}");
            assert_eq!(
                seen.error.unwrap()["details"][0]["reason"],
                "TASK_NOT_FOUND",
                "{rpc} over {binding:?}"
            );
        }
        let listed = theirs.call(binding, "ListTasks", &json!({})).await;
        assert_eq!(listed.answers[0]["totalSize"], 0, "{binding:?}");
    }
    let still = mine.call(Binding::Rest, "GetTask", &json!({"id": task})).await;
    assert_eq!(still.answers[0]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "nothing has changed");
    let hooks = mine.call(Binding::Rest, "ListTaskPushNotificationConfigs", &json!({"taskId": task})).await;
    assert_eq!(hooks.answers[0]["configs"].as_array().unwrap().len(), 1);
}

/// The same request, for a tenant; without a name, for the one that has none.
fn of_tenant(mut request: Value, tenant: &str) -> Value {
    if !tenant.is_empty() {
        request["tenant"] = json!(tenant);
    }
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn another_tenants_task_is_a_task_that_does_not_exist() {
    let server = Running::start_in(home(), &["--set", r#"a2a.tenants=["acme", "b.2"]"#]);
    let client = Client::new(&server.url, TESTER).await;
    let tenants = ["", "acme", "b.2"];
    for (round, binding) in Binding::ALL.into_iter().enumerate() {
        let mut tasks = Vec::new();
        for tenant in tenants {
            let ask = of_tenant(message(&format!("ask-{round}"), json!({"contextId": "c"})), tenant);
            let made = client.call(binding, "SendMessage", &ask).await;
            let task = made.answers[0]["task"]["id"].as_str().unwrap().to_owned();
            assert!(!tasks.contains(&task), "the same message to another tenant is another message");
            let hook = json!({"taskId": task, "id": "h", "url": "http://127.0.0.1:9/"});
            let hooked =
                client.call(binding, "CreateTaskPushNotificationConfig", &of_tenant(hook, tenant)).await;
            assert_eq!(hooked.error, None);
            tasks.push(task);
        }
        for (tenant, mine) in tenants.into_iter().zip(&tasks) {
            for foreign in tasks.iter().filter(|task| *task != mine) {
                for (rpc, request) in operations(foreign) {
                    let seen = client.call(binding, rpc, &of_tenant(request, tenant)).await;
                    let seen = seen.error.unwrap_or_else(|| panic!("{rpc} over {binding:?}"));
                    assert_eq!(seen["details"][0]["reason"], "TASK_NOT_FOUND", "{rpc} over {binding:?}");
                }
            }
            let got = client.call(binding, "GetTask", &of_tenant(json!({"id": mine}), tenant)).await;
            assert_eq!(got.answers[0]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{tenant}");
            let listed = client.call(binding, "ListTasks", &of_tenant(json!({}), tenant)).await;
            assert_eq!(listed.answers[0]["totalSize"], round + 1, "{tenant} over {binding:?}");
        }
        for unknown in ["ACME", "nobody"] {
            let refused = client.call(binding, "ListTasks", &json!({"tenant": unknown})).await.error.unwrap();
            assert_eq!(refused["details"][1]["fieldViolations"][0]["field"], "tenant", "{binding:?}");
        }
    }
    // Nor does a reference lead from one tenant to another.
    let made =
        client.call(Binding::Grpc, "SendMessage", &of_tenant(message("many", json!({})), "acme")).await;
    let refers = message("refine", json!({"referenceTaskIds": [made.answers[0]["task"]["id"]]}));
    for (tenant, name) in [("acme", json!("list.txt")), ("b.2", Value::Null)] {
        let task = client.call(Binding::Grpc, "SendMessage", &of_tenant(refers.clone(), tenant)).await;
        assert_eq!(task.answers[0]["task"]["artifacts"][0]["name"], name, "{tenant}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn contexts_and_page_tokens_are_nobody_elses_either() {
    let server = server();
    let mine = Client::new(&server.url, TESTER).await;
    let theirs = Client::new(&server.url, OTHER).await;
    for id in ["say-1", "say-2"] {
        mine.call(Binding::Rest, "SendMessage", &message(id, json!({"contextId": "shared"}))).await;
    }
    let page = mine.call(Binding::Rest, "ListTasks", &json!({"pageSize": 1})).await;
    let token = page.answers[0]["nextPageToken"].as_str().unwrap().to_owned();
    let next = json!({"pageSize": 1, "pageToken": token});
    assert_eq!(
        mine.call(Binding::Rest, "ListTasks", &next).await.answers[0]["tasks"].as_array().unwrap().len(),
        1
    );
    let other_filter = json!({"pageSize": 1, "pageToken": token, "contextId": "shared"});
    for (client, request) in [(&theirs, &next), (&mine, &other_filter)] {
        let error = client.call(Binding::Rest, "ListTasks", request).await.error.unwrap();
        assert_eq!(error["details"][1]["fieldViolations"][0]["field"], "pageToken");
    }
    // The same name of a context is another context for another principal, and what happened there is not told.
    let answer =
        theirs.call(Binding::Rest, "SendMessage", &message("refine", json!({"contextId": "shared"}))).await;
    assert_eq!(answer.answers[0]["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    let listed = theirs.call(Binding::Rest, "ListTasks", &json!({"contextId": "shared"})).await;
    assert_eq!(listed.answers[0]["totalSize"], 1);
    // A reference to another's task is a reference to nothing.
    let made = mine.call(Binding::Rest, "SendMessage", &message("many", json!({}))).await;
    let refers = message("refine-2", json!({"referenceTaskIds": [made.answers[0]["task"]["id"]]}));
    for (client, name) in [(&mine, json!("list.txt")), (&theirs, Value::Null)] {
        let task = &client.call(Binding::Rest, "SendMessage", &refers).await.answers[0]["task"];
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(task["artifacts"][0]["name"], name, "{task}");
    }
}
