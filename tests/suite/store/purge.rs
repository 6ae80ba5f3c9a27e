//! What a start looks at, and what is forgotten.

use std::time::Duration;

use agena::domain::store::{Commit, Committed, Filter, StoreError};
use agena::proto::a2a::TaskState;

use super::Rig;
use super::kit::*;

const TERMINAL: [TaskState; 4] =
    [TaskState::Completed, TaskState::Failed, TaskState::Canceled, TaskState::Rejected];

fn states() -> impl Iterator<Item = TaskState> {
    (0..=8).map(|number| TaskState::try_from(number).unwrap())
}

fn in_state(state: TaskState, millis: u64) -> Commit {
    Commit { state, updated: Some(at(millis)), ..new(state.as_str_name()) }
}

pub async fn what_is_not_over_is_unfinished(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), states().map(|state| in_state(state, 0))).await;
    commit_all(&*store, &bob(), [new("bobs")]).await;
    let mut found = store.unfinished().await.unwrap();
    let expected: Vec<_> = states().filter(|state| !TERMINAL.contains(state)).collect();
    let (who, bobs) = found.pop().unwrap();
    assert_eq!((who, bobs.task_id), (bob(), "bobs".to_owned()));
    assert_eq!(found.iter().map(|(_, head)| head.state).collect::<Vec<_>>(), expected);
    assert_eq!(found[0], (ann(), store.head(&ann(), expected[0].as_str_name()).await.unwrap()));
}

pub async fn old_terminal_tasks_are_forgotten_with_all_that_is_theirs(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), states().map(|state| in_state(state, 5))).await;
    let sent = Commit { send: send(1, at(0)), ..new("sent") };
    commit_all(&*store, &bob(), [sent, more("sent", 2..=9)]).await;
    store.put_push(&bob(), hook("sent", "a", 0)).await.unwrap();
    commit_all(&*store, &bob(), [enter("sent", 10, TaskState::Completed, at(4))]).await;

    assert_eq!(store.purge(at(4)).await, Ok(0), "nothing is that old");
    assert_eq!(store.purge(at(5)).await, Ok(1));
    assert_eq!(store.head(&bob(), "sent").await, Err(StoreError::NotFound));
    assert_eq!(store.events(&bob(), "sent", 0, 1).await, Err(StoreError::NotFound));
    assert_eq!(store.pushes(&bob(), "sent").await, Err(StoreError::NotFound));
    assert_eq!(store.list(&bob(), &Filter::default(), None, 9).await.unwrap().total, 0);
    assert_eq!(store.next_due().await, Ok(None));

    assert_eq!(store.purge(at(6)).await, Ok(4));
    assert_eq!(store.purge(at(6)).await, Ok(0));
    let left = store.list(&ann(), &Filter::default(), None, 9).await.unwrap();
    assert!(left.heads.iter().all(|head| !TERMINAL.contains(&head.state)) && left.total == 5, "{left:?}");

    // Neither the send nor the id nor the webhook is remembered.
    let again = Commit { send: send(1, at(1)), ..new("sent") };
    assert_eq!(store.commit(&bob(), again).await, Ok(Committed::Stored));
    assert_eq!(sequences(&read_all(&*store, &bob(), "sent").await), [1]);
    assert_eq!(store.pushes(&bob(), "sent").await, Ok(vec![]));
}

pub async fn a_purge_of_much_lets_others_write(rig: &impl Rig) {
    let store = rig.open().await;
    // One with many commits and many with few.
    let mut many = vec![new("many")];
    many.extend((2..1000).map(|sequence| more("many", [sequence])));
    many.push(enter("many", 1000, TaskState::Completed, at(1)));
    let who = ann();
    for commit in many {
        store.commit(&who, commit).await.unwrap();
    }
    commit_all(&*store, &who, (0..100).map(|n| Commit { state: TaskState::Failed, ..new(&format!("t{n}")) }))
        .await;
    commit_all(&*store, &who, [new("alive")]).await;
    let writes = async {
        for sequence in 2..50 {
            store.commit(&who, more("alive", [sequence])).await.unwrap();
        }
    };
    let (purged, ()) = tokio::join!(store.purge(at(0) + Duration::from_secs(1)), writes);
    assert_eq!(purged, Ok(101));
    assert_eq!(store.list(&who, &Filter::default(), None, 9).await.unwrap().total, 1);
    assert_eq!(read_all(&*store, &who, "alive").await.len(), 49);
}
