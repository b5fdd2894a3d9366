//! Opening, closing, failing and copying.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use agentd_domain::{
    ErrorKind, Goal, GoalAuthor, GoalContent, GoalPriority, GoalScope, ItemId, Seq, TimestampMs,
};
use agentd_store::conformance::sample::{
    append, event_with_text, events, record, session_id, unknown_event,
};
use agentd_store::{
    BackupError, Batch, CommitError, CrashPoints, OpenError, PageLimit, PartialMessage, ReadError,
    SledOptions, SledStore, Store, Write,
};

use crate::support::{ALL, filled, log, open};

fn refused(dir: &Path) -> OpenError {
    SledStore::open(dir, SledOptions::default()).unwrap_err()
}

/// The sled database behind a closed store.
fn raw(dir: &Path) -> sled::Db {
    let config = sled::Config::new().path(dir).segment_size(512 * 1024).flush_every_ms(None);
    config.cache_capacity(1 << 20).open().unwrap()
}

fn event_key(session: u128, seq: u64) -> Vec<u8> {
    [&b"e"[..], &session_id(session).to_bytes(), &seq.to_be_bytes()].concat()
}

#[test]
fn a_missing_directory_is_created_for_its_owner_only() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("data/store");
    let report = open(&dir).report;
    assert!(report.created);
    assert_eq!(report.warnings(), Vec::<String>::new());
    for dir in [dir.as_path(), dir.parent().unwrap()] {
        assert_eq!(fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn a_directory_that_cannot_be_used_is_named_with_a_remedy() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    fs::write(&file, "x").unwrap();
    for (dir, kind, text) in [
        (file.clone(), ErrorKind::Precondition, "is not a directory"),
        (file.join("store"), ErrorKind::Precondition, "is not a directory"),
        // Nobody may create directories there, root included.
        (PathBuf::from("/sys/agentd/store"), ErrorKind::Denied, "is not writable"),
    ] {
        let error = refused(&dir);
        assert_eq!(error.kind(), kind, "{error:?}");
        assert!(error.to_string().contains(text), "{error}");
        assert!(!error.hint().is_empty());
    }
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_refused_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let dir = filled(&temp, 1, 2).await;
    let payload = 7_u32.to_be_bytes();
    let mut value = vec![1];
    value.extend_from_slice(&crc32fast::hash(&payload).to_be_bytes());
    value.extend_from_slice(&payload);
    let db = raw(&dir);
    db.insert("Aversion", value).unwrap();
    db.flush().unwrap();
    drop(db);
    for _ in 0..2 {
        let error = refused(&dir);
        assert!(matches!(error, OpenError::NewerVersion { found: 7, supported: 1 }), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Precondition);
        assert_eq!(
            error.to_string(),
            "the store has version 7; this agentd reads versions up to 1"
        );
    }
    assert!(raw(&dir).contains_key(event_key(1, 2)).unwrap());
}

#[tokio::test]
async fn what_was_committed_is_there_after_closing_and_after_dropping() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let store = open(&dir).store;
    store.commit(append(session_id(1), 1, 3)).await.unwrap();
    store.close().await.unwrap();

    let opened = open(&dir);
    assert!(opened.report.clean);
    assert_eq!(log(&opened.store, session_id(1)).await, events(1, 3));
    opened.store.commit(append(session_id(1), 4, 4)).await.unwrap();
    assert!(opened.store.commit_later(append(session_id(1), 5, 5)));
    drop(opened);

    let opened = open(&dir);
    assert!(!opened.report.clean);
    assert_eq!(opened.report.warnings(), Vec::<String>::new());
    assert_eq!(log(&opened.store, session_id(1)).await, events(1, 5));
}

#[tokio::test]
async fn a_batch_that_nobody_waits_for_becomes_durable_without_another() {
    let temp = tempfile::tempdir().unwrap();
    let (tell, told) = mpsc::sync_channel(64);
    let crash_points = CrashPoints::new(move |point| {
        if point == "store.after_flush" {
            tell.send(()).unwrap();
        }
    });
    let options = SledOptions { crash_points, ..SledOptions::default() };
    let store = SledStore::open(&temp.path().join("store"), options).unwrap().store;
    let partial = PartialMessage {
        item_id: ItemId::from_parts(1, 1),
        reasoning: String::new(),
        text: "so far".to_owned(),
    };
    let write = Write::PutPartial { session_id: session_id(1), partial: partial.clone() };
    assert!(store.commit_later(Batch::of(write)));
    told.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(store.partial(session_id(1)).await.unwrap(), Some(partial));
}

#[tokio::test]
async fn a_commit_whose_caller_has_gone_is_kept() {
    let (store, _temp) = crate::support::fresh();
    for seq in 1..=50 {
        let commit = store.commit(append(session_id(1), seq, seq));
        // Polled once, then dropped.
        let _gone = tokio::time::timeout(Duration::ZERO, commit).await;
    }
    store.commit(append(session_id(1), 51, 51)).await.unwrap();
    assert_eq!(log(&*store, session_id(1)).await, events(1, 51));
}

#[tokio::test]
async fn a_batch_of_many_megabytes_is_one_commit() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let store = open(&dir).store;
    let large: Vec<_> = (1..=4000)
        .map(|seq| event_with_text(seq, "x".repeat(5000)))
        .chain([unknown_event(4001)])
        .collect();
    let write = Write::Append { session_id: session_id(1), events: large.clone() };
    store.commit(Batch::of(write)).await.unwrap();
    drop(store);
    assert!(log(&open(&dir).store, session_id(1)).await == large, "other events than written");
}

#[tokio::test]
async fn a_low_disk_refuses_commits_but_not_deletions() {
    let temp = tempfile::tempdir().unwrap();
    let dir = filled(&temp, 1, 2).await;
    let options = SledOptions { min_free_bytes: u64::MAX, ..SledOptions::default() };
    let store = SledStore::open(&dir, options).unwrap().store;
    let error = store.commit(append(session_id(1), 3, 3)).await.unwrap_err();
    assert!(matches!(error, CommitError::DiskFull(_)), "{error:?}");
    assert_eq!(log(&store, session_id(1)).await, events(1, 2));
    store.commit(Batch::of(Write::DeleteSession(session_id(1)))).await.unwrap();
    assert_eq!(log(&store, session_id(1)).await, []);
    assert!(store.stats().await.unwrap().free_bytes.is_some());
}

const FULL_DISK: &str = "AGENTD_STORE_FULL_DISK_DIR";

/// Not a test: the process that may not write large files. It does nothing unless a test started it.
#[tokio::test]
async fn the_process_with_a_full_disk() {
    let Ok(dir) = std::env::var(FULL_DISK) else { return };
    let store = open(Path::new(&dir)).store;
    let mut kept = 0;
    let error = loop {
        let event = event_with_text(kept + 1, "x".repeat(50_000));
        let write = Write::Append { session_id: session_id(1), events: vec![event] };
        match store.commit(Batch::of(write)).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, CommitError::DiskFull(_)), "{error:?}");
    assert_eq!(log(&store, session_id(1)).await.len(), usize::try_from(kept).unwrap());
    println!("\nkept {kept}");
}

#[tokio::test]
async fn sl_01_a_full_disk_fails_the_commit_and_keeps_what_was_before() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    // A limit on the size of files fails writes as a full disk does, and needs no privilege.
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; ulimit -f 16384; exec "$0" "$@""#])
        .arg(std::env::current_exe().unwrap())
        .args(["lifecycle::the_process_with_a_full_disk", "--exact", "--nocapture"])
        .env(FULL_DISK, &dir)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let kept: usize = text
        .lines()
        .find_map(|line| line.strip_prefix("kept ")?.parse().ok())
        .unwrap_or_else(|| panic!("{text}\n{stderr}"));
    assert!(kept > 0);
    let opened = open(&dir);
    assert_eq!(opened.report.warnings(), Vec::<String>::new());
    assert_eq!(log(&opened.store, session_id(1)).await.len(), kept);
    let next = u64::try_from(kept).unwrap() + 1;
    opened.store.commit(append(session_id(1), next, next)).await.unwrap();
}

#[tokio::test]
async fn damaged_events_are_named_and_what_lies_before_them_is_read() {
    let temp = tempfile::tempdir().unwrap();
    let dir = filled(&temp, 3, 9).await;
    let db = raw(&dir);
    let mut value = db.get(event_key(1, 5)).unwrap().unwrap().to_vec();
    *value.last_mut().unwrap() ^= 1;
    db.insert(event_key(1, 5), value).unwrap();
    db.remove(event_key(2, 4)).unwrap();
    db.flush().unwrap();
    drop(db);

    let store = open(&dir).store;
    for (n, damaged) in [(1, 5), (2, 4)] {
        let id = session_id(n);
        assert_eq!(log(&store, id).await, events(1, damaged - 1), "forward to the damage");
        let page = store.events_before(id, Seq(u64::MAX), ALL).await.unwrap();
        assert_eq!(page.events, events(damaged + 1, 9), "backward to the damage");
        assert!(page.more);
        for read in [
            store.events(id, Seq(damaged), ALL).await,
            store.events_before(id, Seq(damaged + 1), ALL).await,
        ] {
            let error = read.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert_eq!(
                error.to_string(),
                format!("the log of session {id} is damaged near event {damaged}")
            );
        }
    }
    assert_eq!(log(&store, session_id(3)).await, events(1, 9));
    let found = store.verify().await.unwrap();
    let named: Vec<_> =
        found.damaged.iter().map(|damaged| (damaged.session_id, damaged.near.0)).collect();
    assert_eq!(named, [(session_id(1), 5), (session_id(2), 4)]);
    assert!(!found.is_sound());
    let copy = store.backup(&temp.path().join("copy")).await;
    assert!(matches!(copy, Err(BackupError::Read(ReadError::Event { .. }))), "{copy:?}");
    assert!(!temp.path().join("copy").exists());
}

#[tokio::test]
async fn a_damaged_index_entry_is_an_error_of_its_own_and_hides_no_others() {
    let temp = tempfile::tempdir().unwrap();
    let dir = filled(&temp, 3, 2).await;
    let db = raw(&dir);
    let key = [&b"s"[..], &session_id(2).to_bytes()].concat();
    db.insert(key, "rubbish").unwrap();
    db.flush().unwrap();
    drop(db);
    let store = open(&dir).store;
    assert!(matches!(store.session(session_id(2)).await, Err(ReadError::Record { .. })));
    assert_eq!(store.sessions(None, 9).await.unwrap().sessions.len(), 2);
    assert_eq!(store.verify().await.unwrap().damaged_records, 1);
    // Writing it anew heals it.
    store.commit(Batch::of(Write::PutSession(record(session_id(2), 2, 2)))).await.unwrap();
    assert_eq!(store.sessions(None, 9).await.unwrap().sessions.len(), 3);
}

#[tokio::test]
async fn a_backup_goes_only_to_a_new_absolute_place() {
    let (store, temp) = crate::support::fresh();
    let relative = store.backup(Path::new("backup")).await;
    assert!(matches!(relative, Err(BackupError::NotAbsolute(_))), "{relative:?}");
    let existing = store.backup(temp.path()).await;
    assert!(matches!(existing, Err(BackupError::Exists(_))), "{existing:?}");
    let nowhere = store.backup(Path::new("/sys/agentd/backup")).await;
    assert!(matches!(nowhere, Err(BackupError::Io(_))), "{nowhere:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_made_while_sessions_are_written_has_whole_logs() {
    let (store, temp) = crate::support::fresh();
    for n in 1..=20 {
        store.commit(append(session_id(n), 1, 200)).await.unwrap();
    }
    let add = Write::AddToCounter { name: "c".to_owned(), by: vec![3] };
    store.commit(Batch::of(add)).await.unwrap();
    let goal = Goal {
        goal_id: "g".to_owned(),
        content: GoalContent::try_from("keep it".to_owned()).unwrap(),
        priority: GoalPriority::default(),
        scope: GoalScope::User,
        by: GoalAuthor::Model { session_id: session_id(1) },
        at: TimestampMs(1),
        done: None,
    };
    store.commit(Batch::of(Write::PutGoal(goal.clone()))).await.unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let writer = Arc::clone(&store);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        for seq in 201.. {
            for n in 1..=20 {
                writer.commit(append(session_id(n), seq, seq)).await.unwrap();
            }
            if *stopped.borrow() {
                return seq;
            }
        }
        0
    });
    let destination = temp.path().join("backups/one");
    let report = store.backup(&destination).await.unwrap();
    stop.send_replace(true);
    let last = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(report.sessions, 20);
    assert!(report.events >= 20 * 200);

    let copy = open(&destination);
    assert_eq!(copy.report.warnings(), Vec::<String>::new());
    assert!(copy.store.verify().await.unwrap().is_sound());
    let mut copied = 0;
    for n in 1..=20 {
        let id = session_id(n);
        let entry = copy.store.session(id).await.unwrap().unwrap();
        assert!((200..=last).contains(&entry.last_seq.0));
        assert_eq!(log(&copy.store, id).await, events(1, entry.last_seq.0));
        copied += entry.last_seq.0;
        copy.store.commit(append(id, entry.last_seq.0 + 1, entry.last_seq.0 + 1)).await.unwrap();
    }
    assert_eq!(report.events, copied);
    assert_eq!(copy.store.counters("", "z", 9).await.unwrap()[0].values, [3]);
    assert_eq!(copy.store.goals().await.unwrap(), [goal]);
    let limit = PageLimit { events: 1, bytes: usize::MAX };
    assert_eq!(copy.store.events(session_id(1), Seq(1), limit).await.unwrap().events.len(), 1);
}
