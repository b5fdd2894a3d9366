//! How fast a stream comes through the daemon, beside a direct reader of the same stream.
//!
//! The model sends one word and waits until every reader has it; then the clock starts and the rest
//! comes as fast as the socket takes it. It stops when the last reader has the last byte.

use std::sync::Arc;

use agentd_testkit::{Gate, LlmServer, Pace, Reply};
use anyhow::{Context as _, ensure};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::measure::{Samples, rate};
use crate::model::Direct;
use crate::report::{Aim, Row, Unit};
use crate::terminal::{Follower, Terminal};

const DELTAS: usize = 20_000;
const DELTA: &str = "token ";
const FIRST: &str = "begin ";
const ROUNDS: usize = 15;
const MANY: usize = 8;

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let home = Home::new(&llm.base_url(), "")?;
    let daemon = DaemonProcess::start(&home).await?;
    let direct = Direct::new(&llm)?;
    let (mut raw, mut one, mut many) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=ROUNDS {
        let of_direct = read_directly(&llm, &direct).await?;
        let of_one = read_attached(&llm, &daemon, 1).await?;
        let of_many = read_attached(&llm, &daemon, MANY).await?;
        if round > 0 {
            raw.push(of_direct);
            one.push(of_one);
            many.push(of_many);
        }
    }
    daemon.stop().await?;
    let raw = Samples::new(raw).median();
    let row = |what: &str, rates| {
        Row::new("stream", what, Samples::new(rates).median(), Unit::PerSecond)
            .raw(raw, "direct reader")
            .aim(Aim::RatioAtLeast(0.8))
    };
    Ok(vec![
        row("deltas to 1 terminal", one),
        row(&format!("deltas to each of {MANY} terminals"), many),
    ])
}

fn script(llm: &LlmServer) -> Gate {
    let gate = Gate::new();
    llm.push(
        Reply::sse()
            .text_delta(FIRST)
            .wait(&gate)
            .deltas(DELTAS, DELTA, Pace::Coalesced)
            .finish("stop")
            .usage(10, 20_000)
            .done(),
    );
    gate
}

fn expected() -> String {
    FIRST.to_owned() + &DELTA.repeat(DELTAS)
}

async fn read_directly(llm: &LlmServer, direct: &Direct) -> anyhow::Result<f64> {
    let gate = script(llm);
    let expected = expected();
    let mut text = String::new();
    let mut answer = direct.ask("stream").await?;
    answer.text(&mut text).await?.context("the first word")?;
    let start = Instant::now();
    gate.release();
    while text.len() < expected.len() {
        answer.text(&mut text).await?.context("the answer is too short")?;
    }
    let took = start.elapsed();
    while answer.text(&mut text).await?.is_some() {}
    ensure!(text == expected, "the direct reader has another text");
    Ok(rate(DELTAS, took))
}

async fn read_attached(
    llm: &LlmServer,
    daemon: &DaemonProcess,
    readers: usize,
) -> anyhow::Result<f64> {
    let gate = script(llm);
    let terminal = Terminal::connect(daemon, "writer").await?;
    let session_id = terminal.create_session().await?;
    let all_have_begun = Arc::new(Barrier::new(readers + 1));
    let mut tasks = JoinSet::new();
    for number in 0..readers {
        let reader = Terminal::connect(daemon, &format!("reader-{number}")).await?;
        let follower = reader.attach(&session_id).await?;
        tasks.spawn(read(reader, follower, Arc::clone(&all_have_begun)));
    }
    terminal.submit(&session_id, "stream").await?;
    all_have_begun.wait().await;
    let start = Instant::now();
    gate.release();
    let mut last = start;
    while let Some(ended) = tasks.join_next().await {
        last = last.max(ended??);
    }
    Ok(rate(DELTAS, last - start))
}

/// Returns when the last byte was there.
async fn read(
    _connection: Terminal,
    mut follower: Follower,
    all_have_begun: Arc<Barrier>,
) -> anyhow::Result<Instant> {
    let expected = expected();
    let mut text = String::new();
    follower.text(&mut text).await?.context("the first word")?;
    all_have_begun.wait().await;
    while text.len() < expected.len() {
        follower.text(&mut text).await?.context("the answer is too short")?;
    }
    let end = Instant::now();
    // The whole message must be the same text.
    while follower.text(&mut text).await?.is_some() {}
    ensure!(text == expected, "a terminal has another text");
    follower.turn_end().await?;
    Ok(end)
}
