//! Attaching at the beginning of a long session, beside a bare scan of the same events.

use std::fs;
use std::path::Path;

use agentd_domain::{Seq, SessionId};
use agentd_proto::v1::attach_request::Position;
use agentd_store::{PageLimit, SledOptions, SledStore, Store as _};
use anyhow::ensure;
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::fixture;
use crate::measure::{Samples, ms, rate};
use crate::report::{Aim, Row, Unit};
use crate::terminal::Terminal;

const TURNS: usize = 20_000;
const ROUNDS: usize = 7;
const NO_MODEL: &str = "http://127.0.0.1:9/v1";
/// As the daemon reads it.
const PAGE: PageLimit = PageLimit { events: 512, bytes: 256 * 1024 };

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let home = Home::new(NO_MODEL, "")?;
    let dir = home.paths().store_dir();
    let (session_id, events) = fixture::long_session(&dir, TURNS).await?;
    // Only one process may have a store open, so each has its own.
    let copy = tempfile::tempdir()?;
    copy_files(&dir, copy.path())?;
    let options = SledOptions { cache_bytes: 8 << 20, ..SledOptions::default() };
    let store = SledStore::open(copy.path(), options)?.store;

    let daemon = DaemonProcess::start(&home).await?;
    let terminal = Terminal::connect(&daemon, "bench").await?;
    let start = Instant::now();
    let name = session_id.to_string();
    replay(&terminal, &name, events).await?;
    let first = ms(start.elapsed());
    let (mut raw, mut replays) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        scan(&store, session_id, events).await?;
        raw.push(rate(events, start.elapsed()));
        let start = Instant::now();
        replay(&terminal, &name, events).await?;
        replays.push(rate(events, start.elapsed()));
    }
    let resident = daemon.resident_kib()? / 1_024.0;
    store.close().await?;
    daemon.stop().await?;
    Ok(vec![
        Row::new("replay", "100,000 events", Samples::new(replays).median(), Unit::PerSecond)
            .raw(Samples::new(raw).median(), "scan of the store")
            .aim(Aim::AtLeast(300_000.0)),
        Row::new("replay", "the first one, which loads the session", first, Unit::Ms),
        Row::new("replay", "resident after it", resident, Unit::Mib),
    ])
}

async fn replay(terminal: &Terminal, session_id: &str, events: usize) -> anyhow::Result<()> {
    let mut follower = terminal.attach_at(session_id, Position::FromSeq(1)).await?;
    let mut last = 0;
    while let Some(batch) = follower.message().await? {
        for event in batch {
            if event.seq > 0 {
                ensure!(event.seq == last + 1, "a gap after event {last}");
                last = event.seq;
            }
        }
    }
    ensure!(last == u64::try_from(events)?, "the replay ended at event {last}");
    Ok(())
}

async fn scan(store: &SledStore, session_id: SessionId, events: usize) -> anyhow::Result<()> {
    let mut next = Seq(1);
    loop {
        let page = store.events(session_id, next, PAGE).await?;
        if let Some(event) = page.events.last() {
            next = event.seq.next();
        }
        if !page.more {
            break;
        }
    }
    ensure!(next.0 == u64::try_from(events)? + 1, "the scan ended before event {next}");
    Ok(())
}

fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy_files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
