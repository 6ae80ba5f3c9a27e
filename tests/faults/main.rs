//! The real binary, killed at every durable step, and started on a large journal. Needs the feature `failpoints`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agent;
#[path = "../suite/kit/process.rs"]
#[allow(dead_code)]
mod process;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use agena::domain::principal::Principal;
use agena::domain::store::{Commit, Store};
use agena::proto::a2a::TaskState;
use agena::proto::task::task_event::Event;
use agena::proto::task::{Created, StateChanged, TaskEvent, TextDelta};
use agena::store::{Durability, Sqlite};
use process::Running;
use serde_json::{Value, json};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(20);
/// Where the writer can be killed: nothing of the commit is there yet, all of it is, somebody waits for the answer.
const STEPS: [&str; 3] = ["before-commit", "after-commit", "before-reply"];
/// A task has fewer durable steps than this; were it not so, the test would say that it never got through.
const MOST: usize = 40;

fn script(home: &Path) {
    let text = "rules:\n- do:\n  - say: ['1 ', '2 ']\n  - wait: 10ms\n  - say: ['3 ']\n  - wait: 10ms\n  - artifact: {name: a, text: b}\n";
    std::fs::write(home.join("script.yaml"), text).unwrap();
}

const OPTIONS: [&str; 4] = ["--auth", "none", "--rehearsal", "script.yaml"];

fn start(home: TempDir) -> Running {
    Running::start_in(home, &OPTIONS)
}

/// Events with their ids, as far as they came.
async fn read(request: reqwest::RequestBuilder) -> Vec<(u64, Value)> {
    use futures::StreamExt;
    let Ok(response) = request.timeout(DEADLINE).send().await else { return Vec::new() };
    let mut text = String::new();
    let mut chunks = response.bytes_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        text.push_str(str::from_utf8(&chunk).unwrap());
    }
    let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
    let event = |event: &str| {
        let part = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        Some((part("id: ")?.parse().ok()?, serde_json::from_str(&part("data: ")?).ok()?))
    };
    whole.split("\n\n").filter_map(event).collect()
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_durable_step_the_server_keeps_what_it_showed() {
    for name in STEPS {
        let mut got_through = false;
        for k in 1..MOST {
            if kill_at(name, k).await {
                got_through = true;
                break;
            }
        }
        assert!(got_through, "{name}: still killed at the {MOST}th step");
    }
}

/// Kills a server at the k-th step of this name while a task runs; true if it was not reached.
async fn kill_at(name: &str, k: usize) -> bool {
    let home = tempfile::tempdir().unwrap();
    script(home.path());
    let point = format!("{name}:{k}");
    let mut server = match Running::try_start(home, &OPTIONS, &[("AGENA_FAILPOINT", &point)]) {
        Ok(server) => server,
        // Housekeeping at the start has durable steps too.
        Err(home) => {
            check(&start(home).url, &[], &point).await;
            return false;
        }
    };
    let message = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}});
    let seen = read(client().post(format!("{}/message:stream", server.url)).json(&message)).await;
    let died = server.child.try_wait().unwrap().is_some() || !ended(&seen);
    if !died {
        return true;
    }
    let server = start(server.into_home());
    check(&server.url, &seen, &point).await;
    false
}

fn ended(events: &[(u64, Value)]) -> bool {
    events.last().is_some_and(|(_, event)| event["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED")
}

/// All that was seen is there, in order and without a gap, and every task comes to an end.
async fn check(url: &str, seen: &[(u64, Value)], at: &str) {
    let list: Value = serde_json::from_str(
        &client().get(format!("{url}/tasks")).send().await.unwrap().text().await.unwrap(),
    )
    .unwrap();
    for task in list["tasks"].as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        let events =
            read(client().get(format!("{url}/tasks/{id}:subscribe")).header("last-event-id", "2")).await;
        let (_, last) = events.last().unwrap_or_else(|| panic!("{at}: a task is stuck without events"));
        let state = last["statusUpdate"]["status"]["state"].as_str().unwrap();
        assert!(["TASK_STATE_COMPLETED", "TASK_STATE_FAILED"].contains(&state), "{at}: {state}");
        if let Some((first, rest)) = seen.split_first() {
            assert_eq!(first.1["task"]["id"], id, "{at}");
            assert_eq!(rest, &events[..rest.len()], "{at}: what was shown is still there");
        }
    }
    assert!(seen.is_empty() || list["totalSize"] == 1, "{at}: the task that was shown is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_journal_does_not_slow_the_start() {
    let home = tempfile::tempdir().unwrap();
    script(home.path());
    let data = home.path().join(".local/share/agena");
    let store: Arc<dyn Store> =
        Arc::new(Sqlite::open(&data.join("journal.db"), Durability::Process).unwrap());
    let tasks = (0..1000).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { fill(&*store, n).await })
    });
    futures::future::join_all(tasks).await.into_iter().for_each(|filled| filled.unwrap());
    drop(store);
    let started = Instant::now();
    let server = start(home);
    let took = started.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?} to start with 100,000 events");
    let list =
        client().get(format!("{}/tasks?pageSize=1", server.url)).send().await.unwrap().text().await.unwrap();
    assert!(list.contains("\"totalSize\":1000"), "{list}");
}

/// A task of a hundred events, a part of them left in the middle of a turn.
async fn fill(store: &dyn Store, number: usize) {
    let task_id = format!("task-{number}");
    let who = Principal::local();
    let event = |sequence, event| TaskEvent { sequence, time: None, event: Some(event) };
    let created = Created { task_id: task_id.clone(), context_id: "c".to_owned(), ..Created::default() };
    let state = |state: TaskState| {
        Event::State(Box::new(StateChanged { state: state.into(), ..StateChanged::default() }))
    };
    let mut events = vec![event(1, Event::Created(Box::new(created))), event(2, state(TaskState::Working))];
    events.extend(
        (3..100).map(|n| event(n, Event::Text(TextDelta { text: "x".repeat(100), ..TextDelta::default() }))),
    );
    let last = if number.is_multiple_of(100) { TaskState::Working } else { TaskState::Completed };
    if last != TaskState::Working {
        events.push(event(100, state(last)));
    }
    let commit = Commit {
        task_id,
        events: events.into(),
        state: last,
        updated: Some(SystemTime::now()),
        send: None,
        grants: vec![],
        push: None,
    };
    store.commit(&who, commit).await.unwrap();
}
