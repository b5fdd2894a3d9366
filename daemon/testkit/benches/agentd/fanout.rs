//! The delay between a delta that the model sends and its arrival at each of eight terminals.
//!
//! A delta goes out about every two milliseconds and carries its number. Its time is taken when the
//! model server is told to write it, so the server's own delay counts, for the direct reader too.

use std::time::Duration;

use agentd_testkit::{Gate, LlmServer, Reply};
use anyhow::Context as _;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use crate::daemon_process::{DaemonProcess, Home};
use crate::measure::{Samples, ms};
use crate::model::Direct;
use crate::report::{Aim, Row, Unit};
use crate::terminal::{Follower, Terminal};

const DELTAS: usize = 250;
const PACE: Duration = Duration::from_millis(2);
const ROUNDS: usize = 4;
const READERS: usize = 8;

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let home = Home::new(&llm.base_url(), "")?;
    let daemon = DaemonProcess::start(&home).await?;
    let direct = Direct::new(&llm)?;
    let (mut raw, mut delays) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raw.extend(read_directly(&llm, &direct).await?);
        delays.extend(read_attached(&llm, &daemon).await?);
    }
    daemon.stop().await?;
    let (raw, delays) = (Samples::new(raw), Samples::new(delays));
    let row = |percent, aim| {
        let what = format!("delay to {READERS} terminals, p{percent}");
        Row::new("fanout", what, delays.percentile(percent), Unit::Ms)
            .raw(raw.percentile(percent), "direct reader")
            .aim(Aim::AtMost(aim))
    };
    Ok(vec![row(50, 0.3), row(99, 1.0)])
}

/// One gate before each delta.
fn script(llm: &LlmServer) -> Vec<Gate> {
    let gates: Vec<Gate> = (0..DELTAS).map(|_| Gate::new()).collect();
    let mut reply = Reply::sse().text_delta("begin ");
    for (number, gate) in gates.iter().enumerate() {
        reply = reply.wait(gate).text_delta(&format!("{number} "));
    }
    llm.push(reply.finish("stop").usage(10, 250).done());
    gates
}

/// Opens one gate after the other. Returns when.
async fn open(gates: Vec<Gate>) -> Vec<Instant> {
    let mut ticks = tokio::time::interval(PACE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sent = Vec::with_capacity(gates.len());
    for gate in gates {
        ticks.tick().await;
        gate.reached().await;
        sent.push(Instant::now());
        gate.release();
    }
    sent
}

/// Notes when each number is whole.
#[derive(Debug, Default)]
struct Arrivals {
    at: Vec<Instant>,
    seen_bytes: usize,
}

impl Arrivals {
    fn note(&mut self, text: &str) {
        let now = Instant::now();
        let new = text.get(self.seen_bytes..).unwrap_or_default();
        self.seen_bytes = text.len();
        // Each number ends with a space; the word before the first one does too.
        self.at.extend(new.bytes().filter(|byte| *byte == b' ').map(|_| now));
    }

    fn delays(&self, sent: &[Instant]) -> Vec<f64> {
        self.at.iter().skip(1).zip(sent).map(|(at, sent)| ms(*at - *sent)).collect()
    }
}

async fn read_directly(llm: &LlmServer, direct: &Direct) -> anyhow::Result<Vec<f64>> {
    let gates = script(llm);
    let mut answer = direct.ask("fan out").await?;
    let mut text = String::new();
    let mut arrivals = Arrivals::default();
    answer.text(&mut text).await?.context("the first word")?;
    arrivals.note(&text);
    let mut opening = JoinSet::new();
    opening.spawn(open(gates));
    while answer.text(&mut text).await?.is_some() {
        arrivals.note(&text);
    }
    let sent = opening.join_next().await.context("a task")??;
    Ok(arrivals.delays(&sent))
}

async fn read_attached(llm: &LlmServer, daemon: &DaemonProcess) -> anyhow::Result<Vec<f64>> {
    let gates = script(llm);
    let terminal = Terminal::connect(daemon, "writer").await?;
    let session_id = terminal.create_session().await?;
    let mut tasks = JoinSet::new();
    let mut begun = Vec::new();
    for number in 0..READERS {
        let reader = Terminal::connect(daemon, &format!("reader-{number}")).await?;
        let follower = reader.attach(&session_id).await?;
        let (has_begun, begins) = oneshot::channel();
        begun.push(begins);
        tasks.spawn(read(reader, follower, has_begun));
    }
    terminal.submit(&session_id, "fan out").await?;
    for begins in begun {
        begins.await?;
    }
    let sent = open(gates).await;
    let mut delays = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        delays.extend(ended??.delays(&sent));
    }
    Ok(delays)
}

async fn read(
    _connection: Terminal,
    mut follower: Follower,
    has_begun: oneshot::Sender<()>,
) -> anyhow::Result<Arrivals> {
    let mut text = String::new();
    let mut arrivals = Arrivals::default();
    follower.text(&mut text).await?.context("the first word")?;
    arrivals.note(&text);
    // Nobody waits any more when another terminal failed.
    let _gone = has_begun.send(());
    while follower.text(&mut text).await?.is_some() {
        arrivals.note(&text);
    }
    follower.turn_end().await?;
    Ok(arrivals)
}
