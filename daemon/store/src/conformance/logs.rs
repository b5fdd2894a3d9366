//! Cases about appending to logs and reading them.

use std::sync::Arc;

use agentd_domain::{Event, EventBody, Seq};

use crate::conformance::sample::{
    ALL, append, event, event_with_text, events, record, session_id, unknown_event,
};
use crate::{Batch, CommitError, PageLimit, Store, Write};

fn append_of(first: u64, last: u64) -> Batch {
    Batch::of(Write::Append { session_id: session_id(1), events: events(first, last) })
}

async fn log(store: &dyn Store) -> Vec<Event> {
    store.events(session_id(1), Seq::ZERO, ALL).await.unwrap().events
}

/// The first event is 1, and every further one follows the last.
pub async fn an_append_must_continue_its_log(store: Arc<dyn Store>) {
    for (first, last, fits) in [
        (2, 2, false),
        (0, 0, false),
        (1, 3, true),
        (3, 3, false),
        (5, 5, false),
        (4, 4, true),
        (1, 1, false),
    ] {
        let before = log(&*store).await;
        let result = store.commit(append_of(first, last)).await;
        assert_eq!(result.is_ok(), fits, "appending {first}..={last}: {result:?}");
        if !fits {
            assert!(matches!(result, Err(CommitError::OutOfOrder { .. })), "{result:?}");
            assert_eq!(log(&*store).await, before);
        }
    }
    let gap = Write::Append { session_id: session_id(1), events: vec![event(5), event(7)] };
    let refused = store.commit(Batch::of(gap)).await.unwrap_err();
    let CommitError::OutOfOrder { session_id: id, last, got } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((id, last, got), (session_id(1), Seq(5), Seq(7)));
    assert_eq!(log(&*store).await, events(1, 4));
}

/// Every write of a batch is there, or none is.
pub async fn a_batch_is_kept_whole_or_not_at_all(store: Arc<dyn Store>) {
    let (one, two) = (session_id(1), session_id(2));
    store.commit(append(one, 1, 2)).await.unwrap();
    let writes = |first| {
        Batch::from(vec![
            Write::PutSession(record(two, 5, 1)),
            Write::Append { session_id: two, events: vec![event(1)] },
            Write::MarkUnfinished(two),
            Write::Append { session_id: one, events: events(first, first) },
        ])
    };
    store.commit(writes(9)).await.unwrap_err();
    assert_eq!(store.session(two).await.unwrap(), None);
    assert_eq!(store.events(two, Seq(1), ALL).await.unwrap().events, []);
    assert_eq!(store.unfinished().await.unwrap(), []);
    assert_eq!(store.sessions(None, 9).await.unwrap().sessions.len(), 1);

    store.commit(writes(3)).await.unwrap();
    assert_eq!(store.session(two).await.unwrap(), Some(record(two, 5, 1)));
    assert_eq!(store.unfinished().await.unwrap(), [two]);
    assert_eq!(log(&*store).await, events(1, 3));
}

/// Batches that are committed at once succeed and fail each for itself.
pub async fn a_refused_batch_spares_its_neighbours(store: Arc<dyn Store>) {
    let commit = |batch| {
        let store = Arc::clone(&store);
        async move { store.commit(batch).await.is_ok() }
    };
    let bad = || {
        Batch::from(vec![
            Write::PutSession(record(session_id(8), 1, 1)),
            Write::Append { session_id: session_id(8), events: events(4, 4) },
        ])
    };
    let results = tokio::join!(
        commit(append(session_id(1), 1, 2)),
        commit(bad()),
        commit(append(session_id(1), 3, 3)),
        commit(bad()),
        commit(append(session_id(2), 1, 1)),
    );
    assert_eq!(results, (true, false, true, false, true));
    assert_eq!(log(&*store).await, events(1, 3));
    assert_eq!(store.session(session_id(8)).await.unwrap(), None);
}

/// Pages in order, without gaps, and the end is told.
pub async fn a_log_is_read_forward_in_pages(store: Arc<dyn Store>) {
    store.commit(append_of(1, 10)).await.unwrap();
    let limit = PageLimit { events: 4, bytes: usize::MAX };
    for (from, first, last, more) in
        [(0, 1, 4, true), (1, 1, 4, true), (5, 5, 8, true), (7, 7, 10, false), (10, 10, 10, false)]
    {
        let page = store.events(session_id(1), Seq(from), limit).await.unwrap();
        assert_eq!((page.events, page.more), (events(first, last), more), "from {from}");
    }
    for (session, from) in [(1, 11), (1, u64::MAX), (2, 1)] {
        let page = store.events(session_id(session), Seq(from), limit).await.unwrap();
        assert_eq!((page.events, page.more), (vec![], false), "{session} from {from}");
    }
    let none = PageLimit { events: 0, bytes: 0 };
    let page = store.events(session_id(1), Seq(3), none).await.unwrap();
    assert_eq!((page.events, page.more), (events(3, 3), true));
}

/// Backward pages end just before a position and are in order too.
pub async fn a_log_is_read_backward_in_pages(store: Arc<dyn Store>) {
    store.commit(append_of(1, 10)).await.unwrap();
    store.commit(append(session_id(2), 1, 3)).await.unwrap();
    let limit = PageLimit { events: 4, bytes: usize::MAX };
    for (before, first, last, more) in [
        (u64::MAX, 7, 10, true),
        (11, 7, 10, true),
        (7, 3, 6, true),
        (5, 1, 4, false),
        (3, 1, 2, false),
    ] {
        let page = store.events_before(session_id(1), Seq(before), limit).await.unwrap();
        assert_eq!((page.events, page.more), (events(first, last), more), "before {before}");
    }
    for (session, before) in [(1, 1), (1, 0), (3, 9)] {
        let page = store.events_before(session_id(session), Seq(before), limit).await.unwrap();
        assert_eq!((page.events, page.more), (vec![], false), "{session} before {before}");
    }
}

/// A page holds no more bytes than asked for, but always one event.
pub async fn a_page_ends_at_its_bytes(store: Arc<dyn Store>) {
    let large: Vec<_> = (1..=6).map(|seq| event_with_text(seq, "x".repeat(1000))).collect();
    let write = Write::Append { session_id: session_id(1), events: large.clone() };
    store.commit(Batch::of(write)).await.unwrap();
    for (bytes, expected) in [(0, 1), (1500, 1), (2500, 2), (4600, 4), (1 << 20, 6)] {
        let limit = PageLimit { events: 100, bytes };
        let page = store.events(session_id(1), Seq(1), limit).await.unwrap();
        assert_eq!(page.events, large[..expected], "{bytes} bytes forward");
        assert_eq!(page.more, expected < 6);
        let page = store.events_before(session_id(1), Seq(7), limit).await.unwrap();
        assert_eq!(page.events, large[6 - expected..], "{bytes} bytes backward");
        assert_eq!(page.more, expected < 6);
    }
}

/// What a newer build wrote is not touched.
pub async fn unknown_events_are_kept_byte_for_byte(store: Arc<dyn Store>) {
    let newer = unknown_event(2);
    let events = vec![event(1), newer.clone(), event(3)];
    let write = Write::Append { session_id: session_id(1), events: events.clone() };
    store.commit(Batch::of(write)).await.unwrap();
    let read = log(&*store).await;
    assert_eq!(read, events);
    assert_eq!(read[1].encode(), newer.encode());
    assert!(matches!(read[1].body, EventBody::Unknown(_)));
}
