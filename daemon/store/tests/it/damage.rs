//! Cases SL-01 and SD-03: damaged files never keep the daemon from starting, and never lose anything
//! without saying so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agentd_domain::{Event, Seq, SessionId};
use agentd_store::conformance::sample::{append, event, events, record, session_id};
use agentd_store::{
    Batch, Counter, OpenReport, ReadError, SalvageSource, SledOptions, SledStore, Snapshot, Store,
    Write,
};
use tempfile::TempDir;

use crate::support::{ALL, log, open};

const SESSIONS: u128 = 12;
const EVENTS: u64 = 25;

/// More places to damage than by default.
fn places(default: usize) -> usize {
    std::env::var("AGENTD_DAMAGE_PLACES").map_or(default, |places| places.parse().unwrap())
}

/// A store as a daemon leaves it that was closed, started again, and killed.
struct Original {
    temp: TempDir,
    logs: BTreeMap<SessionId, Vec<Event>>,
}

impl Original {
    async fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("store");
        let store = open(&dir).store;
        for seq in 1..=EVENTS {
            for n in 1..=SESSIONS {
                store.commit(append(session_id(n), seq, seq)).await.unwrap();
            }
        }
        // Large enough for a file of its own.
        let snapshot = Snapshot { seq: Seq(3), bytes: vec![9; 300_000] };
        let write = Write::PutSnapshot { session_id: session_id(1), snapshot };
        store.commit(Batch::of(write)).await.unwrap();
        let add = Write::AddToCounter { name: "c".to_owned(), by: vec![1, 2] };
        store.commit(Batch::of(add)).await.unwrap();
        store.close().await.unwrap();
        let store = open(&dir).store;
        for seq in EVENTS + 1..=EVENTS + 5 {
            for n in 1..=SESSIONS {
                store.commit(append(session_id(n), seq, seq)).await.unwrap();
            }
        }
        // The copy is what a kill leaves behind.
        copy_dir(temp.path(), &temp.path().join("killed"));
        let logs = (1..=SESSIONS).map(|n| (session_id(n), events(1, EVENTS + 5))).collect();
        store.close().await.unwrap();
        copy_dir(temp.path(), &temp.path().join("closed"));
        Self { temp, logs }
    }

    /// A copy to damage.
    fn copy(&self, how_left: &str) -> (TempDir, PathBuf) {
        let copy = tempfile::tempdir().unwrap();
        copy_dir(&self.temp.path().join(how_left), copy.path());
        let dir = copy.path().join("store");
        (copy, dir)
    }

    fn len(&self, file: &str) -> usize {
        let path = self.temp.path().join("killed/store").join(file);
        usize::try_from(fs::metadata(path).unwrap().len()).unwrap()
    }

    /// Damages a copy, opens it, and checks that the loss of anything is told and that the store is
    /// of use. Gives whether the damage was noticed at all; it may have hit what is no longer used.
    async fn check(&self, what: &str, how_left: &str, damage: impl FnOnce(&Path)) -> bool {
        let (_temp, dir) = self.copy(how_left);
        damage(&dir);
        let opened = open(&dir);
        let told = !opened.report.warnings().is_empty();
        let mut noticed = told;
        for (id, original) in &self.logs {
            match read(&opened.store, *id).await {
                Ok(events) => {
                    assert!(original.starts_with(&events), "{what}: other events than written");
                    assert!(
                        told || events.len() == original.len(),
                        "{what}: {id} has {} events and nothing was said",
                        events.len()
                    );
                }
                Err(ReadError::Corrupt { .. } | ReadError::Event { .. }) => noticed = true,
                Err(error) => panic!("{what}: {error:?}"),
            }
        }
        use_it(&opened.store, what).await;
        let _damaged = opened.store.close().await;

        let again = open(&dir);
        for id in self.logs.keys() {
            let read = read(&again.store, *id).await;
            let backend_failed = matches!(read, Err(ReadError::Corrupt { .. }));
            assert!(!backend_failed, "{what}: unreadable after a second start: {read:?}");
        }
        use_it(&again.store, what).await;
        noticed
    }
}

async fn read(store: &dyn Store, id: SessionId) -> Result<Vec<Event>, ReadError> {
    let mut events = Vec::new();
    loop {
        let next = Seq(u64::try_from(events.len()).unwrap() + 1);
        let page = store.events(id, next, ALL).await?;
        events.extend(page.events);
        if !page.more {
            return Ok(events);
        }
    }
}

/// Appends to a new session and reads it back, unless the store says that it is damaged.
async fn use_it(store: &dyn Store, what: &str) {
    let id = session_id(1000);
    let first = match store.session(id).await {
        Ok(record) => record.map_or(0, |record| record.last_seq.0) + 1,
        Err(ReadError::Corrupt { .. }) => return,
        Err(error) => panic!("{what}: {error:?}"),
    };
    match store.commit(append(id, first, first + 1)).await {
        Ok(()) => assert_eq!(log(store, id).await, events(1, first + 1), "{what}"),
        Err(agentd_store::CommitError::Corrupt { .. }) => {}
        Err(error) => panic!("{what}: {error:?}"),
    }
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path() == to
            || ["killed", "closed"].iter().any(|name| entry.path().ends_with(name))
        {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn snap(dir: &Path) -> PathBuf {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files.into_iter().find(|path| path.to_string_lossy().contains("snap.")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sl_01_a_store_cut_at_any_length_starts_and_tells_what_is_missing() {
    let original = Original::new().await;
    let (len, places) = (original.len("db"), places(16));
    for how_left in ["killed", "closed"] {
        for part in 0..places {
            let cut = len * part / places + part % 16;
            original
                .check(&format!("{how_left}, db cut to {cut} of {len}"), how_left, |dir| {
                    edit(&dir.join("db"), |bytes| bytes.truncate(cut));
                })
                .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sl_01_flipped_bits_and_blocks_of_nul_never_pass_unnoticed() {
    let original = Original::new().await;
    // What lies behind the log's end is filler that nothing depends on.
    let dir = original.temp.path().join("killed/store");
    let db = fs::read(dir.join("db")).unwrap();
    let used = db.iter().rposition(|byte| *byte != 0).unwrap();
    let places = places(24);
    let mut noticed = 0;
    for part in 0..places {
        let at = used * part / places + part % 11;
        let how_left = if part % 2 == 0 { "killed" } else { "closed" };
        let flipped = original
            .check(&format!("{how_left}, bit flipped at {at} of {used}"), how_left, |dir| {
                edit(&dir.join("db"), |bytes| bytes[at] ^= 4);
            })
            .await;
        let cleared = original
            .check(&format!("{how_left}, 400 NUL at {at} of {used}"), how_left, |dir| {
                edit(&dir.join("db"), |bytes| bytes[at..at + 400].fill(0));
            })
            .await;
        noticed += usize::from(flipped) + usize::from(cleared);
    }
    assert!(noticed > places / 8, "only {noticed} of {places} places mattered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sd_03_damaged_page_tables_settings_and_blobs_do_not_keep_the_store_from_starting() {
    let original = Original::new().await;
    let snap_len = fs::metadata(snap(&original.temp.path().join("killed/store"))).unwrap().len();
    let snap_len = usize::try_from(snap_len).unwrap();
    for part in 0..8 {
        let at = snap_len * part / 8;
        original
            .check(&format!("page table cut to {at}"), "killed", |dir| {
                edit(&snap(dir), |bytes| bytes.truncate(at));
            })
            .await;
        original
            .check(&format!("page table flipped at {at}"), "closed", |dir| {
                edit(&snap(dir), |bytes| {
                    let at = at.min(bytes.len() - 1);
                    bytes[at] ^= 1;
                });
            })
            .await;
    }
    for at in (0..original.len("conf")).step_by(7) {
        original
            .check(&format!("settings flipped at {at}"), "killed", |dir| {
                edit(&dir.join("conf"), |bytes| bytes[at] ^= 1);
            })
            .await;
    }
    original
        .check("settings gone", "closed", |dir| fs::remove_file(dir.join("conf")).unwrap())
        .await;
    original.check("page table gone", "killed", |dir| fs::remove_file(snap(dir)).unwrap()).await;
    original
        .check("blobs gone", "killed", |dir| {
            for blob in fs::read_dir(dir.join("blobs")).unwrap() {
                fs::remove_file(blob.unwrap().path()).unwrap();
            }
        })
        .await;
}

#[tokio::test]
async fn sd_03_a_half_written_page_table_is_put_aside() {
    let original = Original::new().await;
    for (name, bytes) in [
        ("snap.0000000000FFFFFF.generating", vec![]),
        ("snap.0000000000FFFFFF.generating", vec![1; 500]),
        ("snap.0000000000000001.generating", vec![0; 13]),
    ] {
        let (_temp, dir) = original.copy("killed");
        fs::write(dir.join(name), bytes).unwrap();
        let opened = open(&dir);
        assert_eq!(opened.report.warnings(), Vec::<String>::new());
        for (id, events) in &original.logs {
            assert_eq!(log(&opened.store, *id).await, *events);
        }
    }
}

#[tokio::test]
async fn a_corrupt_page_table_loses_nothing_and_the_damaged_files_are_kept() {
    let original = Original::new().await;
    let (_temp, dir) = original.copy("killed");
    edit(&snap(&dir), |bytes| bytes[20] ^= 0xff);
    let damaged = fs::read(snap(&dir)).unwrap();
    let OpenReport { salvage, lost_commits, .. } = open(&dir).report;
    let salvage = salvage.unwrap();
    assert_eq!(lost_commits, 0);
    assert_eq!(salvage.source, SalvageSource::Files);
    assert_eq!(salvage.events, u64::try_from(SESSIONS).unwrap() * (EVENTS + 5));
    assert_eq!(fs::read(snap(&salvage.damaged_dir)).unwrap(), damaged);
    let counters = open(&dir).store.counters("", "z", 9).await.unwrap();
    assert_eq!(counters, [Counter { name: "c".to_owned(), values: vec![1, 2] }]);
}

#[tokio::test]
async fn a_store_without_a_readable_byte_comes_back_from_the_newest_backup() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, backups) = (temp.path().join("store"), temp.path().join("backups"));
    let store = open(&dir).store;
    fs::create_dir(&backups).unwrap();
    store.commit(append(session_id(1), 1, 7)).await.unwrap();
    store.backup(&backups.join("one")).await.unwrap();
    store.commit(append(session_id(1), 8, 9)).await.unwrap();
    store.close().await.unwrap();
    edit(&dir.join("db"), |bytes| bytes.fill(0xAB));

    let options = SledOptions { backups: Some(backups.clone()), ..SledOptions::default() };
    let opened = SledStore::open(&dir, options).unwrap();
    let salvage = opened.report.salvage.clone().unwrap();
    assert_eq!(salvage.source, SalvageSource::Backup(backups.join("one")));
    assert_eq!(opened.report.lost_commits, 1, "{:?}", opened.report.warnings());
    assert_eq!(log(&opened.store, session_id(1)).await, events(1, 7));
}

#[tokio::test]
async fn a_store_that_was_removed_is_reported_as_lost() {
    let temp = tempfile::tempdir().unwrap();
    let dir = crate::support::filled(&temp, 1, 3).await;
    fs::remove_dir_all(&dir).unwrap();
    let report = open(&dir).report;
    assert_eq!((report.created, report.lost_commits), (true, 3));
    assert_eq!(report.warnings().len(), 1);
    assert_eq!(open(&dir).report.lost_commits, 0, "it is told once");
}

#[tokio::test]
async fn an_index_entry_ahead_of_its_log_is_reported_at_start() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let store = open(&dir).store;
    store.commit(append(session_id(1), 1, 3)).await.unwrap();
    let writes = vec![
        Write::Append { session_id: session_id(1), events: vec![event(4)] },
        Write::PutSession(record(session_id(1), 4, 9)),
    ];
    store.commit(Batch::from(writes)).await.unwrap();
    drop(store);
    let report = open(&dir).report;
    assert_eq!(report.damaged.len(), 1);
    assert_eq!(report.damaged[0].near, Seq(5));
    assert!(report.warnings()[0].contains("near event 5"), "{:?}", report.warnings());
}
