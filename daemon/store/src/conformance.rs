//! What every backend must do, as tests that a backend runs on itself.
//!
//! ```text
//! mod my_store {
//!     agentd_store::store_conformance!(open_in_temp_dir());
//! }
//! ```
//! The expression gives `(Arc<dyn Store>, T)`, where `T` keeps alive what the store needs. Each case
//! gets a fresh, empty store.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed case panics, as tests do"
)]

mod concurrency;
mod logs;
mod records;
pub mod sample;
mod sessions;

pub use concurrency::{
    reads_see_what_was_committed_before, sd_02_commits_of_200_tasks_at_once_all_return,
    sessions_written_at_once_do_not_mix,
};
pub use logs::{
    a_batch_is_kept_whole_or_not_at_all, a_log_is_read_backward_in_pages,
    a_log_is_read_forward_in_pages, a_page_ends_at_its_bytes,
    a_refused_batch_spares_its_neighbours, an_append_must_continue_its_log,
    unknown_events_are_kept_byte_for_byte,
};
pub use records::{
    a_closed_store_refuses_everything, a_deleted_session_is_gone, a_snapshot_replaces_the_last,
    an_answer_is_found_by_the_clients_id, counters_are_listed_by_name_and_outlive_sessions,
    counters_sum_what_many_batches_add, cursors_never_go_back,
    goals_are_replaced_removed_and_outlive_sessions, later_batches_keep_their_order,
    memories_and_their_changes_are_kept_in_order, partial_text_is_replaced_and_cleared,
    rules_are_replaced_removed_and_outlive_sessions, unfinished_sessions_are_listed,
    vectors_are_replaced_and_go_with_their_memories,
};
pub use sessions::{
    sessions_are_listed_by_last_change, the_list_is_paged_while_sessions_change,
    the_list_is_paged_without_gaps,
};

/// Makes a `#[tokio::test]` of each case.
#[macro_export]
macro_rules! store_conformance {
    ($open:expr) => {
        $crate::store_conformance! { @each $open;
            an_append_must_continue_its_log,
            a_batch_is_kept_whole_or_not_at_all,
            a_refused_batch_spares_its_neighbours,
            a_log_is_read_forward_in_pages,
            a_log_is_read_backward_in_pages,
            a_page_ends_at_its_bytes,
            unknown_events_are_kept_byte_for_byte,
            sessions_are_listed_by_last_change,
            the_list_is_paged_without_gaps,
            the_list_is_paged_while_sessions_change,
            cursors_never_go_back,
            an_answer_is_found_by_the_clients_id,
            partial_text_is_replaced_and_cleared,
            a_snapshot_replaces_the_last,
            unfinished_sessions_are_listed,
            later_batches_keep_their_order,
            counters_sum_what_many_batches_add,
            counters_are_listed_by_name_and_outlive_sessions,
            rules_are_replaced_removed_and_outlive_sessions,
            goals_are_replaced_removed_and_outlive_sessions,
            memories_and_their_changes_are_kept_in_order,
            vectors_are_replaced_and_go_with_their_memories,
            a_deleted_session_is_gone,
            a_closed_store_refuses_everything,
            sd_02_commits_of_200_tasks_at_once_all_return,
            sessions_written_at_once_do_not_mix,
            reads_see_what_was_committed_before,
        }
    };
    (@each $open:expr; $($case:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (store, _alive) = $open;
                $crate::conformance::$case(store).await;
            }
        )*
    };
}
