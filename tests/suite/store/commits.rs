//! Appending and reading back.

use agena::domain::store::{Commit, Committed, Head, StoreError};
use agena::proto::a2a::TaskState;

use super::Rig;
use super::kit::*;

pub async fn what_is_committed_is_read_back(rig: &impl Rig) {
    let store = rig.open().await;
    let mut first = new_in("t", "the context", "the tenant");
    first.events = [&*first.events, &texts([2, 3])].concat().into();
    let expected = [&*first.events, &texts([4]), &enter("t", 5, TaskState::Working, at(9)).events].concat();
    assert_eq!(store.commit(&ann(), first).await, Ok(Committed::Stored));
    assert_eq!(store.commit(&ann(), more("t", [4])).await, Ok(Committed::Stored));
    let before = store.head(&ann(), "t").await.unwrap();
    assert_eq!((before.state, before.updated, before.sequence), (TaskState::Submitted, at(0), 4));
    store.commit(&ann(), enter("t", 5, TaskState::Working, at(9))).await.unwrap();
    let head = Head {
        task_id: "t".to_owned(),
        context_id: "the context".to_owned(),
        tenant: "the tenant".to_owned(),
        state: TaskState::Working,
        updated: at(9),
        sequence: 5,
    };
    assert_eq!(store.head(&ann(), "t").await, Ok(head));
    assert_eq!(read_all(&*store, &ann(), "t").await, expected);
}

pub async fn every_kind_of_state_is_read_back(rig: &impl Rig) {
    let store = rig.open().await;
    store.commit(&ann(), new("t")).await.unwrap();
    for (number, sequence) in (0..=8).zip(2..) {
        let state = TaskState::try_from(number).unwrap();
        store.commit(&ann(), enter("t", sequence, state, at(sequence))).await.unwrap();
        assert_eq!(store.head(&ann(), "t").await.unwrap().state, state);
    }
}

pub async fn events_come_from_the_cursor_on_in_whole_commits(rig: &impl Rig) {
    let store = rig.open().await;
    let commits = [new("t"), more("t", 2..=4), more("t", [5]), more("t", 6..=9), more("t", [10])];
    commit_all(&*store, &ann(), commits).await;
    for (after, limit, expected) in [
        (0, 100, 1..=10),
        (0, 1, 1..=1),
        (0, 2, 1..=4),
        (1, 1, 2..=4),
        (2, 1, 3..=4),
        (2, 3, 3..=5),
        (2, 4, 3..=9),
        (8, 2, 9..=10),
        (9, 100, 10..=10),
    ] {
        let events = store.events(&ann(), "t", after, limit).await.unwrap();
        assert_eq!(sequences(&events), expected.collect::<Vec<_>>(), "after {after}, {limit} of them");
    }
    for (after, limit) in [(10, 1), (11, 1), (u64::MAX, 1), (0, 0)] {
        assert_eq!(store.events(&ann(), "t", after, limit).await, Ok(vec![]), "{after}, {limit}");
    }
}

pub async fn a_commit_that_is_not_next_is_a_conflict(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t"), more("t", 2..=3)]).await;
    for (commit, expected) in [
        (new("t"), 0),
        (more("t", [2]), 1),
        (more("t", 3..=4), 2),
        (more("t", [5]), 4),
        (enter("t", 3, TaskState::Working, at(1)), 2),
    ] {
        let refused = store.commit(&ann(), commit).await;
        assert_eq!(refused, Err(StoreError::Conflict { expected, actual: 3 }));
    }
    let head = store.head(&ann(), "t").await.unwrap();
    assert_eq!((head.state, head.sequence), (TaskState::Submitted, 3));
    assert_eq!(sequences(&read_all(&*store, &ann(), "t").await), [1, 2, 3]);
    store.commit(&ann(), more("t", [4])).await.unwrap();
}

pub async fn a_task_that_is_not_there_is_not_found(rig: &impl Rig) {
    let store = rig.open().await;
    assert_eq!(store.commit(&ann(), more("t", [2])).await, Err(StoreError::NotFound));
    assert_eq!(store.head(&ann(), "t").await, Err(StoreError::NotFound));
    assert_eq!(store.events(&ann(), "t", 0, 1).await, Err(StoreError::NotFound));
}

pub async fn a_commit_out_of_order_stores_nothing(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    for (what, wrong) in [
        ("empty", more("t", [])),
        ("a gap", more("t", [2, 4])),
        ("twice the same", more("t", [2, 2])),
        ("from zero", more("t", [0])),
        ("a state without its time", Commit { state: TaskState::Working, ..more("t", [2]) }),
        ("not created", more("new", [1])),
        ("another id", Commit { task_id: "new".to_owned(), ..new("other") }),
        ("created without a time", Commit { updated: None, ..new("new") }),
    ] {
        let refused = store.commit(&ann(), wrong).await;
        assert!(matches!(refused, Err(StoreError::Failed(_))), "{what}: {refused:?}");
    }
    assert_eq!(store.head(&ann(), "t").await.unwrap().sequence, 1);
    for missing in ["new", "other"] {
        assert_eq!(store.head(&ann(), missing).await, Err(StoreError::NotFound));
    }
}

pub async fn a_large_commit_is_read_back(rig: &impl Rig) {
    let store = rig.open().await;
    let mut large = more("t", 2..=2000);
    let last = event(
        2001,
        agena::proto::task::task_event::Event::Text(agena::proto::task::TextDelta {
            text: "x".repeat(5_000_000),
            model: String::new(),
            ..Default::default()
        }),
    );
    large.events = [&*large.events, &[last]].concat().into();
    let expected = large.events.clone();
    commit_all(&*store, &ann(), [new("t"), large]).await;
    assert!(*store.events(&ann(), "t", 1, 1).await.unwrap() == *expected);
}

pub async fn times_are_kept_to_the_millisecond(rig: &impl Rig) {
    let store = rig.open().await;
    let fine = at(7) + std::time::Duration::from_nanos(999_999);
    store.commit(&ann(), Commit { updated: Some(fine), ..new("t") }).await.unwrap();
    assert_eq!(store.head(&ann(), "t").await.unwrap().updated, at(7));
}
