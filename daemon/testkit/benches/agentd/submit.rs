//! How long a message takes to be accepted for good, beside a bare write of as many bytes.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use agentd_testkit::LlmServer;
use anyhow::anyhow;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::fixture;
use crate::measure::{Samples, rate};
use crate::report::{Row, Unit};
use crate::terminal::Terminal;

const SUBMITS: usize = 300;
const TURNS_PER_SESSION: usize = 25;
const TERMINALS: usize = 8;
const SUBMITS_EACH: usize = 60;
const TEXT: &str = "question 1: why do the tests of the parser fail?";

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let home = Home::new(&llm.base_url(), "")?;
    let daemon = DaemonProcess::start(&home).await?;
    let bytes = vec![b'x'; fixture::bytes_of_a_submit()?];

    let terminal = Terminal::connect(&daemon, "bench").await?;
    let mut file = RawLog::create(home.path(), "raw")?;
    let (mut raw, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..SUBMITS / TURNS_PER_SESSION {
        let session_id = terminal.create_session().await?;
        let mut follower = terminal.attach(&session_id).await?;
        for _ in 0..TURNS_PER_SESSION {
            let start = Instant::now();
            file.append(&bytes)?;
            raw.push(start.elapsed());
            let start = Instant::now();
            terminal.submit(&session_id, TEXT).await?;
            alone.push(start.elapsed());
            // The turn is not part of it, and must not disturb the next one.
            follower.turn_end().await?;
        }
    }

    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for number in 0..TERMINALS {
        let terminal = Terminal::connect(&daemon, &format!("terminal-{number}")).await?;
        tasks.spawn(submits(terminal));
    }
    let mut together = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        together.extend(ended??);
    }
    let turns_per_second = rate(TERMINALS * SUBMITS_EACH, start.elapsed());
    daemon.stop().await?;
    let raw_together = raw_together(home.path(), &bytes)?;

    let (raw, alone) = (Samples::of_durations(&raw), Samples::of_durations(&alone));
    let (raw_together, together) =
        (Samples::of_durations(&raw_together), Samples::of_durations(&together));
    let row = |what: String, samples: &Samples, raw: &Samples, percent| {
        Row::new("submit", what, samples.percentile(percent), Unit::Ms)
            .raw(raw.percentile(percent), "write + fdatasync")
    };
    let mut rows = Vec::new();
    for percent in [50, 99] {
        rows.push(row(format!("one terminal, p{percent}"), &alone, &raw, percent));
    }
    for percent in [50, 99] {
        let what = format!("{TERMINALS} terminals with running turns, p{percent}");
        rows.push(row(what, &together, &raw_together, percent));
    }
    let what = format!("turns of {TERMINALS} terminals together");
    rows.push(Row::new("submit", what, turns_per_second, Unit::PerSecond));
    Ok(rows)
}

/// Submits one message after the other, each when the turn before has ended.
async fn submits(terminal: Terminal) -> anyhow::Result<Vec<std::time::Duration>> {
    let session_id = terminal.create_session().await?;
    let mut follower = terminal.attach(&session_id).await?;
    let mut took = Vec::new();
    for _ in 0..SUBMITS_EACH {
        let start = Instant::now();
        terminal.submit(&session_id, TEXT).await?;
        took.push(start.elapsed());
        follower.turn_end().await?;
    }
    Ok(took)
}

/// As many threads as terminals, each with a file of its own.
fn raw_together(dir: &Path, bytes: &[u8]) -> anyhow::Result<Vec<std::time::Duration>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..TERMINALS)
            .map(|number| {
                scope.spawn(move || {
                    let mut file = RawLog::create(dir, &format!("raw-{number}"))?;
                    let mut took = Vec::new();
                    for _ in 0..SUBMITS_EACH {
                        let start = Instant::now();
                        file.append(bytes)?;
                        took.push(start.elapsed());
                    }
                    anyhow::Ok(took)
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_panic| anyhow!("a thread broke off"))??);
        }
        Ok(all)
    })
}

/// A file that is only ever appended to.
struct RawLog(File);

impl RawLog {
    fn create(dir: &Path, name: &str) -> anyhow::Result<Self> {
        Ok(Self(File::create(dir.join(name))?))
    }

    fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.0.write_all(bytes)?;
        self.0.sync_data()?;
        Ok(())
    }
}
