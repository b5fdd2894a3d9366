//! From the spawn to a daemon that can be reached, and the memory that it takes then.

use std::process::Stdio;

use agentd_proto::v1;
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::fixture;
use crate::measure::{Samples, ms};
use crate::report::{Aim, Row, Unit};

const SESSIONS: u64 = 10_000;
const STARTS: usize = 15;
/// A port that nobody listens on: nothing is asked of a model here.
const NO_MODEL: &str = "http://127.0.0.1:9/v1";

#[derive(Debug, Default)]
struct Starts {
    ready: Vec<f64>,
    listed: Vec<f64>,
    resident_mib: Vec<f64>,
}

impl Starts {
    /// Starts a daemon and asks for the first page of sessions, as a chat does.
    async fn measure(&mut self, home: &Home) -> anyhow::Result<DaemonProcess> {
        let daemon = DaemonProcess::start(home).await?;
        self.ready.push(ms(daemon.ready_after));
        let client = daemon.connect().await?;
        let request = v1::ListSessionsRequest { page_size: 50, page_token: String::new() };
        client.session().list_sessions(request).await?;
        self.listed.push(ms(daemon.spawned_at.elapsed()));
        self.resident_mib.push(daemon.resident_kib()? / 1_024.0);
        Ok(daemon)
    }
}

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let full = Home::new(NO_MODEL, "")?;
    fixture::many_sessions(&full.paths().store_dir(), SESSIONS).await?;
    let empty = Home::new(NO_MODEL, "")?;
    let mut trivial = Vec::new();
    let (mut of_full, mut of_empty) = (Starts::default(), Starts::default());
    let mut of_killed = Starts::default();
    // The first round warms up: files come into the page cache, the empty store is made.
    for round in 0..=STARTS {
        let start = Instant::now();
        tokio::process::Command::new("true").stdin(Stdio::null()).status().await?;
        trivial.push(ms(start.elapsed()));
        of_full.measure(&full).await?.stop().await?;
        of_empty.measure(&empty).await?.stop().await?;
        // One start that is cut off, so that the next one finds a store that was not closed.
        DaemonProcess::start(&full).await?.kill().await?;
        of_killed.measure(&full).await?.stop().await?;
        if round == 0 {
            trivial.clear();
            (of_full, of_empty, of_killed) = Default::default();
        }
    }
    let trivial = Samples::new(trivial).median();
    let median = |values: Vec<f64>| Samples::new(values).median();
    let row = |what: &str, value| Row::new("start", what, value, Unit::Ms);
    let memory = |what: &str, value| Row::new("start", what, value, Unit::Mib);
    Ok(vec![
        row("ready with 10,000 sessions", median(of_full.ready))
            .raw(trivial, "process `true`")
            .aim(Aim::AtMost(30.0)),
        row("ready with 10,000 sessions after SIGKILL", median(of_killed.ready)),
        row("ready with an empty store", median(of_empty.ready)),
        row("first page of 10,000 sessions listed", median(of_full.listed)),
        row("first page of an empty store listed", median(of_empty.listed)),
        memory("resident with 10,000 sessions", median(of_full.resident_mib))
            .aim(Aim::AtMost(30.0)),
        memory("resident with an empty store", median(of_empty.resident_mib)),
    ])
}
