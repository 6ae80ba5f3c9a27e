//! Commits, webhooks and times in the fewest words.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agena::domain::principal::Principal;
use agena::domain::store::{Commit, Push, PushState, PushVersion, SendKey, Store};
use agena::proto::a2a::{TaskPushNotificationConfig, TaskState};
use agena::proto::task::task_event::Event;
use agena::proto::task::{Created, StateChanged, TaskEvent, TextDelta};
use agena::proto::wkt::Timestamp;

pub fn ann() -> Principal {
    Principal::named("ann")
}

pub fn bob() -> Principal {
    Principal::named("bob")
}

/// Some milliseconds into the tests' time.
pub fn at(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_700_000_000_000 + millis)
}

pub fn event(sequence: u64, event: Event) -> TaskEvent {
    TaskEvent { sequence, time: Some(Timestamp { seconds: 1_700_000_000, nanos: 5 }), event: Some(event) }
}

pub fn text(sequence: u64) -> TaskEvent {
    event(
        sequence,
        Event::Text(TextDelta {
            text: format!("text {sequence}"),
            model: "m".to_owned(),
            message_id: Default::default(),
        }),
    )
}

pub fn texts(sequences: impl IntoIterator<Item = u64>) -> Vec<TaskEvent> {
    sequences.into_iter().map(text).collect()
}

/// A new task that is submitted at `at(0)`.
pub fn new(task_id: &str) -> Commit {
    new_in(task_id, "context", "")
}

pub fn new_in(task_id: &str, context_id: &str, tenant: &str) -> Commit {
    let created = Created {
        task_id: task_id.to_owned(),
        context_id: context_id.to_owned(),
        tenant: tenant.to_owned(),
        ..Created::default()
    };
    Commit {
        task_id: task_id.to_owned(),
        events: vec![event(1, Event::Created(Box::new(created)))].into(),
        state: TaskState::Submitted,
        updated: Some(at(0)),
        send: None,
        grants: vec![],
        push: None,
    }
}

/// Events that change no state, of a task that is submitted.
pub fn more(task_id: &str, sequences: impl IntoIterator<Item = u64>) -> Commit {
    Commit {
        task_id: task_id.to_owned(),
        events: texts(sequences).into(),
        state: TaskState::Submitted,
        updated: None,
        send: None,
        grants: vec![],
        push: None,
    }
}

/// The task enters a state.
pub fn enter(task_id: &str, sequence: u64, state: TaskState, updated: SystemTime) -> Commit {
    let change = StateChanged { state: state.into(), message: None, error: None };
    Commit {
        task_id: task_id.to_owned(),
        events: vec![event(sequence, Event::State(Box::new(change)))].into(),
        state,
        updated: Some(updated),
        send: None,
        grants: vec![],
        push: None,
    }
}

/// A send within a window of five seconds.
pub fn send(hash: u8, at: SystemTime) -> Option<SendKey> {
    Some(SendKey { hash: [hash; 32], at, window: Duration::from_secs(5) })
}

/// A webhook that has got everything up to `delivered` and may be tried at `at(0)`.
pub fn hook(task_id: &str, id: &str, delivered: u64) -> Push {
    Push {
        config: TaskPushNotificationConfig {
            id: id.to_owned(),
            task_id: task_id.to_owned(),
            url: format!("https://example.com/{id}"),
            token: "secret".to_owned(),
            ..TaskPushNotificationConfig::default()
        },
        version: PushVersion::V10,
        delivered,
        attempts: 0,
        state: PushState::Active { not_before: at(0) },
    }
}

pub async fn commit_all(store: &dyn Store, who: &Principal, commits: impl IntoIterator<Item = Commit>) {
    for commit in commits {
        store.commit(who, commit).await.unwrap();
    }
}

/// Every event, read a few at a time.
pub async fn read_all(store: &dyn Store, who: &Principal, task_id: &str) -> Vec<TaskEvent> {
    let mut all: Vec<TaskEvent> = Vec::new();
    loop {
        let after = all.last().map_or(0, |event| event.sequence);
        let next = store.events(who, task_id, after, 7).await.unwrap();
        if next.is_empty() {
            return all;
        }
        all.extend(next);
    }
}

pub fn sequences(events: &[TaskEvent]) -> Vec<u64> {
    events.iter().map(|event| event.sequence).collect()
}
