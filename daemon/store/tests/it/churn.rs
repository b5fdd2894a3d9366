//! Cases SD-04 and SD-05: disk and memory stay bounded.

use std::path::Path;

use agentd_domain::{SessionId, TimestampMs};
use agentd_store::conformance::sample::{event_with_text, record, session_id};
use agentd_store::{Batch, SledOptions, SledStore, Store, Write};

/// What the store may take beside three times what is live: sled keeps some half-empty segments.
const CONSTANT: u64 = 16 << 20;

fn quick(dir: &Path) -> SledStore {
    let options = SledOptions { fsync: false, ..SledOptions::default() };
    SledStore::open(dir, options).unwrap().store
}

fn session(id: SessionId, events: u64, bytes: usize) -> Batch {
    let text = |seq: u64| char::from(b'a' + u8::try_from(seq % 26).unwrap()).to_string();
    let events: Vec<_> =
        (1..=events).map(|seq| event_with_text(seq, text(seq).repeat(bytes))).collect();
    let last = u64::try_from(events.len()).unwrap();
    Batch::from(vec![
        Write::Append { session_id: id, events },
        Write::PutSession(record(id, i64::try_from(last).unwrap(), last)),
    ])
}

async fn bytes_on_disk(store: &dyn Store) -> u64 {
    store.stats().await.unwrap().bytes_on_disk
}

#[tokio::test]
async fn sd_04_deleted_sessions_give_their_space_back() {
    const LIVE: u128 = 20;
    const EVENTS: u64 = 40;
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let store = quick(&dir);
    let live = u64::try_from(LIVE).unwrap() * EVENTS * 1100;
    let (mut written, mut largest) = (0, 0);
    for n in 0..1500 {
        store.commit(session(session_id(n), EVENTS, 1000)).await.unwrap();
        written += EVENTS * 1100;
        if n >= LIVE {
            store.commit(Batch::of(Write::DeleteSession(session_id(n - LIVE)))).await.unwrap();
        }
        if n % 100 == 0 {
            largest = largest.max(bytes_on_disk(&store).await);
        }
    }
    let bound = 3 * live + CONSTANT;
    assert!(written > 3 * bound, "{written} bytes are too few to show anything");
    assert!(largest < bound, "{largest} of {bound} bytes");
    store.close().await.unwrap();
    let store = quick(&dir);
    let left = bytes_on_disk(&store).await;
    assert!(left < bound, "{left} of {bound} bytes after a restart");
    assert_eq!(store.sessions(None, 100).await.unwrap().sessions.len(), 20);
}

#[tokio::test]
async fn sd_04_a_record_that_is_overwritten_all_the_time_does_not_pile_up() {
    let temp = tempfile::tempdir().unwrap();
    let store = quick(&temp.path().join("store"));
    let id = session_id(1);
    let mut record = record(id, 1, 0);
    record.title = "t".repeat(20_000);
    for at in 0..3000 {
        record.updated_at = TimestampMs(at);
        store.commit(Batch::of(Write::PutSession(record.clone()))).await.unwrap();
    }
    let left = bytes_on_disk(&store).await;
    assert!(left < CONSTANT, "{left} bytes for one record");
}

/// Resident bytes of this process.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[tokio::test]
async fn sd_05_reading_everything_takes_bounded_memory() {
    const SESSIONS: u128 = 60;
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let store = quick(&dir);
    for n in 0..SESSIONS {
        store.commit(session(session_id(n), 400, 4000)).await.unwrap();
    }
    store.close().await.unwrap();
    let store = quick(&dir);
    let before = resident();
    let stored = bytes_on_disk(&store).await;
    let found = store.verify().await.unwrap();
    assert_eq!(found.events, 400 * u64::try_from(SESSIONS).unwrap());
    assert!(found.is_sound());
    let grown = resident().saturating_sub(before);
    assert!(stored > 90 << 20, "{stored} bytes are too few to show anything");
    assert!(grown < 64 << 20, "{grown} bytes more after reading {stored}");
}
