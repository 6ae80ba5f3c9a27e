//! An orderly stop of the server: streams that would only wait end at once, work goes on until it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::client::{Binding, Client};
use super::interact::Talk;
use super::{asking, script, shell, state};
use crate::a2a::{TESTER, home};
use crate::kit::process::Running;
use crate::kit::{Outcome, http, soon, until};

/// Streams that have told something: they stand.
#[derive(Clone, Default)]
struct Standing(Arc<AtomicUsize>);

impl Standing {
    /// Reads a stream to its end.
    async fn read(self, client: Client, binding: Binding, rpc: &'static str, request: Value) -> Outcome {
        let heard = |answers: &[Value]| {
            self.0.fetch_add(usize::from(answers.len() == 1), Ordering::SeqCst);
            false
        };
        client.until(binding, rpc, request, &heard).await
    }

    /// The same over JSON-RPC.
    async fn subscribe(self, url: String, version: &'static str, method: &'static str, id: String) -> String {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": id}});
        let request = http().post(url).bearer_auth(TESTER).header("a2a-version", version).json(&body);
        let mut response = soon(request.send()).await.unwrap();
        let mut told = String::new();
        while let Some(chunk) = soon(response.chunk()).await.unwrap() {
            self.0.fetch_add(usize::from(told.is_empty()), Ordering::SeqCst);
            told.push_str(str::from_utf8(&chunk).unwrap());
        }
        told
    }

    async fn all(&self, count: usize) {
        until("the streams stand", || self.0.load(Ordering::SeqCst) == count).await;
    }
}

fn reason(outcome: &Outcome) -> &str {
    outcome.error.as_ref().and_then(|error| error["details"][0]["reason"].as_str()).unwrap_or_default()
}

/// One that would wait longer for streams than any test does.
fn patient() -> Running {
    Running::start_in(home(), &["--set", "server.drain_seconds=60"])
}

/// It has stopped, and nobody was cut off.
fn assert_whole(server: &mut Running) {
    assert_eq!(server.ended(), Some(0));
    let log = server.log();
    assert!(log.contains("every request was answered"), "{log}");
}

async fn opened(server: &Running) -> String {
    let opened = http().post(format!("{}/tasks", server.url)).bearer_auth(TESTER).json(&json!({}));
    soon(opened.send()).await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_of_tasks_that_rest_are_told_to_come_back() {
    let mut server = patient();
    let client = Client::new(&server.url, TESTER).await;
    let (asks, ..) = asking(&client, Binding::Grpc, &shell()).await;
    let waits = opened(&server).await;
    let standing = Standing::default();
    let mut streams = Vec::new();
    for (task, binding) in [&asks, &waits].into_iter().flat_map(|task| Binding::ALL.map(|way| (task, way))) {
        let request = json!({"task_id": task});
        let read = standing.clone().read(client.clone(), binding, "FollowTask", request);
        streams.push((binding, tokio::spawn(read)));
    }
    let mut subscribed = Vec::new();
    for (version, method) in [("1.0", "SubscribeToTask"), ("0.3", "tasks/resubscribe")] {
        let read = standing.clone().subscribe(server.url.clone(), version, method, asks.clone());
        subscribed.push((method, tokio::spawn(read)));
    }
    standing.all(8).await;
    server.signal("TERM");
    for (binding, stream) in streams {
        let outcome = soon(stream).await.unwrap();
        assert_eq!(reason(&outcome), "SERVER_STOPPING", "{binding:?}: {outcome:?}");
        assert!(!outcome.answers.is_empty());
    }
    for (method, stream) in subscribed {
        let told = soon(stream).await.unwrap();
        assert!(told.lines().any(|line| line.contains("SERVER_STOPPING")), "{method}: {told}");
    }
    assert_whole(&mut server);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_that_are_watched_end() {
    let mut server = patient();
    let client = Client::new(&server.url, TESTER).await;
    let standing = Standing::default();
    let streams = Binding::ALL
        .map(|binding| tokio::spawn(standing.clone().read(client.clone(), binding, "WatchTasks", json!({}))));
    standing.all(3).await;
    server.signal("TERM");
    for stream in streams {
        let outcome = soon(stream).await.unwrap();
        let all = json!({"caught_up": true, "as_of": outcome.answers[0]["as_of"]});
        assert_eq!((outcome.error, outcome.answers), (None, vec![all]));
    }
    assert_whole(&mut server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_works_is_followed_to_its_end() {
    let mut server = patient();
    let client = Client::new(&server.url, TESTER).await;
    let standing = Standing::default();
    let works = json!({"prompt": script("- say: Begun.\n- wait: 2s\n- say: Done.")});
    let stream = tokio::spawn(standing.clone().read(client.clone(), Binding::Grpc, "StartTask", works));
    standing.all(1).await;
    // It comes to rest while the server waits for it, and nothing is waited for any longer.
    let rests = json!({"prompt": script("- say: Begun.\n- wait: 1s\n- ask: Which?")});
    let first = client.take(Binding::Http, "StartTask", rests, 1).await.answers;
    let request = json!({"task_id": first[0]["update"]["task_id"]});
    let resting = tokio::spawn(standing.clone().read(client, Binding::Http, "FollowTask", request));
    standing.all(2).await;
    server.signal("TERM");
    let outcome = soon(stream).await.unwrap();
    assert_eq!(outcome.error, None);
    assert_eq!(state(outcome.answers.last().unwrap()), "TASK_STATE_COMPLETED");
    let outcome = soon(resting).await.unwrap();
    assert_eq!(reason(&outcome), "SERVER_STOPPING");
    assert_eq!(state(outcome.answers.last().unwrap()), "TASK_STATE_INPUT_REQUIRED");
    assert_whole(&mut server);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_stream_for_everything_ends_with_what_it_follows() {
    let mut server = patient();
    let client = Client::new(&server.url, TESTER).await;
    let (asks, ..) = asking(&client, Binding::Grpc, &shell()).await;
    let (mut idle, mut follows) = (Talk::begin(&client).await, Talk::begin(&client).await);
    follows.follow(&asks).await;
    server.signal("TERM");
    assert_eq!(idle.next().await, None);
    let mut last = None;
    while let Some(told) = follows.next().await {
        last = Some(told);
    }
    let last = last.unwrap();
    assert_eq!(last.update.unwrap().task_id, asks);
    assert!(format!("{:?}", last.result).contains("SERVER_STOPPING"), "{:?}", last.result);
    assert_whole(&mut server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_has_nothing_to_tell_stands_at_once() {
    let server = patient();
    let client = Client::new(&server.url, TESTER).await;
    let (asks, ..) = asking(&client, Binding::Grpc, &shell()).await;
    let seen = client.take(Binding::Grpc, "GetTask", json!({"task_id": asks}), 1).await.answers;
    let last: u64 = seen[0]["task"]["sequence"].as_str().unwrap().parse().unwrap();
    client.stands(&asks, last).await;
}
