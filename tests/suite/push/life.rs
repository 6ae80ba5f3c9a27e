//! Webhooks over the life of a server: what was not acknowledged before a stop comes after the start.

use std::path::Path;
use std::time::Duration;

use agena::push::Options;
use serde_json::json;

use super::hook::{Answer, Hook};
use super::{SCRIPT, SHOWN, assert_in_order, quick, send_with, stored, until_all, until_done};
use crate::kit::{A2aServer, A2aSetup};

async fn server_at(directory: &Path, push: Options) -> A2aServer {
    let journal = Some(directory.join("journal.db"));
    A2aServer::start(SCRIPT, A2aSetup { journal, push, ..A2aSetup::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_acknowledged_before_a_stop_comes_after_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let hook = Hook::start([Answer::Status(200), Answer::Hold], Answer::Status(200)).await;
    let options = Options { grace: Duration::from_millis(20), ..quick() };
    let server = server_at(directory.path(), options.clone()).await;
    let task = send_with(&server, json!({"url": hook.url()})).await;
    hook.wait(2).await;
    server.stop().await;
    assert_in_order(&hook, &SHOWN[..2]);

    let server = server_at(directory.path(), options).await;
    until_done(&server, &task).await;
    // The one that was open is sent again; before it and behind it, everything once.
    assert_in_order(&hook, &[SHOWN[0], SHOWN[1], SHOWN[1], SHOWN[2], SHOWN[3], SHOWN[4], SHOWN[5]]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_the_request_under_way_end_and_begins_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let hook = Hook::start([Answer::Hold], Answer::Status(200)).await;
    let server = server_at(directory.path(), quick()).await;
    let task = send_with(&server, json!({"url": hook.url()})).await;
    hook.wait(1).await;
    let stopping = tokio::spawn(server.stop());
    // Whether the stop or the answer is first, the rest comes in order.
    hook.release(1);
    stopping.await.unwrap();

    let server = server_at(directory.path(), quick()).await;
    until_done(&server, &task).await;
    assert_in_order(&hook, &SHOWN);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_between_attempts_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let hook = Hook::start([Answer::Status(500)], Answer::Status(200)).await;
    let day = Duration::from_hours(24);
    let patient = Options { first_delay: day, longest_delay: day, ..quick() };
    let server = server_at(directory.path(), patient.clone()).await;
    let task = send_with(&server, json!({"url": hook.url()})).await;
    let before = until_all(&server, &task, |push| push.attempts == 1).await;
    server.stop().await;
    let server = server_at(directory.path(), patient).await;
    assert_eq!(stored(&server, &task).await, before);
    assert!(server.store.next_due().await.unwrap() > Some(std::time::SystemTime::now()));
    assert_eq!(hook.received().len(), 1);
}
