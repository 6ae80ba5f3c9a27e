//! Webhooks, from a real server to a real receiver: what arrives, in which order, how often, and what never does.

mod addresses;
mod bodies;
mod fair;
mod hook;
mod life;
mod retries;

use std::time::Duration;

use agena::domain::store::{Push, PushState};
use agena::push::Options;
use serde_json::{Value, json};

use crate::kit::{A2aServer, A2aSetup, DEADLINE};
use hook::Hook;

/// Asks at first, so that a webhook can be attached; then does everything that events can tell of.
const SCRIPT: &str = "
rules:
- when: {text: begin}
  do: [ask: Which one?]
- when: {text: go}
  do:
  - think: {subject: s, description: d}
  - say: [one, ' two']
  - artifact: {name: a, text: ['x', 'y']}
  - complete: done
";
/// What `SCRIPT` comes to behind a first message, where 1.0 shows it: working, two pieces of text, two of an
/// artifact, completed. The beginning of the turn is 3, the thought 5, the message of the agent 10.
const SHOWN: [u64; 6] = [4, 6, 7, 8, 9, 11];

/// Loopback allowed, and no time to lose.
fn quick() -> Options {
    Options {
        allow_hosts: vec!["127.0.0.1".to_owned()],
        first_delay: Duration::from_millis(1),
        longest_delay: Duration::from_millis(8),
        ..Options::default()
    }
}

async fn server(push: Options) -> A2aServer {
    A2aServer::start(SCRIPT, A2aSetup { push, ..A2aSetup::default() }).await
}

/// A task that was sent along with a webhook, and its id.
async fn send_with(server: &A2aServer, config: Value) -> String {
    let configuration = json!({"taskPushNotificationConfig": config});
    let sent = server.say("go", json!({}), configuration).await;
    sent["task"]["id"].as_str().unwrap().to_owned()
}

/// A task that waits for an answer.
async fn waiting_task(server: &A2aServer) -> String {
    let sent = server.say("begin", json!({}), json!({})).await;
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    sent["task"]["id"].as_str().unwrap().to_owned()
}

async fn create(server: &A2aServer, task: &str, config: Value) -> Value {
    server.call("POST", &format!("/tasks/{task}/pushNotificationConfigs"), Some(&config)).await
}

async fn stored(server: &A2aServer, task: &str) -> Vec<Push> {
    server.store.pushes(&A2aServer::tester(), task).await.unwrap()
}

/// Waits until the webhooks of a task are as they should be.
async fn until_all(server: &A2aServer, task: &str, holds: impl Fn(&Push) -> bool) -> Vec<Push> {
    let started = tokio::time::Instant::now();
    loop {
        let pushes = stored(server, task).await;
        if !pushes.is_empty() && pushes.iter().all(&holds) {
            return pushes;
        }
        assert!(started.elapsed() < DEADLINE, "not within the deadline: {pushes:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Everything was delivered, and nothing is left to do.
async fn until_done(server: &A2aServer, task: &str) {
    let head = server.store.head(&A2aServer::tester(), task).await.unwrap();
    until_all(server, task, |push| push.delivered == head.sequence).await;
    assert_eq!(server.store.next_due().await.unwrap(), None);
}

async fn until_stopped(server: &A2aServer, task: &str) -> String {
    let stopped = until_all(server, task, |push| matches!(push.state, PushState::Stopped { .. })).await;
    match &stopped[0].state {
        PushState::Stopped { problem } => problem.clone(),
        PushState::Active { .. } => unreachable!(),
    }
}

fn assert_in_order(hook: &Hook, expected: &[u64]) {
    assert_eq!(hook.sequences(), expected);
}
