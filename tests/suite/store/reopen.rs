//! What is stored outlives the store that stored it.

use agena::domain::store::{Commit, Committed, Filter, Store};
use agena::proto::a2a::TaskState;

use super::Rig;
use super::kit::*;

/// All that can be read, as text.
async fn everything(store: &dyn Store) -> String {
    let mut told = format!("{:?} {:?}", store.unfinished().await, store.next_due().await);
    for who in [ann(), bob()] {
        let page = store.list(&who, &Filter::default(), None, 100).await.unwrap();
        for head in &page.heads {
            let events = read_all(store, &who, &head.task_id).await;
            let pushes = store.pushes(&who, &head.task_id).await;
            told += &format!("\n{head:?} {events:?} {pushes:?}");
        }
    }
    told
}

pub async fn what_was_stored_is_there_after_opening_again(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [Commit { send: send(1, at(0)), ..new("a") }, more("a", 2..=300)]).await;
    commit_all(&*store, &bob(), [new("b"), enter("b", 2, TaskState::Completed, at(9))]).await;
    store.put_push(&ann(), hook("a", "hook", 3)).await.unwrap();
    let before = everything(&*store).await;
    assert!(before.contains("text 300") && before.contains("hook"), "{before}");
    drop(store);

    let store = rig.open().await;
    assert_eq!(everything(&*store).await, before);
    let again = Commit { send: send(1, at(1)), ..new("again") };
    assert_eq!(store.commit(&ann(), again).await, Ok(Committed::Repeated { task_id: "a".to_owned() }));
    commit_all(&*store, &ann(), [more("a", [301])]).await;
}
