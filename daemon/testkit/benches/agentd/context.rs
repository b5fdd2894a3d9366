//! What requests are made of: how much of one the next repeats, and a very long session in a small window.

use std::fs;
use std::sync::Arc;

use agentd_testkit::{LlmServer, RecordedRequest, Reply};
use anyhow::{Context as _, ensure};
use serde_json::json;
use tokio::time::Instant;

use crate::daemon_process::{DaemonProcess, Home};
use crate::measure::{Samples, float, ms};
use crate::report::{Aim, Row, Unit};
use crate::round::{CONFIG, lines, workspace};
use crate::terminal::Terminal;

/// Turns with a tool call each, whose requests are compared.
const TURNS: usize = 40;
/// Bytes of the file that each of them reads.
const FILE: usize = 6 * 1024;
/// Turns of the long session.
const LONG_TURNS: usize = 2_000;
/// Of these at its beginning and at its end are compared.
const PART: usize = 200;
/// Tokens of its window.
const SMALL_WINDOW: u64 = 8_192;
/// Bytes of JSON that a token stands for at most, in what is said here.
const BYTES_PER_TOKEN: u64 = 5;

/// A model that writes a summary when it is asked for one.
async fn server() -> LlmServer {
    let llm = LlmServer::start().await;
    llm.set_default(|request| {
        if !is_of_turn(request) && !is_for_summary(request) {
            Reply::text("[]")
        } else if is_for_summary(request) {
            let line = json!({"section": "done", "text": "Files were read, step by step.", "from": ["T1", "L1"]});
            Reply::text(&json!({"lines": [line]}).to_string())
        } else {
            Reply::text("It says what it says, and that is what was to be found out.")
        }
    });
    llm
}

fn is_for_summary(request: &RecordedRequest) -> bool {
    request.system_text().contains("You keep the record")
}

/// True for a request of a turn, not for one that is made beside it.
fn is_of_turn(request: &RecordedRequest) -> bool {
    let looks_for_memories = request.system_text().contains("You look through a conversation");
    !is_for_summary(request) && !looks_for_memories
}

/// A home whose model has so large a window.
fn home(llm: &LlmServer, window: u64, more: &str) -> anyhow::Result<Home> {
    let home = Home::new(&llm.base_url(), more)?;
    let config = home.paths().config_file();
    let text = fs::read_to_string(&config)?;
    let window = format!("[provider]\ncontext_tokens = {window}\n");
    fs::write(&config, text.replace("[provider]\n", &window))?;
    Ok(home)
}

pub(crate) async fn prefix() -> anyhow::Result<Vec<Row>> {
    let llm = server().await;
    let home = home(&llm, 32_768, CONFIG)?;
    let dir = workspace()?;
    fs::write(dir.path().join("file.txt"), lines(FILE))?;
    let daemon = DaemonProcess::start(&home).await?;
    let terminal = Terminal::connect(&daemon, "bench").await?;
    let session_id = terminal.create_session_in(dir.path()).await?;
    let mut follower = terminal.attach(&session_id).await?;
    for turn in 0..TURNS {
        llm.push_when(is_of_turn, Reply::tool_call("read_file", r#"{"path":"file.txt"}"#));
        terminal
            .turn(&session_id, &mut follower, &format!("read it once more, time {turn}"))
            .await?;
    }
    daemon.stop().await?;
    let requests: Vec<Arc<RecordedRequest>> =
        llm.requests().into_iter().filter(|request| is_of_turn(request)).collect();
    ensure!(requests.len() == 2 * TURNS, "{} requests", requests.len());
    let (mut within, mut across) = (Vec::new(), Vec::new());
    for pair in requests.windows(2) {
        let [former, next] = pair else { continue };
        let share = repeated(former, next);
        if is_folded(former, next) { across.push(share) } else { within.push(share) }
    }
    ensure!(!across.is_empty() && across.len() < TURNS / 4, "{} foldings", across.len());
    let foldings = float(across.len());
    let all: Vec<f64> = within.iter().chain(&across).copied().collect();
    let mean = all.iter().sum::<f64>() / float(all.len());
    let (within, across) = (Samples::new(within), Samples::new(across));
    let row = |what: &str, value| Row::new("context", what, value, Unit::Percent);
    Ok(vec![
        row("of a request that the next repeats, least", within.percentile(1))
            .aim(Aim::AtLeast(95.0)),
        row("the same, p50", within.median()),
        row("the same where turns were folded or trimmed, p50", across.median()),
        row("the same, mean of all", mean),
        Row::new("context", format!("foldings in {TURNS} turns"), foldings, Unit::Count),
    ])
}

/// Percent of a request's bytes that the next begins with.
fn repeated(former: &RecordedRequest, next: &RecordedRequest) -> f64 {
    let same = former.raw.iter().zip(&next.raw).take_while(|(a, b)| a == b).count();
    100.0 * float(same) / float(former.raw.len().max(1))
}

/// True when something was left out or folded between two requests: there are fewer messages, another
/// summary, or more placeholders.
fn is_folded(former: &RecordedRequest, next: &RecordedRequest) -> bool {
    let placeholders = |request: &RecordedRequest| {
        request
            .tool_outputs()
            .iter()
            .filter(|output| output.starts_with("[tool result omitted"))
            .count()
    };
    let first = |request: &RecordedRequest| request.messages().get(1).cloned();
    next.messages().len() < former.messages().len()
        || first(former) != first(next)
        || placeholders(next) > placeholders(former)
}

pub(crate) async fn long_session() -> anyhow::Result<Vec<Row>> {
    let llm = server().await;
    let home = home(&llm, SMALL_WINDOW, "")?;
    let daemon = DaemonProcess::start(&home).await?;
    let terminal = Terminal::connect(&daemon, "bench").await?;
    let session_id = terminal.create_session().await?;
    let mut follower = terminal.attach(&session_id).await?;
    let mut took = Vec::with_capacity(LONG_TURNS);
    let mut resident_early = 0.0;
    for turn in 0..LONG_TURNS {
        let text = format!("step {turn}: {}", "look at what comes next. ".repeat(turn % 30));
        let start = Instant::now();
        // An error when the model's server or the daemon refuses one.
        terminal.turn(&session_id, &mut follower, &text).await?;
        took.push(ms(start.elapsed()));
        if turn + 1 == PART {
            resident_early = daemon.resident_kib()? / 1_024.0;
        }
    }
    let resident = daemon.resident_kib()? / 1_024.0;
    daemon.stop().await?;
    let requests = llm.requests();
    let largest = requests.iter().map(|request| request.raw.len()).max().context("a request")?;
    let most = SMALL_WINDOW * BYTES_PER_TOKEN;
    ensure!(u64::try_from(largest)? <= most, "a request of {largest} bytes");
    let part =
        |from: usize| Samples::new(took.iter().skip(from).take(PART).copied().collect()).median();
    let (early, late) = (part(0), part(LONG_TURNS - PART));
    let row = |what: String, value, unit| Row::new("context", what, value, unit);
    Ok(vec![
        row(format!("whole turn at the end of {LONG_TURNS} in 8k, p50"), late, Unit::Ms)
            .raw(early, "of its first 200 turns")
            .aim(Aim::AtMost(5.0)),
        row(format!("resident after {LONG_TURNS} turns in 8k"), resident, Unit::Mib)
            .raw(resident_early, "after 200 turns"),
        row("largest request in 8k".to_owned(), float(largest) / 1_024.0, Unit::Kib),
    ])
}
