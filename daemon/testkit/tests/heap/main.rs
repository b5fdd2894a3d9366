//! What the store keeps in memory, counted. A program of its own, because the count is the whole
//! process's: there is room for one test only.

#![expect(clippy::expect_used, reason = "what fails fails the test")]

use std::ops::Range;

use agentd_store::conformance::sample::{event_with_text, record, session_id};
use agentd_store::{Batch, SledOptions, SledStore, Store, Write};
use agentd_testkit::{CountingAllocator, HeapUse};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Sessions of about 20 KB that stay: enough to fill the cache and what sled keeps beyond it.
const STAYING: u128 = 400;
const COMMITS: u64 = 8;
const EVENTS_OF_COMMIT: u64 = 5;
const TEXT: usize = 350;
const CACHE_BYTES: u64 = 1 << 20;
/// Sessions that come and go between two looks, and how many of them are there at a time.
const PASSING: u128 = 200;
const LIVE: u128 = 50;
/// Allocations and bytes by which two looks at a full cache differ: pages are larger and smaller. A
/// leaked record of each event that passes would be 8,000 and 3 MB.
const NOISE_BLOCKS: usize = 1_500;
const NOISE_BYTES: usize = 1 << 20;
/// What remains in memory of what is stored and not cached: of each page where it lies.
const INDEX_PER_MILLE: u64 = 15;

#[tokio::test]
async fn sd_05_memory_of_a_store_does_not_grow_with_what_passed_through_it() {
    let temp = tempfile::tempdir().expect("a folder");
    let options = SledOptions { fsync: false, cache_bytes: CACHE_BYTES, ..SledOptions::default() };
    let opened = SledStore::open(&temp.path().join("store"), options).expect("a store");
    let store = opened.store;
    let full = stay(&store, 0..STAYING).await;

    let first = pass(&store, STAYING..STAYING + PASSING).await;
    let second = pass(&store, STAYING + PASSING..STAYING + 2 * PASSING).await;
    assert!(second.blocks < first.blocks + NOISE_BLOCKS, "{first:?}, then {second:?}");
    assert!(second.bytes < first.bytes + NOISE_BYTES, "{first:?}, then {second:?}");

    // What stays costs its index, not itself; deleting has made room in the cache, which fills again.
    let before = store.stats().await.expect("its size").bytes_on_disk;
    let fuller = stay(&store, STAYING + 2 * PASSING..2 * STAYING + 2 * PASSING).await;
    let stored = store.stats().await.expect("its size").bytes_on_disk - before;
    let index = usize::try_from(stored * INDEX_PER_MILLE / 1000).expect("few");
    assert!(stored > 8 * CACHE_BYTES, "{stored} bytes are too few to show anything");
    assert!(fuller.bytes < full.bytes + index + NOISE_BYTES, "{full:?}, then {fuller:?}");
    store.close().await.expect("it closes");
}

/// Writes these sessions and deletes each when others have come after it.
async fn pass(store: &SledStore, numbers: Range<u128>) -> HeapUse {
    for n in numbers.clone() {
        write(store, n).await;
        if n >= numbers.start + LIVE {
            delete(store, n - LIVE).await;
        }
    }
    for n in numbers.end - LIVE..numbers.end {
        delete(store, n).await;
    }
    HeapUse::now()
}

async fn delete(store: &SledStore, n: u128) {
    let delete = Batch::of(Write::DeleteSession(session_id(n)));
    store.commit(delete).await.expect("delete a session");
}

/// Writes these sessions, which stay.
async fn stay(store: &SledStore, numbers: Range<u128>) -> HeapUse {
    for n in numbers {
        write(store, n).await;
    }
    HeapUse::now()
}

/// Writes a session as the engine does, a few events at a time.
async fn write(store: &SledStore, n: u128) {
    let id = session_id(n);
    for commit in 0..COMMITS {
        let last = (commit + 1) * EVENTS_OF_COMMIT;
        let events = commit * EVENTS_OF_COMMIT + 1..=last;
        let events = events.map(|seq| event_with_text(seq, "x".repeat(TEXT))).collect();
        let at = i64::try_from(n).expect("few") * 1_000 + i64::try_from(last).expect("few");
        let batch = Batch::from(vec![
            Write::Append { session_id: id, events },
            Write::PutSession(record(id, at, last)),
        ]);
        store.commit(batch).await.expect("write events");
    }
}
