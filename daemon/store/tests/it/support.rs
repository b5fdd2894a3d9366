//! Stores in temporary directories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{Event, Seq, SessionId};
pub(crate) use agentd_store::conformance::sample::ALL;
use agentd_store::conformance::sample::append;
use agentd_store::{Opened, SledOptions, SledStore, Store};
use tempfile::TempDir;

/// A fresh store and the directory that keeps it.
pub(crate) fn fresh() -> (Arc<dyn Store>, TempDir) {
    let temp = tempfile::tempdir().unwrap();
    let store = open(&temp.path().join("store")).store;
    (Arc::new(store), temp)
}

pub(crate) fn open(dir: &Path) -> Opened {
    SledStore::open(dir, SledOptions::default()).unwrap()
}

pub(crate) async fn log(store: &dyn Store, id: SessionId) -> Vec<Event> {
    store.events(id, Seq(1), ALL).await.unwrap().events
}

/// A closed store with `sessions` sessions of `events` events each, committed one by one.
pub(crate) async fn filled(temp: &TempDir, sessions: u128, events: u64) -> PathBuf {
    let dir = temp.path().join("store");
    let store = open(&dir).store;
    for seq in 1..=events {
        for n in 1..=sessions {
            let id = agentd_store::conformance::sample::session_id(n);
            store.commit(append(id, seq, seq)).await.unwrap();
        }
    }
    store.close().await.unwrap();
    dir
}
