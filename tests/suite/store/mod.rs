//! What every store must do: one list of checks that runs for each of them. A check knows the trait and a rig,
//! nothing of the store behind it; `sqlite` holds the rig of the embedded one and what only it promises.

mod commits;
mod crowd;
mod grants;
mod isolation;
mod kit;
mod lists;
mod model;
mod purge;
mod pushes;
mod reopen;
mod sends;
mod sqlite;

use std::sync::Arc;

use agena::domain::store::Store;

/// The data of one store, which can be opened again once it was closed.
#[tonic::async_trait]
pub trait Rig: Sized + Send + Sync {
    async fn fresh() -> Self;
    async fn open(&self) -> Arc<dyn Store>;
}

/// Runs every check on a rig. One that is missing in the list is dead code, which the build refuses.
macro_rules! conformance {
    ($rig:ident) => {
        $crate::store::conformance! { $rig =>
            commits: [
                what_is_committed_is_read_back, every_kind_of_state_is_read_back,
                events_come_from_the_cursor_on_in_whole_commits, a_commit_that_is_not_next_is_a_conflict,
                a_task_that_is_not_there_is_not_found, a_commit_out_of_order_stores_nothing,
                a_large_commit_is_read_back, times_are_kept_to_the_millisecond,
            ],
            sends: [
                a_repeated_send_within_its_window_gives_the_same_task, an_older_send_is_forgotten,
                sends_are_told_apart_by_principal, a_send_to_a_task_that_exists_is_recognised_too,
                a_send_whose_commit_was_refused_is_not_remembered, many_equal_sends_at_once_make_one_task,
                a_send_can_be_looked_up, a_window_of_nothing_recognises_nothing,
            ],
            isolation: [
                anothers_task_looks_missing_to_every_method, two_principals_may_have_tasks_of_the_same_id,
            ],
            lists: [
                the_last_changed_come_first_and_ids_decide, each_filter_holds_alone_and_with_others,
                pages_join_without_gap_and_repeat, a_change_of_state_moves_a_task_to_the_front,
                a_page_of_nothing_still_counts, contexts_add_up_their_tasks,
            ],
            pushes: [
                webhooks_are_stored_replaced_listed_and_deleted, a_webhook_is_due_when_there_is_something_to_send,
                due_webhooks_come_in_the_order_of_their_time, who_has_enough_visitors_is_passed_over,
                a_stopped_webhook_is_never_due,
                a_delivery_is_recorded, a_delivery_to_a_webhook_that_is_gone_changes_nothing,
                a_delivery_to_a_webhook_that_was_replaced_changes_nothing,
                a_webhook_without_an_id_is_the_same_one_again, a_task_has_room_for_so_many_webhooks,
                a_commit_brings_its_webhook_along, a_commit_whose_webhook_has_no_room_changes_nothing,
            ],
            grants: [
                a_grant_holds_in_its_context_until_it_is_revoked, a_refused_commit_grants_nothing,
                a_grant_goes_with_the_task_that_brought_it,
            ],
            purge: [
                what_is_not_over_is_unfinished, old_terminal_tasks_are_forgotten_with_all_that_is_theirs,
                a_purge_of_much_lets_others_write,
            ],
            crowd: [many_tasks_at_once_keep_their_order, one_of_two_appends_at_once_wins],
            reopen: [what_was_stored_is_there_after_opening_again],
            model: [random_histories_read_like_a_plain_model],
        }
    };
    ($rig:ident => $($file:ident: [$($check:ident),* $(,)?]),* $(,)?) => {
        $(mod $file {
            use super::$rig;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $check() {
                let rig = <$rig as $crate::store::Rig>::fresh().await;
                $crate::store::$file::$check(&rig).await;
            })*
        })*
    };
}
use conformance;
