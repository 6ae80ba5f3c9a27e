//! Random histories: what a store answers and what is read from it afterwards equals a model that is too simple
//! to be wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use agena::domain::principal::Principal;
use agena::domain::store::{Commit, Committed, Filter, Head, Result, SendKey, Store, StoreError};
use agena::proto::a2a::TaskState;
use agena::proto::task::TaskEvent;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Handle;

use super::Rig;
use super::kit::*;

const CASES: u32 = 48;

#[derive(Debug, Clone)]
struct Step {
    who: u8,
    task: u8,
    /// How many events, and how far their first is from the one that would be right.
    events: u64,
    off: u64,
    state: Option<u8>,
    millis: u64,
    send: Option<u8>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let off = prop_oneof![9 => Just(0u64), 1 => 1..4u64];
    let step = (0..3u8, 0..4u8, 1..5u64, off, any::<Option<u8>>(), 0..20u64, prop::option::of(0..6u8))
        .prop_map(|(who, task, events, off, state, millis, send)| Step {
            who,
            task,
            events,
            off,
            state: state.map(|n| n % 9),
            millis,
            send,
        });
    prop::collection::vec(step, 1..80)
}

type Key = (String, String);

/// The plain model.
#[derive(Default)]
struct Model {
    tasks: BTreeMap<Key, (Head, Vec<TaskEvent>)>,
    sends: BTreeMap<(String, [u8; 32]), (String, SystemTime)>,
}

impl Model {
    fn commit(&mut self, who: &Principal, commit: &Commit) -> Result<Committed> {
        let sent = commit.send.as_ref().map(|send| ((who.name().to_owned(), send.hash), send));
        if let Some((key, send)) = &sent
            && let Some((task_id, at)) = self.sends.get(key)
            && *at + send.window >= send.at
        {
            return Ok(Committed::Repeated { task_id: task_id.clone() });
        }
        self.append(who, commit)?;
        if let Some((key, send)) = sent {
            self.sends.insert(key, (commit.task_id.clone(), send.at));
        }
        Ok(Committed::Stored)
    }

    fn append(&mut self, who: &Principal, commit: &Commit) -> Result<()> {
        let key = (who.name().to_owned(), commit.task_id.clone());
        let expected = commit.events[0].sequence - 1;
        let actual = self.tasks.get(&key).map(|task| task.0.sequence);
        match (expected, actual) {
            (_, Some(actual)) if actual != expected => return Err(StoreError::Conflict { expected, actual }),
            (1.., None) => return Err(StoreError::NotFound),
            _ => {}
        }
        let (head, events) = self.tasks.entry(key).or_insert_with(|| (unborn(&commit.task_id), vec![]));
        events.extend(commit.events.iter().cloned());
        head.sequence += commit.events.len() as u64;
        head.state = commit.state;
        head.updated = commit.updated.unwrap_or(head.updated);
        Ok(())
    }

    fn listed(&self, who: &Principal) -> Vec<Head> {
        let mine = self.tasks.iter().filter(|((owner, _), _)| owner == who.name());
        let mut heads: Vec<Head> = mine.map(|(_, (head, _))| head.clone()).collect();
        heads.sort_by(|a, b| (b.updated, &b.task_id).cmp(&(a.updated, &a.task_id)));
        heads
    }
}

fn unborn(task_id: &str) -> Head {
    Head {
        task_id: task_id.to_owned(),
        context_id: "context".to_owned(),
        tenant: String::new(),
        state: TaskState::Submitted,
        updated: at(0),
        sequence: 0,
    }
}

/// The commit that a step means, given where its task stands. Windows are short, so that sends also expire.
fn commit(step: &Step, head: Option<&Head>) -> Commit {
    let id = format!("t{}", step.task);
    let send = step.send.map(|hash| SendKey {
        hash: [hash; 32],
        at: at(step.millis),
        window: Duration::from_millis(5),
    });
    let Some(head) = head.filter(|_| step.off != 3) else {
        return if step.off == 2 { more(&id, [2]) } else { Commit { send, ..new(&id) } };
    };
    let first = head.sequence + 1 + step.off;
    let events = texts(first..first + step.events).into();
    let state = step.state.map(|n| TaskState::try_from(i32::from(n)).unwrap());
    Commit {
        task_id: id,
        events,
        state: state.unwrap_or(head.state),
        updated: state.map(|_| at(step.millis)),
        send,
        grants: vec![],
        push: None,
    }
}

async fn compare(store: &dyn Store, model: &Model) {
    for ((who, id), (head, events)) in &model.tasks {
        let who = Principal::named(who);
        assert_eq!(store.head(&who, id).await.as_ref(), Ok(head));
        assert_eq!(&read_all(store, &who, id).await, events);
    }
    for who in (0..3).map(principal) {
        let page = store.list(&who, &Filter::default(), None, 100).await.unwrap();
        assert_eq!(page.heads, model.listed(&who));
    }
    let unfinished: BTreeSet<Key> = store
        .unfinished()
        .await
        .unwrap()
        .into_iter()
        .map(|(who, head)| (who.name().to_owned(), head.task_id))
        .collect();
    let over = |state: TaskState| matches!(state as i32, 3 | 4 | 5 | 7);
    let open = model.tasks.iter().filter(|(_, (head, _))| !over(head.state));
    assert_eq!(unfinished, open.map(|(key, _)| key.clone()).collect());
}

fn principal(number: u8) -> Principal {
    Principal::named(&format!("p{number}"))
}

async fn replay(rig: impl Rig, steps: Vec<Step>) {
    let (store, mut model) = (rig.open().await, Model::default());
    for step in &steps {
        let who = principal(step.who);
        let key = (who.name().to_owned(), format!("t{}", step.task));
        let commit = commit(step, model.tasks.get(&key).map(|task| &task.0));
        let expected = model.commit(&who, &commit);
        assert_eq!(store.commit(&who, commit).await, expected, "{step:?}");
    }
    compare(&*store, &model).await;
}

/// Each on a store of its own, so that a history which fails can be made shorter.
pub async fn random_histories_read_like_a_plain_model<R: Rig>(_: &R) {
    let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let runtime = Handle::current();
    let run = |steps| {
        runtime.block_on(async { replay(R::fresh().await, steps).await });
        Ok(())
    };
    tokio::task::block_in_place(|| runner.run(&steps(), run)).unwrap();
}
