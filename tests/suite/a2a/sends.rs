//! Sends that come again, that leave early, or that are refused: a message is said once, whole, or not at all.

use std::time::Duration;

use agena::proto::a2a::{
    Message, Part, Role, SendMessageConfiguration, SendMessageRequest, TaskPushNotificationConfig,
};
use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::{TESTER, server};

fn send(id: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": "hi"}]}})
}

fn to(task: &Value, id: &str) -> Value {
    let mut send = send(id);
    send["message"]["taskId"] = task["id"].clone();
    send
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_again_gets_the_same_task() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let id = format!("say-{binding:?}");
        for rpc in ["SendMessage", "SendStreamingMessage"] {
            let first = client.call(binding, rpc, &send(&id)).await;
            assert_eq!(client.call(binding, rpc, &send(&id)).await, first, "{rpc} over {binding:?}");
            let mut other = send(&id);
            other["message"]["parts"][0]["text"] = json!(format!("other words for {rpc}"));
            let other = client.call(binding, rpc, &other).await;
            assert_ne!(other.answers[0]["task"]["id"], first.answers[0]["task"]["id"]);
        }
    }
}

/// The answer was lost, so the client asks again, and its task has ended meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_that_comes_again_gets_the_same_task_also_when_it_has_ended() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for binding in Binding::ALL {
        let asked = client.call(binding, "SendMessage", &send(&format!("ask-{binding:?}"))).await;
        let task = asked.answers[0]["task"].clone();
        let first = client.call(binding, "SendMessage", &to(&task, "quick")).await;
        assert_eq!(first.answers[0]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{first:?}");
        assert_eq!(client.call(binding, "SendMessage", &to(&task, "quick")).await, first, "{binding:?}");
        let streamed = client.call(binding, "SendStreamingMessage", &to(&task, "quick")).await;
        assert_eq!(streamed.error, None);
        let last = &streamed.answers.last().unwrap()["statusUpdate"]["status"]["state"];
        assert_eq!(last, "TASK_STATE_COMPLETED", "{binding:?}");
        // Another message is too late.
        let late = client.call(binding, "SendMessage", &to(&task, "quick-2")).await.error.unwrap();
        assert_eq!(late["details"][0]["reason"], "UNSUPPORTED_OPERATION");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_whose_webhook_is_refused_says_nothing() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let task = client.call(Binding::Grpc, "SendMessage", &send("ask")).await.answers[0]["task"].clone();
    let hook = |n: usize| json!({"taskId": task["id"], "id": n.to_string(), "url": "http://127.0.0.1:9/"});
    let hooks: Vec<Value> = (0..40).map(hook).collect();
    let create = |hook| client.call(Binding::Grpc, "CreateTaskPushNotificationConfig", hook);
    let made = futures::future::join_all(hooks.iter().map(create)).await;
    assert_eq!(made.iter().filter(|one| one.error.is_none()).count(), 16, "also when they come at once");
    let before = client.call(Binding::Grpc, "GetTask", &json!({"id": task["id"]})).await;
    for binding in Binding::ALL {
        let mut refused = to(&task, &format!("quick-{binding:?}"));
        refused["configuration"] = json!({"taskPushNotificationConfig": {"url": "http://127.0.0.1:9/more"}});
        let error = client.call(binding, "SendMessage", &refused).await.error.unwrap();
        let field = &error["details"][1]["fieldViolations"][0]["field"];
        assert_eq!(field, "configuration.taskPushNotificationConfig", "{binding:?}: {error}");
        assert_eq!(client.call(binding, "GetTask", &json!({"id": task["id"]})).await, before, "{binding:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repetition_may_bring_a_webhook_and_brings_it_once() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let task = client.call(Binding::Grpc, "SendMessage", &send("ask")).await.answers[0]["task"].clone();
    let mut hooked = send("ask");
    hooked["configuration"] = json!({"taskPushNotificationConfig": {"url": "http://127.0.0.1:9/"}});
    for binding in Binding::ALL {
        let again = client.call(binding, "SendMessage", &hooked).await;
        assert_eq!(again.answers[0]["task"]["id"], task["id"], "{binding:?}");
    }
    let hooks = json!({"taskId": task["id"]});
    let hooks = client.call(Binding::Grpc, "ListTaskPushNotificationConfigs", &hooks).await;
    assert_eq!(hooks.answers[0]["configs"].as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_while_its_task_begins_leaves_a_task_that_runs_with_its_webhook() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    for n in 0..300 {
        let message = Message {
            message_id: format!("quick-{n}"),
            role: Role::User.into(),
            parts: vec![Part::text("hi")],
            ..Message::default()
        };
        let push = TaskPushNotificationConfig { url: "http://127.0.0.1:9/".to_owned(), ..Default::default() };
        let configuration = SendMessageConfiguration {
            task_push_notification_config: Some(push),
            ..SendMessageConfiguration::default()
        };
        let configuration = Some(configuration);
        let request = SendMessageRequest { message: Some(message), configuration, ..Default::default() };
        let request = client.request(request);
        let mut to = client.grpc();
        // Gone after anything from nothing to long enough, so that some leave in the middle of the first commit.
        let _ = tokio::time::timeout(Duration::from_micros(n * 10), to.send_message(request)).await;
    }
    let list = |state: &str| json!({"status": state, "pageSize": 1});
    let count = |answer: &Value| answer["totalSize"].as_u64().unwrap();
    let started = tokio::time::Instant::now();
    loop {
        let completed = client.call(Binding::Rest, "ListTasks", &list("TASK_STATE_COMPLETED")).await;
        let all = client.call(Binding::Rest, "ListTasks", &json!({"pageSize": 1})).await;
        let (completed, all) = (count(&completed.answers[0]), count(&all.answers[0]));
        if completed == all && all > 0 {
            break;
        }
        assert!(started.elapsed() < crate::kit::DEADLINE, "{completed} of {all} tasks completed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut token = json!("");
    loop {
        let list = json!({"pageSize": 100, "pageToken": token});
        let page = client.call(Binding::Grpc, "ListTasks", &list).await.answers.remove(0);
        for task in page["tasks"].as_array().unwrap() {
            let hooks = json!({"taskId": task["id"]});
            let hooks = client.call(Binding::Grpc, "ListTaskPushNotificationConfigs", &hooks).await;
            assert_eq!(hooks.answers[0]["configs"].as_array().map(Vec::len), Some(1), "{task}");
        }
        token = page["nextPageToken"].clone();
        if token == "" {
            break;
        }
    }
}
