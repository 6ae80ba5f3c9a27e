//! A send that comes again is recognised.

use std::time::Duration;

use agena::domain::store::{Commit, Committed, SendKey, StoreError};

use super::Rig;
use super::kit::*;

fn sent(task_id: &str, hash: u8, millis: u64) -> Commit {
    Commit { send: send(hash, at(millis)), ..new(task_id) }
}

fn repeated(task_id: &str) -> Result<Committed, StoreError> {
    Ok(Committed::Repeated { task_id: task_id.to_owned() })
}

pub async fn a_repeated_send_within_its_window_gives_the_same_task(rig: &impl Rig) {
    let store = rig.open().await;
    assert_eq!(store.commit(&ann(), sent("first", 1, 0)).await, Ok(Committed::Stored));
    for later in [0, 1, 4999, 5000] {
        assert_eq!(store.commit(&ann(), sent("second", 1, later)).await, repeated("first"), "{later}");
    }
    assert_eq!(store.head(&ann(), "second").await, Err(StoreError::NotFound));
    assert_eq!(store.commit(&ann(), sent("second", 2, 1)).await, Ok(Committed::Stored));
    // A clock that went back does not make a repetition new.
    let early = Commit { send: send(2, at(0)), ..new("third") };
    assert_eq!(store.commit(&ann(), early).await, repeated("second"));
}

pub async fn an_older_send_is_forgotten(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [sent("first", 1, 0)]).await;
    assert_eq!(store.commit(&ann(), sent("second", 1, 5001)).await, Ok(Committed::Stored));
    // From now on it is the second that is repeated.
    assert_eq!(store.commit(&ann(), sent("third", 1, 10_001)).await, repeated("second"));
    assert_eq!(store.commit(&ann(), sent("third", 1, 10_002)).await, Ok(Committed::Stored));
    assert_eq!(store.head(&ann(), "first").await.unwrap().sequence, 1);
}

pub async fn sends_are_told_apart_by_principal(rig: &impl Rig) {
    let store = rig.open().await;
    assert_eq!(store.commit(&ann(), sent("anns", 1, 0)).await, Ok(Committed::Stored));
    assert_eq!(store.commit(&bob(), sent("bobs", 1, 1)).await, Ok(Committed::Stored));
    assert_eq!(store.commit(&ann(), sent("more", 1, 2)).await, repeated("anns"));
    assert_eq!(store.commit(&bob(), sent("more", 1, 2)).await, repeated("bobs"));
}

pub async fn a_send_to_a_task_that_exists_is_recognised_too(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    let message = |sequence, millis| Commit { send: send(9, at(millis)), ..more("t", [sequence]) };
    assert_eq!(store.commit(&ann(), message(2, 0)).await, Ok(Committed::Stored));
    assert_eq!(store.commit(&ann(), message(3, 1)).await, repeated("t"));
    assert_eq!(store.head(&ann(), "t").await.unwrap().sequence, 2);
    assert_eq!(store.commit(&ann(), message(3, 5001)).await, Ok(Committed::Stored));
}

pub async fn a_send_whose_commit_was_refused_is_not_remembered(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    let refused = store.commit(&ann(), sent("t", 1, 0)).await;
    assert_eq!(refused, Err(StoreError::Conflict { expected: 0, actual: 1 }));
    assert_eq!(store.commit(&ann(), sent("u", 1, 1)).await, Ok(Committed::Stored));
}

pub async fn many_equal_sends_at_once_make_one_task(rig: &impl Rig) {
    let store = rig.open().await;
    let who = ann();
    let sends = (0..50).map(|n| store.commit(&who, sent(&format!("t{n}"), 1, n)));
    let outcomes = futures::future::join_all(sends).await;
    let made: Vec<_> = (0..50).filter(|n| outcomes[*n] == Ok(Committed::Stored)).collect();
    let [winner] = made[..] else { panic!("{made:?}") };
    let others = outcomes.iter().filter(|outcome| **outcome == repeated(&format!("t{winner}")));
    assert_eq!(others.count(), 49);
}

pub async fn a_send_can_be_looked_up(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [sent("t", 1, 0)]).await;
    let (some, none) = (Ok(Some("t".to_owned())), Ok(None));
    for (who, hash, millis, expected) in [
        (ann(), 1, 0, &some),
        (ann(), 1, 5000, &some),
        (ann(), 1, 5001, &none),
        (ann(), 2, 0, &none),
        (bob(), 1, 0, &none),
    ] {
        let key = send(hash, at(millis)).unwrap();
        assert_eq!(&store.sent(&who, &key).await, expected, "{who:?} {hash} {millis}");
    }
}

pub async fn a_window_of_nothing_recognises_nothing(rig: &impl Rig) {
    let store = rig.open().await;
    let key = SendKey { window: Duration::ZERO, ..send(1, at(0)).unwrap() };
    for id in ["first", "second"] {
        let commit = Commit { send: Some(key.clone()), ..new(id) };
        assert_eq!(store.commit(&ann(), commit).await, Ok(Committed::Stored), "in the same millisecond");
    }
    assert_eq!(store.sent(&ann(), &key).await, Ok(None));
}
