//! Places are shared: whoever has many slow webhooks waits for himself, not others for him.

use agena::push::Options;
use serde_json::{Value, json};

use super::hook::{Answer, Hook};
use super::{create, quick, send_with, server, waiting_task};
use crate::kit::{A2aServer, OTHER};

fn places() -> Options {
    Options { parallel: 8, per_principal: 4, per_host: 2, ..quick() }
}

/// A task with as many webhooks as it may have, all of them at one place that never answers, and something to tell.
async fn stuck(server: &A2aServer, hook: &Hook) {
    let task = waiting_task(server).await;
    for id in 0..16 {
        create(server, &task, json!({"url": hook.url(), "id": id.to_string()})).await;
    }
    server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
}

async fn tarpit() -> Hook {
    Hook::start([], Answer::Hold).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_host_holds_up_no_other() {
    let (server, slow, fast) = (server(places()).await, tarpit().await, Hook::willing().await);
    stuck(&server, &slow).await;
    slow.wait(2).await;
    send_with(&server, json!({"url": fast.url()})).await;
    fast.wait(6).await;
    assert_eq!((slow.received().len(), slow.most_open()), (2, 2), "and has no more than its places");
    slow.release(1);
    slow.wait(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_principal_with_slow_hosts_holds_up_no_other() {
    let (server, fast) = (server(places()).await, Hook::willing().await);
    let slow = [tarpit().await, tarpit().await, tarpit().await];
    for hook in &slow {
        stuck(&server, hook).await;
    }
    slow[0].wait(2).await;
    slow[1].wait(2).await;
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "go"}]});
    let configuration: Value = json!({"taskPushNotificationConfig": {"url": fast.url()}});
    let send = json!({"message": message, "configuration": configuration});
    let (status, _) = server.call_as(OTHER, "POST", "/message:send", Some(&send)).await;
    assert_eq!(status, 200);
    fast.wait(6).await;
    assert_eq!(slow[2].received().len(), 0, "all places of the principal are taken");
    slow[0].release(16);
    slow[2].wait(2).await;
}
