//! What is always allowed belongs to a context of a principal, and to nobody else.

use agena::domain::grant::AlwaysRule;
use agena::domain::store::{Commit, Context, StoreError};
use agena::proto::a2a::TaskState;

use super::Rig;
use super::kit::{ann, at, bob, enter, more, new, new_in};

fn context(id: &str, tenant: &str) -> Context {
    Context { tenant: tenant.to_owned(), id: id.to_owned() }
}

fn rule(name: &str) -> AlwaysRule {
    AlwaysRule::Tool { name: name.to_owned() }
}

fn granting(commit: Commit, names: &[&str]) -> Commit {
    Commit { grants: names.iter().map(|name| rule(name)).collect(), ..commit }
}

pub async fn a_grant_holds_in_its_context_until_it_is_revoked(rig: &impl Rig) {
    let store = rig.open().await;
    store.commit(&ann(), granting(new_in("t", "c", ""), &["a", "b", "a"])).await.unwrap();
    store.commit(&ann(), granting(new_in("u", "c", ""), &["b", "c"])).await.unwrap();
    let here = context("c", "");
    let granted = store.grants(&ann(), &here).await.unwrap();
    let rules: Vec<AlwaysRule> = granted.iter().map(|grant| grant.rule.clone()).collect();
    assert_eq!(rules, ["a", "b", "c"].map(rule));
    for (who, elsewhere) in [(bob(), here.clone()), (ann(), context("d", "")), (ann(), context("c", "x"))] {
        assert_eq!(store.grants(&who, &elsewhere).await.unwrap(), []);
        assert!(!store.revoke_grant(&who, &elsewhere, &granted[0].id).await.unwrap());
    }
    let all = store.all_grants(&ann(), "").await.unwrap();
    assert_eq!(all, granted.iter().map(|grant| ("c".to_owned(), grant.clone())).collect::<Vec<_>>());
    for (who, tenant) in [(bob(), ""), (ann(), "x")] {
        assert_eq!(store.all_grants(&who, tenant).await.unwrap(), []);
    }
    assert!(store.revoke_grant(&ann(), &here, &granted[0].id).await.unwrap());
    assert!(!store.revoke_grant(&ann(), &here, &granted[0].id).await.unwrap());
    assert!(!store.revoke_grant(&ann(), &here, "nonsense").await.unwrap());
    assert_eq!(store.grants(&ann(), &here).await.unwrap(), granted[1..]);
}

pub async fn a_refused_commit_grants_nothing(rig: &impl Rig) {
    let store = rig.open().await;
    store.commit(&ann(), new("t")).await.unwrap();
    let refused = store.commit(&ann(), granting(more("t", [9]), &["a"])).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    assert_eq!(store.grants(&ann(), &context("context", "")).await.unwrap(), []);
}

pub async fn a_grant_goes_with_the_task_that_brought_it(rig: &impl Rig) {
    let store = rig.open().await;
    store.commit(&ann(), granting(new("t"), &["a"])).await.unwrap();
    store.commit(&ann(), enter("t", 2, TaskState::Completed, at(1))).await.unwrap();
    assert_eq!(store.purge(at(2)).await.unwrap(), 1);
    assert_eq!(store.grants(&ann(), &context("context", "")).await.unwrap(), []);
}
