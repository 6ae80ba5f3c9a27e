//! What happens between two reads of one call: the task ends, or is gone. Each moment is made, not waited for.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_purged_while_it_is_listed_is_left_out() {
    let (server, kept) = asking().await;
    for _ in 0..3 {
        let made = server.say("hi", json!({}), json!({})).await;
        let path = format!("/tasks/{}:cancel", made["task"]["id"].as_str().unwrap());
        server.call("POST", &path, Some(&json!({}))).await;
    }
    let mut held = server.meddler.hold(Read::List);
    let listing = server.call("GET", "/tasks", None);
    let purging = async {
        held.reached().await;
        assert_eq!(server.store.purge(SystemTime::now() + Duration::from_secs(1)).await, Ok(3));
        held.release();
    };
    let (page, ()) = soon(async { tokio::join!(listing, purging) }).await;
    let ids: Vec<&Value> = page["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!((ids, &page["nextPageToken"]), (vec![&json!(kept)], &json!("")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_large_tasks_ends_early_and_the_next_goes_on() {
    let mut setup = A2aSetup::default();
    setup.rim.body_limit = 4 << 20;
    let server = A2aServer::start(SCRIPT, setup).await;
    let large = "x".repeat(3 << 20);
    for _ in 0..7 {
        server.say(&large, json!({}), json!({"historyLength": 0})).await;
    }
    let (mut token, mut pages, mut seen) = (String::new(), Vec::new(), std::collections::BTreeSet::new());
    loop {
        let path = format!("/tasks?pageSize=100&historyLength=10&pageToken={token}");
        let page = server.call("GET", &path, None).await;
        assert_eq!(page["totalSize"], 7);
        let tasks = page["tasks"].as_array().unwrap();
        pages.push(tasks.len());
        seen.extend(tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()));
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!((pages, seen.len()), (vec![2, 2, 2, 1], 7));
    // What is not asked for does not count.
    let page = server.call("GET", "/tasks?pageSize=100", None).await;
    assert_eq!((page["tasks"].as_array().unwrap().len(), &page["nextPageToken"]), (7, &json!("")));
}
