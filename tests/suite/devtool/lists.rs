//! What a console shows beside a task: lists that are live, what waits, what was allowed, what was spent.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::client::{Binding, Client};
use super::{asking, confirmation, script, shell};
use crate::a2a::{TESTER, server};
use crate::kit::soon;

fn ids<'a>(page: &'a Value, list: &str, id: &str) -> Vec<&'a str> {
    page[list]
        .as_array()
        .map(|items| items.iter().map(|item| item[id].as_str().unwrap()).collect())
        .unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn contexts_and_their_tasks_are_listed_in_pages() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let mut contexts = Vec::new();
    for number in 0..3 {
        let start = json!({"prompt": format!("Number {number}\nmore")});
        let told = client.call(Binding::Grpc, "StartTask", start).await.answers;
        contexts.push(told[0]["update"]["context_id"].clone());
    }
    let again = json!({"prompt": "Again", "context_id": contexts[0]});
    client.call(Binding::Grpc, "StartTask", again).await;
    for binding in Binding::ALL {
        let first = client.one(binding, "ListContexts", json!({"page_size": 2})).await;
        assert_eq!(ids(&first, "contexts", "context_id"), [&contexts[0], &contexts[2]], "{binding:?}");
        assert_eq!(
            (&first["contexts"][0]["title"], &first["contexts"][0]["tasks"]),
            (&json!("Number 0"), &json!("2"))
        );
        assert_eq!(first["contexts"][0]["state"], "TASK_STATE_COMPLETED");
        let token = first["next_page_token"].clone();
        let rest = client.one(binding, "ListContexts", json!({"page_size": 2, "page_token": token})).await;
        assert_eq!(ids(&rest, "contexts", "context_id"), [&contexts[1]]);
        // A token of one list is none of another.
        let refused = client.refused(binding, "ListTasks", json!({"page_token": token})).await;
        assert_eq!(refused.1, "page_token");
        let tasks =
            client.one(binding, "ListTasks", json!({"context_id": contexts[0], "page_size": 1})).await;
        assert_eq!((&tasks["tasks"][0]["title"], &tasks["total_size"]), (&json!("Again"), &json!("2")));
        let token = tasks["next_page_token"].clone();
        let rest = json!({"context_id": contexts[0], "page_size": 1, "page_token": token});
        let rest = client.one(binding, "ListTasks", rest).await;
        assert_eq!((ids(&rest, "tasks", "title"), rest.get("next_page_token")), (vec!["Number 0"], None));
        let open = client.one(binding, "ListTasks", json!({"open": true})).await;
        assert!(open.get("tasks").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_listed_across_tasks() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (one, context, call) = asking(&client, binding, &shell()).await;
        let (two, ..) = asking(&client, binding, &shell()).await;
        let page = client.one(binding, "ListPendingConfirmations", json!({})).await;
        assert_eq!(ids(&page, "confirmations", "task_id"), [two.as_str(), one.as_str()]);
        assert_eq!(page["confirmations"][1]["tool_call"], call);
        let here = client.one(binding, "ListPendingConfirmations", json!({"context_id": context})).await;
        assert_eq!(ids(&here, "confirmations", "task_id"), [one.as_str()]);
        for task in [one, two] {
            client.one(binding, "CancelTask", json!({"task_id": task})).await;
        }
        let none = client.one(binding, "ListPendingConfirmations", json!({})).await;
        assert_eq!(none, json!({}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_listed_and_revoked() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (task, context, call) = asking(&client, binding, &shell()).await;
        let always = confirmation(&task, &call, "proceed_always", json!({}));
        client.one(binding, "ConfirmToolCall", always).await;
        client.call(binding, "FollowTask", json!({"task_id": task})).await;
        let all = client.one(binding, "ListRules", json!({})).await;
        let here = client.one(binding, "ListRules", json!({"context_id": context})).await;
        assert_eq!(all, here, "{binding:?}");
        let rule = &here["rules"][0];
        assert_eq!((&rule["subject"], &rule["kind"]), (&json!("the command `echo`"), &json!("ALLOW_ALWAYS")));
        // It holds: nobody is asked again.
        let again = json!({"prompt": shell(), "context_id": context});
        let told = client.call(binding, "StartTask", again.clone()).await.answers;
        assert_eq!(super::state(told.last().unwrap()), "TASK_STATE_COMPLETED");
        let revoke = json!({"context_id": context, "rule_id": rule["rule_id"]});
        client.one(binding, "RevokeRule", revoke.clone()).await;
        assert_eq!(client.refused(binding, "RevokeRule", revoke).await.0, "RULE_NOT_FOUND");
        assert_eq!(client.one(binding, "ListRules", json!({})).await, json!({}));
        let told = client.call(binding, "StartTask", again).await.answers;
        assert_eq!(super::state(told.last().unwrap()), "TASK_STATE_INPUT_REQUIRED");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_is_counted() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let (task, context, call) = asking(&client, Binding::Grpc, &shell()).await;
    client.one(Binding::Grpc, "ConfirmToolCall", confirmation(&task, &call, "proceed_once", json!({}))).await;
    let told = client.call(Binding::Grpc, "FollowTask", json!({"task_id": task})).await.answers;
    let (other, _, call) = asking(
        &client,
        Binding::Grpc,
        &script("- call: {tool: run_shell_command, with: {command: echo no}}"),
    )
    .await;
    client.one(Binding::Grpc, "ConfirmToolCall", confirmation(&other, &call, "cancel", json!({}))).await;
    client.call(Binding::Grpc, "FollowTask", json!({"task_id": other})).await;
    let spent: i64 = told
        .iter()
        .filter_map(|answer| answer["update"]["usage"]["output_tokens"].as_str())
        .map(|tokens| tokens.parse::<i64>().unwrap())
        .sum();
    for binding in Binding::ALL {
        let all = client.one(binding, "GetStatistics", json!({})).await["statistics"].clone();
        assert_eq!((&all["tasks"], &all["complete"]), (&json!("2"), &json!(true)));
        assert_eq!(
            all["tools"],
            json!([{"tool_name": "run_shell_command", "succeeded": "1", "cancelled": "1"}])
        );
        let here =
            client.one(binding, "GetStatistics", json!({"context_id": context})).await["statistics"].clone();
        assert_eq!(here["states"], json!([{"state": "TASK_STATE_COMPLETED", "tasks": "1"}]));
        let counted = here["usage"].as_array().into_iter().flatten();
        let counted: i64 = counted
            .filter_map(|usage| usage["output_tokens"].as_str())
            .map(|n| n.parse::<i64>().unwrap())
            .sum();
        assert_eq!(counted, spent);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_sees_tasks_appear_ask_and_end() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let (watcher, caught_up) = (client.clone(), Arc::new(Notify::new()));
        let told = Arc::clone(&caught_up);
        let watching = tokio::spawn(async move {
            let enough = |seen: &[Value]| {
                let last = seen.last().unwrap();
                if last["caught_up"] == true {
                    told.notify_one();
                }
                last["task"]["state"] == "TASK_STATE_CANCELED"
            };
            watcher.until(binding, "WatchTasks", json!({}), &enough).await.answers
        });
        soon(caught_up.notified()).await;
        let (task, ..) = asking(&client, binding, &shell()).await;
        // Whoever comes later is told of what is open, and then that this was all.
        let late = client.take(binding, "WatchTasks", json!({}), 2).await.answers;
        let all = json!({"caught_up": true, "as_of": late[1]["as_of"]});
        assert_eq!((&late[0]["task"]["task_id"], &late[1]), (&json!(task), &all));
        // And until when: from there on it can be gone on.
        let as_of = |answer: &Value| answer["as_of"].as_str().map(str::to_owned);
        assert!(as_of(&late[1]) >= late[0]["task"]["update_time"].as_str().map(str::to_owned), "{late:?}");
        assert_eq!(late[0]["task"]["pending_confirmations"], 1);
        client.one(binding, "CancelTask", json!({"task_id": task})).await;
        let seen = soon(watching).await.unwrap();
        let tasks = seen.iter().filter_map(|answer| answer.get("task"));
        assert!(tasks.clone().all(|seen| seen["task_id"] == json!(task)), "{binding:?}: {seen:#?}");
        assert!(tasks.clone().any(|seen| seen["pending_confirmations"] == 1), "{binding:?}: {seen:#?}");
        let since = json!({"since": "2020-01-01T00:00:00Z"});
        let ended = client.take(binding, "WatchTasks", since, 1).await.answers;
        assert_eq!(ended[0]["task"]["state"], "TASK_STATE_CANCELED");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_sees_tasks_that_were_only_opened() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let open = async || -> Value {
        let request = crate::kit::http().post(format!("{}/tasks", server.url)).bearer_auth(TESTER);
        soon(request.json(&json!({})).send()).await.unwrap().json().await.unwrap()
    };
    for binding in Binding::ALL {
        let (watcher, caught_up) = (client.clone(), Arc::new(Notify::new()));
        let told = Arc::clone(&caught_up);
        let watching = tokio::spawn(async move {
            let enough = |seen: &[Value]| {
                let caught_up = seen.iter().position(|answer| answer["caught_up"] == true);
                caught_up.is_some().then(|| told.notify_one());
                caught_up.is_some_and(|at| seen.len() > at + 1)
            };
            watcher.until(binding, "WatchTasks", json!({}), &enough).await.answers
        });
        soon(caught_up.notified()).await;
        let task = open().await;
        let seen = soon(watching).await.unwrap();
        let last = &seen.last().unwrap()["task"];
        assert_eq!(
            (&last["task_id"], &last["state"]),
            (&task, &json!("TASK_STATE_SUBMITTED")),
            "{binding:?}"
        );
        let late = client.take(binding, "WatchTasks", json!({}), 1).await.answers;
        assert_eq!(late[0]["task"]["task_id"], task, "{binding:?}");
    }
}
