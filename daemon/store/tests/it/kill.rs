//! Case SD-01: a real process is killed at any instant, and nothing that it was told is missing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use agentd_store::conformance::sample::{append, events, session_id};
use agentd_store::{Batch, CrashPoints, SledOptions, SledStore, Store, Write};
use tokio::task::JoinSet;

use crate::support::{log, open};

/// Set in the killed process: where its store is.
const DIR: &str = "AGENTD_STORE_KILL_DIR";
/// Set in the killed process: `POINT:N`, where it dies by itself.
const POINT: &str = "AGENTD_STORE_KILL_POINT";
/// More rounds than by default.
const ROUNDS: &str = "AGENTD_KILL_ROUNDS";

/// Sessions that are written at the same time.
const SESSIONS: u128 = 4;
/// Commits of a process that nobody kills.
const COMMITS: u64 = 400;
/// The session that is deleted, too long to be removed at once.
const DELETED: u128 = 99;
const DELETED_EVENTS: u64 = 1500;
/// Counts the events of all sessions but that one.
const COUNTER: &str = "events";

/// Not a test: the process that is killed. It does nothing unless a test started it.
#[test]
fn the_killed_process() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(write_and_tell(Path::new(&dir)));
}

async fn write_and_tell(dir: &Path) {
    let options = SledOptions { crash_points: crash_points(), ..SledOptions::default() };
    let store: Arc<dyn Store> = Arc::new(SledStore::open(dir, options).unwrap().store);
    println!("\nopen");
    let mut tasks = JoinSet::new();
    for n in 1..=SESSIONS {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let first = head(&*store, n).await + 1;
            for seq in first..first + COMMITS {
                let mut batch = append(session_id(n), seq, seq);
                batch.writes.push(Write::AddToCounter { name: COUNTER.to_owned(), by: vec![1] });
                store.commit(batch).await.unwrap();
                println!("\nkept {n} {seq}");
            }
        });
    }
    let id = session_id(DELETED);
    store.commit(Batch::of(Write::DeleteSession(id))).await.unwrap();
    store.commit(append(id, 1, DELETED_EVENTS)).await.unwrap();
    println!("\nkept {DELETED} {DELETED_EVENTS}");
    store.commit(Batch::of(Write::DeleteSession(id))).await.unwrap();
    println!("\nkept {DELETED} 0");
    tasks.join_all().await;
}

async fn head(store: &dyn Store, n: u128) -> u64 {
    store.session(session_id(n)).await.unwrap().map_or(0, |record| record.last_seq.0)
}

fn crash_points() -> CrashPoints {
    let Ok(point) = std::env::var(POINT) else { return CrashPoints::default() };
    let (wanted, left) = point.split_once(':').unwrap();
    let (wanted, left) = (wanted.to_owned(), AtomicU64::new(left.parse().unwrap()));
    CrashPoints::new(move |name| {
        if name == wanted && left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
        }
    })
}

fn start(dir: &Path, point: Option<&str>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["kill::the_killed_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(point) = point {
        command.env(POINT, point);
    }
    command.spawn().unwrap()
}

/// Reads what the process tells, kills it after `lines` of it, and gives all of it: the last
/// position of each session.
fn listen(mut child: Child, lines: usize) -> BTreeMap<u128, u64> {
    let mut told = BTreeMap::new();
    let out = BufReader::new(child.stdout.take().unwrap());
    for (count, line) in out.lines().enumerate() {
        if count == lines {
            child.kill().unwrap();
        }
        let line = line.unwrap();
        // The last line may be cut; nobody was told then.
        let mut words = line.split(' ');
        if words.next() == Some("kept")
            && let (Some(n), Some(seq)) = (words.next(), words.next())
            && let (Ok(n), Ok(seq)) = (n.parse(), seq.parse())
        {
            told.insert(n, seq);
        }
    }
    child.wait().unwrap();
    told
}

async fn check(dir: &Path, told: &BTreeMap<u128, u64>, what: &str) {
    let opened = open(dir);
    assert_eq!(opened.report.lost_commits, 0, "{what}: {:?}", opened.report);
    assert_eq!(opened.report.warnings(), Vec::<String>::new(), "{what}");
    let store = opened.store;
    for (n, seq) in told {
        let log = log(&store, session_id(*n)).await;
        let last = u64::try_from(log.len()).unwrap();
        assert_eq!(log, events(1, last), "{what}: session {n}");
        assert_eq!(head(&store, *n).await, last, "{what}: the entry of session {n}");
        if *n == DELETED {
            assert!(
                last == 0 || (last == DELETED_EVENTS && *seq > 0),
                "{what}: {last} events left"
            );
        } else {
            assert!(last >= *seq, "{what}: session {n} was told {seq} and has {last}");
        }
    }
    let counted = store.counters("", "z", 9).await.unwrap();
    let counted = counted.first().and_then(|counter| counter.values.first().copied()).unwrap_or(0);
    let mut written = 0;
    for n in 1..=SESSIONS {
        written += head(&store, n).await;
    }
    assert_eq!(counted, written, "{what}: each event is counted once");
    let found = store.verify().await.unwrap();
    assert!(found.is_sound(), "{what}: {found:?}");
}

#[tokio::test]
async fn sd_01_a_process_killed_at_random_loses_nothing_that_was_acknowledged() {
    let rounds = std::env::var(ROUNDS).map_or(12, |rounds| rounds.parse().unwrap());
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let mut told = BTreeMap::new();
    for round in 0..rounds {
        let lines = fastrand::usize(1..1200);
        let process = start(&dir, None);
        let now = tokio::task::spawn_blocking(move || listen(process, lines)).await.unwrap();
        // Each process makes and deletes it anew: what an earlier one was told no longer counts.
        told.remove(&DELETED);
        told.extend(now);
        check(&dir, &told, &format!("round {round}, killed after {lines} lines")).await;
    }
    assert!(told.values().any(|seq| *seq > 0), "no process ever committed");
}

#[tokio::test]
async fn sd_01_a_process_killed_at_each_crash_point_loses_nothing_that_was_acknowledged() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let mut told = BTreeMap::new();
    for point in [
        "store.before_apply:1",
        "store.before_flush:1",
        "store.after_flush:1",
        "store.before_apply:20",
        "store.before_flush:20",
        "store.after_flush:20",
        "store.before_purge_chunk:1",
        "store.before_purge_chunk:2",
    ] {
        let process = start(&dir, Some(point));
        let listening = tokio::task::spawn_blocking(move || listen(process, usize::MAX));
        told.remove(&DELETED);
        told.extend(listening.await.unwrap());
        check(&dir, &told, point).await;
    }
    assert!(told.values().any(|seq| *seq > 0), "no process ever committed");
}

#[tokio::test]
async fn a_deletion_that_was_cut_off_is_finished_at_the_next_start() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let process = start(&dir, Some("store.before_purge_chunk:2"));
    tokio::task::spawn_blocking(move || listen(process, usize::MAX)).await.unwrap();

    let (tell, told) = mpsc::sync_channel(64);
    let crash_points = CrashPoints::new(move |point| tell.send(point).unwrap());
    let options = SledOptions { crash_points, ..SledOptions::default() };
    let store = SledStore::open(&dir, options).unwrap().store;
    assert_eq!(log(&store, session_id(DELETED)).await, []);
    let next = || told.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(next(), "store.before_purge_chunk");
    while next() != "store.before_flush" {}
    store.close().await.unwrap();
    let db = sled::Config::new().path(&dir).segment_size(512 * 1024).open();
    let prefix = [&b"e"[..], &session_id(DELETED).to_bytes()].concat();
    assert_eq!(db.unwrap().scan_prefix(prefix).count(), 0);
}
