//! Many at once.

use std::sync::Arc;

use agena::domain::principal::Principal;
use agena::domain::store::{Committed, Filter, StoreError};

use super::Rig;
use super::kit::*;

pub async fn many_tasks_at_once_keep_their_order(rig: &impl Rig) {
    const TASKS: u64 = 64;
    const COMMITS: u64 = 40;
    let store = rig.open().await;
    let writers: Vec<_> = (0..TASKS)
        .map(|task| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let (who, id) = (Principal::named(&format!("p{}", task % 4)), format!("t{task}"));
                store.commit(&who, new(&id)).await.unwrap();
                let mut next = 2;
                for n in 0..COMMITS {
                    let end = next + n % 3;
                    store.commit(&who, more(&id, next..=end)).await.unwrap();
                    // What was acknowledged is there for everyone at once.
                    assert_eq!(store.head(&who, &id).await.unwrap().sequence, end);
                    next = end + 1;
                }
                (who, id, next - 1)
            })
        })
        .collect();
    for writer in writers {
        let (who, id, last) = writer.await.unwrap();
        let events = read_all(&*store, &who, &id).await;
        assert_eq!(sequences(&events), (1..=last).collect::<Vec<_>>());
        assert_eq!(events[1..], texts(2..=last));
    }
    for principal in 0..4 {
        let who = Principal::named(&format!("p{principal}"));
        assert_eq!(store.list(&who, &Filter::default(), None, 1).await.unwrap().total, TASKS / 4);
    }
}

pub async fn one_of_two_appends_at_once_wins(rig: &impl Rig) {
    let store = rig.open().await;
    let who = ann();
    commit_all(&*store, &who, [new("t")]).await;
    for sequence in 2..50 {
        let both = futures::future::join_all((0..4).map(|_| store.commit(&who, more("t", [sequence])))).await;
        let conflict = Err(StoreError::Conflict { expected: sequence - 1, actual: sequence });
        assert_eq!(both.iter().filter(|one| **one == Ok(Committed::Stored)).count(), 1, "{both:?}");
        assert_eq!(both.iter().filter(|one| **one == conflict).count(), 3, "{both:?}");
    }
    assert_eq!(sequences(&read_all(&*store, &who, "t").await), (1..50).collect::<Vec<_>>());
}
