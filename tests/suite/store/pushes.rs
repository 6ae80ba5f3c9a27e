//! Webhooks and their cursors.

use std::time::SystemTime;

use agena::domain::store::{
    Commit, Committed, Due, MOST_PUSHES, Push, PushState, PushVersion, Store, StoreError, Taken,
};
use agena::proto::a2a::TaskState;

use super::Rig;
use super::kit::*;

fn active(millis: u64) -> PushState {
    PushState::Active { not_before: at(millis) }
}

fn stopped() -> PushState {
    PushState::Stopped { problem: "410 Gone".to_owned() }
}

async fn due(store: &dyn Store, now: SystemTime) -> Vec<String> {
    store.due(now, 100, &Taken::default()).await.unwrap().into_iter().map(|due| due.push.config.id).collect()
}

pub async fn webhooks_are_stored_replaced_listed_and_deleted(rig: &impl Rig) {
    let store = rig.open().await;
    assert_eq!(store.put_push(&ann(), hook("t", "a", 0)).await, Err(StoreError::NotFound));
    commit_all(&*store, &ann(), [new("t"), new("other")]).await;
    assert_eq!(store.pushes(&ann(), "t").await, Ok(vec![]));
    assert_eq!(store.push(&ann(), "t", "a").await, Ok(None));

    let b = Push { version: PushVersion::V03, state: stopped(), attempts: 7, ..hook("t", "b", 3) };
    for push in [b.clone(), hook("t", "a", 0), hook("other", "a", 1)] {
        store.put_push(&ann(), push).await.unwrap();
    }
    assert_eq!(store.pushes(&ann(), "t").await.unwrap(), [hook("t", "a", 0), b.clone()]);
    assert_eq!(store.push(&ann(), "t", "b").await, Ok(Some(b)));

    let mut again = hook("t", "b", 1);
    again.config.url = "https://example.com/elsewhere".to_owned();
    assert_eq!(store.put_push(&ann(), again.clone()).await.unwrap().delivered, 3);
    let again = Push { delivered: 3, ..again };
    assert_eq!(store.pushes(&ann(), "t").await.unwrap(), [hook("t", "a", 0), again], "where it stood");

    assert_eq!(store.delete_push(&ann(), "t", "b").await, Ok(true));
    assert_eq!(store.delete_push(&ann(), "t", "b").await, Ok(false));
    assert_eq!(store.pushes(&ann(), "t").await.unwrap(), [hook("t", "a", 0)]);
    assert_eq!(store.push(&ann(), "other", "a").await, Ok(Some(hook("other", "a", 1))));
}

pub async fn a_webhook_is_due_when_there_is_something_to_send(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    let push = Push { state: active(10), ..hook("t", "a", 1) };
    store.put_push(&ann(), push.clone()).await.unwrap();
    assert_eq!(store.next_due().await, Ok(None), "it has got everything");
    assert_eq!(due(&*store, at(100)).await, [""; 0]);

    commit_all(&*store, &ann(), [more("t", [2])]).await;
    assert_eq!(store.next_due().await, Ok(Some(at(10))));
    assert_eq!(due(&*store, at(9)).await, [""; 0], "its time has not come");
    let head = store.head(&ann(), "t").await.unwrap();
    assert_eq!(
        store.due(at(10), 100, &Taken::default()).await.unwrap(),
        [Due { principal: ann(), push, head }]
    );

    // One that is added later and wants what was before is due at once.
    store.put_push(&ann(), hook("t", "b", 0)).await.unwrap();
    assert_eq!(store.next_due().await, Ok(Some(at(0))));
    assert_eq!(due(&*store, at(10)).await, ["b", "a"]);
    assert_eq!(store.due(at(10), 1, &Taken::default()).await.unwrap().len(), 1, "no more than asked for");
    store.delete_push(&ann(), "t", "b").await.unwrap();
    assert_eq!(store.next_due().await, Ok(Some(at(10))));
}

pub async fn due_webhooks_come_in_the_order_of_their_time(rig: &impl Rig) {
    let store = rig.open().await;
    for (who, task) in [(ann(), "t"), (bob(), "u")] {
        commit_all(&*store, &who, [new(task)]).await;
        for millis in [30, 10, 20] {
            let push = Push { state: active(millis), ..hook(task, &format!("{task}{millis}"), 0) };
            store.put_push(&who, push).await.unwrap();
        }
    }
    let mut first = due(&*store, at(20)).await;
    let last = first.split_off(2);
    first.sort();
    assert_eq!(first, ["t10", "u10"]);
    assert_eq!(last.len(), 2);
    assert!(last.iter().all(|id| id.ends_with("20")), "{last:?}");
    assert_eq!(store.next_due().await, Ok(Some(at(10))));
}

pub async fn who_has_enough_visitors_is_passed_over(rig: &impl Rig) {
    let store = rig.open().await;
    for (who, task, host) in
        [(ann(), "t", "One.example"), (ann(), "u", "two.example"), (bob(), "v", "one.example")]
    {
        commit_all(&*store, &who, [new(task)]).await;
        let mut push = hook(task, task, 0);
        push.config.url = format!("https://{host}/hook");
        store.put_push(&who, push).await.unwrap();
    }
    let (one, two) = ("one.example:443".to_owned(), "two.example:443".to_owned());
    for (principals, hosts, expected) in [
        (vec![], vec![], vec!["t", "u", "v"]),
        (vec![ann()], vec![], vec!["v"]),
        (vec![], vec![one.clone()], vec!["u"]),
        (vec![bob()], vec![two.clone()], vec!["t"]),
        (vec![ann(), bob()], vec![], vec![]),
        (vec![], vec![one, two], vec![]),
    ] {
        let taken = Taken { principals, hosts };
        let due = store.due(at(0), 100, &taken).await.unwrap();
        let mut ids: Vec<String> = due.into_iter().map(|due| due.push.config.id).collect();
        ids.sort();
        assert_eq!(ids, expected, "{taken:?}");
    }
}

pub async fn a_stopped_webhook_is_never_due(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    store.put_push(&ann(), Push { state: stopped(), ..hook("t", "a", 0) }).await.unwrap();
    commit_all(&*store, &ann(), [more("t", [2])]).await;
    assert_eq!(due(&*store, at(1_000_000)).await, [""; 0]);
    assert_eq!(store.next_due().await, Ok(None));
    // Set up anew, it gets what it missed.
    store.put_push(&ann(), hook("t", "a", 0)).await.unwrap();
    assert_eq!(due(&*store, at(0)).await, ["a"]);
}

pub async fn a_delivery_is_recorded(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t"), more("t", 2..=5)]).await;
    store.put_push(&ann(), hook("t", "a", 0)).await.unwrap();

    let failed = Push { attempts: 1, state: active(50), ..hook("t", "a", 0) };
    store.record_push(&ann(), &failed).await.unwrap();
    assert_eq!(store.push(&ann(), "t", "a").await, Ok(Some(failed)));
    assert_eq!(store.next_due().await, Ok(Some(at(50))));

    let some = Push { state: active(50), ..hook("t", "a", 3) };
    store.record_push(&ann(), &some).await.unwrap();
    assert_eq!(due(&*store, at(50)).await, ["a"], "two are still to be sent");

    let all = hook("t", "a", 5);
    store.record_push(&ann(), &all).await.unwrap();
    assert_eq!(store.next_due().await, Ok(None));
    store.record_push(&ann(), &hook("t", "a", 2)).await.unwrap();
    assert_eq!(store.push(&ann(), "t", "a").await, Ok(Some(all)), "what was acknowledged stays so");

    commit_all(&*store, &ann(), [more("t", [6])]).await;
    assert_eq!(due(&*store, at(0)).await, ["a"]);
    let gave_up = Push { attempts: 9, state: stopped(), ..hook("t", "a", 5) };
    store.record_push(&ann(), &gave_up).await.unwrap();
    assert_eq!(store.push(&ann(), "t", "a").await, Ok(Some(gave_up)));
    assert_eq!(store.next_due().await, Ok(None));
}

pub async fn a_delivery_to_a_webhook_that_is_gone_changes_nothing(rig: &impl Rig) {
    let store = rig.open().await;
    assert_eq!(store.record_push(&ann(), &hook("none", "a", 1)).await, Ok(()));
    commit_all(&*store, &ann(), [new("t")]).await;
    store.put_push(&ann(), hook("t", "a", 0)).await.unwrap();
    store.delete_push(&ann(), "t", "a").await.unwrap();
    assert_eq!(store.record_push(&ann(), &hook("t", "a", 1)).await, Ok(()));
    assert_eq!(store.pushes(&ann(), "t").await, Ok(vec![]));
    assert_eq!(store.next_due().await, Ok(None));
}

pub async fn a_delivery_to_a_webhook_that_was_replaced_changes_nothing(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    let old = hook("t", "a", 0);
    store.put_push(&ann(), old.clone()).await.unwrap();
    let mut replaced = old.clone();
    replaced.config.url = "https://example.com/elsewhere".to_owned();
    store.put_push(&ann(), replaced.clone()).await.unwrap();
    store.record_push(&ann(), &Push { state: stopped(), delivered: 1, ..old }).await.unwrap();
    assert_eq!(store.push(&ann(), "t", "a").await, Ok(Some(replaced)));
    assert_eq!(due(&*store, at(0)).await, ["a"]);
}

pub async fn a_webhook_without_an_id_is_the_same_one_again(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t"), more("t", 2..=5)]).await;
    let nameless = |token: &str, delivered| {
        let mut push = hook("t", "", delivered);
        push.config.token = token.to_owned();
        push
    };
    let first = store.put_push(&ann(), nameless("one", 2)).await.unwrap();
    assert!(!first.config.id.is_empty());
    assert_eq!(
        store.put_push(&ann(), nameless("one", 5)).await,
        Ok(first.clone()),
        "it goes on where it stood"
    );
    let other = store.put_push(&ann(), nameless("two", 5)).await.unwrap();
    assert_ne!(other.config.id, first.config.id);
    assert_eq!(store.pushes(&ann(), "t").await.unwrap().len(), 2);
}

pub async fn a_task_has_room_for_so_many_webhooks(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    let (who, ids) = (ann(), (0..40).map(|n| format!("h{n}")).collect::<Vec<_>>());
    let all = futures::future::join_all(ids.iter().map(|id| store.put_push(&who, hook("t", id, 0)))).await;
    assert_eq!(all.iter().filter(|one| one.is_ok()).count(), MOST_PUSHES, "at once");
    assert!(all.iter().all(|one| one.is_ok() || *one == Err(StoreError::Full)), "{all:?}");
    let known = store.pushes(&ann(), "t").await.unwrap();
    assert_eq!(known.len(), MOST_PUSHES);
    assert_eq!(store.put_push(&ann(), known[3].clone()).await.as_ref(), Ok(&known[3]), "is replaced");
}

pub async fn a_commit_brings_its_webhook_along(rig: &impl Rig) {
    let store = rig.open().await;
    // Whoever sends does not know the task yet, nor where it stands.
    let push = Some(hook("", "a", 0));
    store.commit(&ann(), Commit { push: push.clone(), ..new("t") }).await.unwrap();
    assert_eq!(store.pushes(&ann(), "t").await.unwrap(), [hook("t", "a", 1)]);
    assert_eq!(store.next_due().await, Ok(None), "there is nothing behind yet");
    commit_all(&*store, &ann(), [more("t", [2])]).await;
    assert_eq!(due(&*store, at(0)).await, ["a"]);
    // Again, with another message: it has not heard of the second event yet.
    store.commit(&ann(), Commit { push, ..more("t", [3]) }).await.unwrap();
    assert_eq!(store.pushes(&ann(), "t").await.unwrap(), [hook("t", "a", 1)]);
    assert_eq!(due(&*store, at(0)).await, ["a"]);
}

pub async fn a_commit_whose_webhook_has_no_room_changes_nothing(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("t")]).await;
    for n in 0..MOST_PUSHES {
        store.put_push(&ann(), hook("t", &format!("h{n}"), 1)).await.unwrap();
    }
    let message = |id: &str| Commit {
        push: Some(hook("t", id, 0)),
        send: send(1, at(0)),
        ..enter("t", 2, TaskState::Working, at(1))
    };
    assert_eq!(store.commit(&ann(), message("more")).await, Err(StoreError::Full));
    let head = store.head(&ann(), "t").await.unwrap();
    assert_eq!((head.sequence, head.state), (1, TaskState::Submitted));
    assert_eq!(
        (store.pushes(&ann(), "t").await.unwrap().len(), store.next_due().await),
        (MOST_PUSHES, Ok(None))
    );
    // And the same send is not taken for a repetition.
    assert_eq!(store.commit(&ann(), message("h3")).await, Ok(Committed::Stored));
}
