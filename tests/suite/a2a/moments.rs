//! What happens between two reads of one call: the task ends, or is gone. Each moment is made, not waited for.

use serde_json::json;

use crate::kit::{A2aServer, A2aSetup, Read, TOKEN, soon};

const SCRIPT: &str = "rules: [{do: [ask: Which one?]}]";

async fn asking() -> (A2aServer, String) {
    let server = A2aServer::start(SCRIPT, A2aSetup::default()).await;
    let made = server.say("hi", json!({}), json!({})).await;
    let task = made["task"]["id"].as_str().unwrap().to_owned();
    (server, task)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_ends_while_somebody_subscribes_is_one_that_has_ended() {
    let (server, task) = asking().await;
    let mut held = server.meddler.hold(Read::Head);
    let subscribe = format!("/tasks/{task}:subscribe");
    let subscribing = server.call_as(TOKEN, "GET", &subscribe, None);
    let ending = async {
        held.reached().await;
        server.call("POST", &format!("/tasks/{task}:cancel"), Some(&json!({}))).await;
        held.release();
    };
    let ((status, answer), ()) = soon(async { tokio::join!(subscribing, ending) }).await;
    assert_eq!((status, &answer["error"]["details"][0]["reason"]), (400, &json!("UNSUPPORTED_OPERATION")));
}
