//! What belongs to another looks missing.

use agena::domain::principal::Principal;
use agena::domain::store::{Commit, Filter, Store, Taken};

use super::Rig;
use super::kit::*;

/// What each method says of the task `id`, as text: nothing in it may differ for another's and for none.
async fn answers(store: &dyn Store, who: &Principal, id: &str) -> Vec<String> {
    let said = |method: &str, answer: String| format!("{method}: {}", answer.replace(id, "ID"));
    let filter = Filter { context_id: Some("context".to_owned()), ..Filter::default() };
    vec![
        said("commit", format!("{:?}", store.commit(who, more(id, [2])).await)),
        said("head", format!("{:?}", store.head(who, id).await)),
        said("events", format!("{:?}", store.events(who, id, 0, 10).await)),
        said("list", format!("{:?}", store.list(who, &Filter::default(), None, 10).await)),
        said("list of a context", format!("{:?}", store.list(who, &filter, None, 10).await)),
        said("put_push", format!("{:?}", store.put_push(who, hook(id, "hook", 0)).await)),
        said("sent", format!("{:?}", store.sent(who, &send(1, at(0)).unwrap()).await)),
        said("push", format!("{:?}", store.push(who, id, "hook").await)),
        said("pushes", format!("{:?}", store.pushes(who, id).await)),
        said("delete_push", format!("{:?}", store.delete_push(who, id, "hook").await)),
        said("record_push", format!("{:?}", store.record_push(who, &hook(id, "hook", 99)).await)),
    ]
}

pub async fn anothers_task_looks_missing_to_every_method(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [Commit { send: send(1, at(0)), ..new("anns") }]).await;
    store.put_push(&ann(), hook("anns", "hook", 0)).await.unwrap();
    let missing = answers(&*store, &bob(), "none").await;
    assert_eq!(answers(&*store, &bob(), "anns").await, missing);
    assert!(missing.iter().all(|answer| !answer.contains("Ok(Head")), "{missing:?}");
    // Nor did the asking change anything.
    assert_eq!(store.head(&ann(), "anns").await.unwrap().sequence, 1);
    assert_eq!(store.pushes(&ann(), "anns").await.unwrap(), [hook("anns", "hook", 0)]);
}

pub async fn two_principals_may_have_tasks_of_the_same_id(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), [new("same"), more("same", 2..=5)]).await;
    // A clash would tell that the task exists.
    commit_all(&*store, &bob(), [new("same")]).await;
    assert_eq!(store.head(&ann(), "same").await.unwrap().sequence, 5);
    assert_eq!(sequences(&read_all(&*store, &bob(), "same").await), [1]);
    store.put_push(&bob(), hook("same", "h", 0)).await.unwrap();
    assert_eq!(store.pushes(&ann(), "same").await, Ok(vec![]));
    let due = store.due(at(0), 10, &Taken::default()).await.unwrap();
    assert_eq!(due.iter().map(|due| due.principal.clone()).collect::<Vec<_>>(), [bob()]);
}
