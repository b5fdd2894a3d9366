//! What the daemon adds to a turn, and whether that grows with the session.

use agentd_testkit::LlmServer;
use anyhow::{Context as _, ensure};
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::fixture;
use crate::measure::{Samples, ms};
use crate::model::{Direct, messages_of};
use crate::report::{Aim, Row, Unit};
use crate::terminal::{Follower, Terminal};

const TEXT: &str = "say this back to me";
/// Turns are spread over sessions, so that none gets long.
const SESSIONS: usize = 12;
const TURNS: usize = 25;
/// Turns of the long session when it is opened, and turns measured in it.
const LONG_TURNS: usize = 1_000;
const LONG_PAIRS: usize = 50;

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let home = Home::new(&llm.base_url(), "")?;
    let (long_id, _events) = fixture::long_session(&home.paths().store_dir(), LONG_TURNS).await?;
    let daemon = DaemonProcess::start(&home).await?;
    let terminal = Terminal::connect(&daemon, "bench").await?;
    let direct = Direct::new(&llm)?;

    let (mut raw, mut whole, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..SESSIONS {
        let session_id = terminal.create_session().await?;
        let mut follower = terminal.attach(&session_id).await?;
        terminal.turn(&session_id, &mut follower, TEXT).await?;
        for _ in 0..TURNS {
            let start = Instant::now();
            ensure!(direct.turn(TEXT).await? == TEXT, "the model does not echo");
            let of_direct = ms(start.elapsed());
            let of_daemon = timed_turn(&terminal, &session_id, &mut follower).await?;
            raw.push(of_direct);
            whole.push(of_daemon);
            added.push(of_daemon - of_direct);
        }
    }

    let long_id = long_id.to_string();
    let mut long = terminal.attach(&long_id).await?;
    // The first one leaves out the turns that do not fit the model's window.
    terminal.turn(&long_id, &mut long, TEXT).await?;
    let conversation = llm.requests().pop().context("a request")?;
    let conversation = messages_of(&conversation)?;
    let (mut raw_long, mut added_long) = (Vec::new(), Vec::new());
    for _ in 0..LONG_PAIRS {
        let messages = conversation.clone();
        let start = Instant::now();
        direct.turn_of(messages).await?;
        let of_direct = ms(start.elapsed());
        raw_long.push(of_direct);
        added_long.push(timed_turn(&terminal, &long_id, &mut long).await? - of_direct);
    }
    daemon.stop().await?;

    let (raw, whole, added) = (Samples::new(raw), Samples::new(whole), Samples::new(added));
    let (raw_long, added_long) = (Samples::new(raw_long), Samples::new(added_long));
    let row = |what: &str, value| Row::new("turn", what, value, Unit::Ms);
    Ok(vec![
        row("added to an echo turn, p50", added.median()).aim(Aim::AtMost(3.0)),
        row("added to an echo turn, p99", added.percentile(99)),
        row("whole echo turn, p50", whole.median()).raw(raw.median(), "direct request"),
        row("whole echo turn, p99", whole.percentile(99)).raw(raw.percentile(99), "direct request"),
        row(&format!("added in a session of {LONG_TURNS} turns, p50"), added_long.median())
            .raw(added.median(), "in a short session")
            .aim(Aim::RatioAtMost(1.5)),
        row("direct request with its conversation, p50", raw_long.median()),
    ])
}

/// Milliseconds from sending a message to the end of its turn.
async fn timed_turn(
    terminal: &Terminal,
    session_id: &str,
    follower: &mut Follower,
) -> anyhow::Result<f64> {
    let start = Instant::now();
    terminal.turn(session_id, follower, TEXT).await?;
    Ok(ms(start.elapsed()))
}
