//! Lists: order, filters, pages.

use agena::domain::store::{After, Commit, ContextHead, ContextPage, Filter, Page, Store};
use agena::proto::a2a::TaskState;

use super::Rig;
use super::kit::*;

fn ids(page: &Page) -> Vec<&str> {
    page.heads.iter().map(|head| head.task_id.as_str()).collect()
}

fn dated(id: &str, context: &str, tenant: &str, state: TaskState, millis: u64) -> Commit {
    Commit { state, updated: Some(at(millis)), ..new_in(id, context, tenant) }
}

pub async fn the_last_changed_come_first_and_ids_decide(rig: &impl Rig) {
    let store = rig.open().await;
    let made = [("b", 5), ("d", 5), ("a", 9), ("c", 5), ("e", 1)];
    commit_all(&*store, &ann(), made.map(|(id, t)| dated(id, "c", "", TaskState::Working, t))).await;
    let page = store.list(&ann(), &Filter::default(), None, 10).await.unwrap();
    assert_eq!(ids(&page), ["a", "d", "c", "b", "e"]);
    assert_eq!((page.total, page.more), (5, false));
    assert_eq!(page.heads[0], store.head(&ann(), "a").await.unwrap());
}

pub async fn each_filter_holds_alone_and_with_others(rig: &impl Rig) {
    use TaskState::{Completed, Working};
    let store = rig.open().await;
    let made = [
        dated("a", "x", "", Working, 1),
        dated("b", "x", "", Completed, 2),
        dated("c", "y", "", Working, 3),
        dated("d", "y", "", Completed, 4),
        dated("e", "x", "tenant", Working, 5),
    ];
    commit_all(&*store, &ann(), made).await;
    let filter = |context: Option<&str>, state, since: Option<u64>| Filter {
        tenant: String::new(),
        context_id: context.map(str::to_owned),
        state,
        updated_since: since.map(at),
        open: false,
    };
    for (filter, expected) in [
        (filter(None, None, None), vec!["d", "c", "b", "a"]),
        (filter(Some("x"), None, None), vec!["b", "a"]),
        (filter(Some("none"), None, None), vec![]),
        (filter(None, Some(Working), None), vec!["c", "a"]),
        (filter(None, Some(TaskState::Failed), None), vec![]),
        (filter(None, None, Some(3)), vec!["d", "c"]),
        (Filter { open: true, ..Filter::default() }, vec!["c", "a"]),
        (Filter { open: true, ..filter(Some("x"), None, None) }, vec!["a"]),
        (filter(None, None, Some(5)), vec![]),
        (filter(Some("x"), Some(Working), None), vec!["a"]),
        (filter(Some("y"), None, Some(4)), vec!["d"]),
        (filter(None, Some(Completed), Some(3)), vec!["d"]),
        (filter(Some("y"), Some(Working), Some(3)), vec!["c"]),
        (filter(Some("y"), Some(Working), Some(4)), vec![]),
        (Filter { tenant: "tenant".to_owned(), ..Filter::default() }, vec!["e"]),
        (Filter { tenant: "other".to_owned(), ..Filter::default() }, vec![]),
    ] {
        let page = store.list(&ann(), &filter, None, 10).await.unwrap();
        assert_eq!(ids(&page), expected, "{filter:?}");
        assert_eq!((page.total, page.more), (expected.len() as u64, false), "{filter:?}");
    }
}

/// Every id, page by page, and how many pages that took.
async fn walk(store: &dyn Store, filter: &Filter, size: usize, total: u64) -> (Vec<String>, usize) {
    let (mut all, mut pages, mut after) = (Vec::new(), 0, None);
    loop {
        let page = store.list(&ann(), filter, after.as_ref(), size).await.unwrap();
        assert_eq!(page.total, total, "on each page");
        pages += 1;
        all.extend(page.heads.iter().map(|head| head.task_id.clone()));
        let Some(last) = page.heads.last().filter(|_| page.more) else { return (all, pages) };
        after = Some(After { updated: last.updated, task_id: last.task_id.clone() });
    }
}

pub async fn pages_join_without_gap_and_repeat(rig: &impl Rig) {
    let store = rig.open().await;
    // Seven tasks share each time, so that pages break between equals.
    let made = (0..30).map(|n| {
        let state = if n % 3 == 0 { TaskState::Completed } else { TaskState::Working };
        dated(&format!("t{n:02}"), &format!("c{}", n % 2), "", state, n / 7)
    });
    commit_all(&*store, &ann(), made).await;
    commit_all(&*store, &bob(), (0..5).map(|n| dated(&format!("bob{n}"), "c0", "", TaskState::Working, n)))
        .await;
    let all: Vec<String> = (0..30).rev().map(|n| format!("t{n:02}")).collect();
    for size in [1, 2, 7, 29, 30, 31] {
        let (walked, pages) = walk(&*store, &Filter::default(), size, 30).await;
        assert_eq!(walked, all, "{size}");
        assert_eq!(pages, 30usize.div_ceil(size), "{size}");
    }
    let filter = Filter {
        context_id: Some("c1".to_owned()),
        state: Some(TaskState::Working),
        updated_since: Some(at(1)),
        ..Filter::default()
    };
    let some: Vec<String> =
        (7..30).rev().filter(|n| n % 2 == 1 && n % 3 != 0).map(|n| format!("t{n:02}")).collect();
    assert_eq!(walk(&*store, &filter, 2, some.len() as u64).await.0, some);
}

pub async fn a_change_of_state_moves_a_task_to_the_front(rig: &impl Rig) {
    let store = rig.open().await;
    commit_all(&*store, &ann(), ["a", "b"].map(|id| dated(id, "c", "", TaskState::Submitted, 1))).await;
    let order = async || {
        let page = store.list(&ann(), &Filter::default(), None, 10).await.unwrap();
        ids(&page).join(" ")
    };
    assert_eq!(order().await, "b a");
    commit_all(&*store, &ann(), [more("a", [2])]).await;
    assert_eq!(order().await, "b a", "events alone move nothing");
    commit_all(&*store, &ann(), [enter("a", 3, TaskState::Working, at(2))]).await;
    assert_eq!(order().await, "a b");
}

pub async fn a_page_of_nothing_still_counts(rig: &impl Rig) {
    let store = rig.open().await;
    let nothing = |total, more| Ok(Page { heads: vec![], total, more });
    assert_eq!(store.list(&ann(), &Filter::default(), None, 10).await, nothing(0, false));
    commit_all(&*store, &ann(), [new("t")]).await;
    assert_eq!(store.list(&ann(), &Filter::default(), None, 0).await, nothing(1, true));
    let end = After { updated: at(0), task_id: "t".to_owned() };
    assert_eq!(store.list(&ann(), &Filter::default(), Some(&end), 10).await, nothing(1, false));
}

/// Contexts add up what their tasks are, those that changed last first.
pub async fn contexts_add_up_their_tasks(rig: &impl Rig) {
    use TaskState::{Completed, Working};
    let store = rig.open().await;
    let made = [
        dated("a", "x", "", Working, 1),
        dated("b", "x", "", Completed, 6),
        dated("c", "y", "", Working, 3),
        dated("d", "z", "", Completed, 3),
        dated("e", "x", "tenant", Working, 9),
    ];
    commit_all(&*store, &ann(), made).await;
    let shown = |page: &ContextPage| -> Vec<(String, String, String, u64, u64)> {
        let context = |c: &ContextHead| {
            (c.context_id.clone(), c.first_task.clone(), c.newest.task_id.clone(), c.tasks, c.open)
        };
        page.contexts.iter().map(context).collect()
    };
    let row = |context: &str, first: &str, newest: &str, tasks, open| {
        (context.to_owned(), first.to_owned(), newest.to_owned(), tasks, open)
    };
    let all = [row("x", "a", "b", 2, 1), row("z", "d", "d", 1, 0), row("y", "c", "c", 1, 1)];
    let whole = store.contexts(&ann(), "", None, 9).await.unwrap();
    assert_eq!((shown(&whole), whole.more), (all.to_vec(), false));
    let first = store.contexts(&ann(), "", None, 2).await.unwrap();
    assert_eq!((shown(&first), first.more), (all[..2].to_vec(), true));
    let last = first.contexts.last().unwrap();
    let after = After { updated: last.newest.updated, task_id: last.context_id.clone() };
    let rest = store.contexts(&ann(), "", Some(&after), 2).await.unwrap();
    assert_eq!((shown(&rest), rest.more), (all[2..].to_vec(), false));
    let other = store.contexts(&bob(), "", None, 9).await.unwrap();
    assert_eq!(other.contexts, []);
}
