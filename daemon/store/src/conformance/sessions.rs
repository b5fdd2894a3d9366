//! Cases about the index of sessions.

use std::sync::Arc;

use agentd_domain::SessionId;

use crate::conformance::sample::{record, session_id};
use crate::{Batch, SessionCursor, Store, Write};

async fn put(store: &dyn Store, session: u128, updated_ms: i64) {
    let write = Write::PutSession(record(session_id(session), updated_ms, 1));
    store.commit(Batch::of(write)).await.unwrap();
}

async fn page(
    store: &dyn Store,
    from: Option<SessionCursor>,
    limit: usize,
) -> (Vec<SessionId>, Option<SessionCursor>) {
    let page = store.sessions(from, limit).await.unwrap();
    (page.sessions.iter().map(|record| record.session_id).collect(), page.next)
}

fn ids(numbers: &[u128]) -> Vec<SessionId> {
    numbers.iter().copied().map(session_id).collect()
}

/// The session that changed last comes first, and is listed once.
pub async fn sessions_are_listed_by_last_change(store: Arc<dyn Store>) {
    for (session, updated_ms) in [(1, 10), (2, 30), (3, 20), (4, -5), (1, 40), (3, 20)] {
        put(&*store, session, updated_ms).await;
    }
    assert_eq!(page(&*store, None, 10).await, (ids(&[1, 2, 3, 4]), None));
    let first = &store.sessions(None, 1).await.unwrap().sessions[0];
    assert_eq!(*first, record(session_id(1), 40, 1));
    assert_eq!(store.session(session_id(1)).await.unwrap(), Some(first.clone()));
    assert_eq!(store.session(session_id(5)).await.unwrap(), None);
}

/// Pages joined together are the whole list.
pub async fn the_list_is_paged_without_gaps(store: Arc<dyn Store>) {
    assert_eq!(page(&*store, None, 3).await, (vec![], None));
    for session in 1..=7 {
        // Two sessions share each time.
        put(&*store, session, i64::try_from(session / 2).unwrap()).await;
    }
    let (whole, _end) = page(&*store, None, 100).await;
    assert_eq!(whole.len(), 7);
    for limit in 1..=8 {
        let (mut joined, mut next) = page(&*store, None, limit).await;
        while let Some(from) = next {
            let (more, after) = page(&*store, Some(from), limit).await;
            assert!(!more.is_empty() && more.len() <= limit);
            joined.extend(more);
            next = after;
        }
        assert_eq!(joined, whole, "pages of {limit}");
    }
}

/// A token stays valid when sessions move, go and come; those that did not move are neither left
/// out nor repeated.
pub async fn the_list_is_paged_while_sessions_change(store: Arc<dyn Store>) {
    for session in 1..=8 {
        put(&*store, session, i64::try_from(session).unwrap()).await;
    }
    let (first, next) = page(&*store, None, 3).await;
    assert_eq!(first, ids(&[8, 7, 6]));
    // 6, where the token points, moves to the front; 4 goes; 9 comes.
    put(&*store, 6, 100).await;
    store.commit(Batch::of(Write::DeleteSession(session_id(4)))).await.unwrap();
    put(&*store, 9, 101).await;
    let (second, next) = page(&*store, next, 3).await;
    assert_eq!(second, ids(&[5, 3, 2]));
    let (third, next) = page(&*store, next, 3).await;
    assert_eq!((third, next), (ids(&[1]), None));
    let (whole, _end) = page(&*store, None, 100).await;
    assert_eq!(whole, ids(&[9, 6, 8, 7, 5, 3, 2, 1]));
}
