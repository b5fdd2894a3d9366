//! Case SD-06: one daemon per data directory, and the next one can start at once.

use std::fs;
use std::process::{Command, Stdio};

use agentd_domain::ErrorKind;
use agentd_store::conformance::sample::{append, events, session_id};
use agentd_store::{InstanceLock, LockError, OpenError, SledOptions, SledStore, Store};

use crate::support::{log, open};

#[test]
fn sd_06_a_second_lock_names_the_process_that_holds_the_first() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("agentd.lock");
    let held = InstanceLock::acquire(&path).unwrap();
    let error = InstanceLock::acquire(&path).unwrap_err();
    let me = std::process::id();
    assert_eq!(error.to_string(), format!("agentd is already running, pid {me}"));
    assert_eq!(error.kind(), ErrorKind::Conflict);
    drop(held);
    InstanceLock::acquire(&path).unwrap();
    assert!(path.exists(), "the file stays");
}

#[test]
fn sd_06_a_lock_that_is_given_away_is_never_free_in_between() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("agentd.lock");
    let file = InstanceLock::acquire(&path).unwrap().into_file();
    assert!(matches!(InstanceLock::acquire(&path), Err(LockError::Held { .. })));
    let adopted = InstanceLock::adopt(file, &path).unwrap();
    assert!(matches!(InstanceLock::acquire(&path), Err(LockError::Held { .. })));
    // A file that somebody has put in its place is not what was locked.
    let file = adopted.into_file();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    assert!(matches!(InstanceLock::adopt(file, &path), Err(LockError::Io { .. })));
    InstanceLock::acquire(&path).unwrap();
}

#[test]
fn sd_06_what_is_in_the_file_does_not_matter() {
    let temp = tempfile::tempdir().unwrap();
    for (n, left) in
        ["", "1\n", "4294967295\n", "-3", "no number at all", "\0\0\0"].iter().enumerate()
    {
        let path = temp.path().join(format!("{n}.lock"));
        fs::write(&path, left).unwrap();
        let held = InstanceLock::acquire(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
        fs::write(&path, left).unwrap();
        let refused = InstanceLock::acquire(&path).unwrap_err();
        let expected = left.trim().parse::<u32>().ok();
        assert!(matches!(&refused, LockError::Held { pid, .. } if *pid == expected), "{refused:?}");
        drop(held);
    }
}

#[test]
fn sd_06_a_program_that_was_started_meanwhile_does_not_keep_the_lock() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("agentd.lock");
    let held = InstanceLock::acquire(&path).unwrap();
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(held);
    let again = InstanceLock::acquire(&path);
    drop(child.stdin.take());
    child.wait().unwrap();
    again.unwrap();
}

#[test]
fn a_lock_in_a_missing_directory_is_an_io_error_with_the_path() {
    let error = InstanceLock::acquire(std::path::Path::new("/nowhere/agentd.lock")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("/nowhere/agentd.lock"), "{error}");
}

#[test]
fn sd_06_a_store_that_is_open_is_not_opened_again() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let first = open(&dir);
    let refused = SledStore::open(&dir, SledOptions::default()).unwrap_err();
    assert!(matches!(&refused, OpenError::InUse(path) if *path == dir), "{refused:?}");
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    drop(first);
}

#[tokio::test]
async fn sd_06_closing_and_opening_at_once_works_every_time() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    for round in 1..=50 {
        let opened = open(&dir);
        assert_eq!(opened.report.warnings(), Vec::<String>::new());
        opened.store.commit(append(session_id(1), round, round)).await.unwrap();
        // Half of them are closed, the others just dropped.
        if round % 2 == 0 {
            opened.store.close().await.unwrap();
        }
    }
    assert_eq!(log(&open(&dir).store, session_id(1)).await, events(1, 50));
}
