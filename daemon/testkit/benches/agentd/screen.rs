//! The full-screen client in a terminal: how soon it shows a long session, what a fast stream costs it, and
//! how long a key takes to the screen meanwhile.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use agentd_testkit::{Gate, LlmServer, Pace, Pty, Reply};
use anyhow::Context as _;
use rustix::param::clock_ticks_per_second;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::daemon_process::{DaemonProcess, Home};
use crate::fixture;
use crate::measure::{Samples, float, ms};
use crate::report::{Aim, Row, Unit};
use crate::terminal::Terminal;

const NO_MODEL: &str = "http://127.0.0.1:9/v1";
/// Of five events each.
const TURNS: usize = 20_000;
const STARTS: usize = 7;
/// Deltas come in bursts, so many a second.
const BURSTS_PER_SECOND: usize = 50;
const DELTAS_PER_BURST: usize = 400;
const SECONDS: usize = 8;
/// Keys that are timed, one after the other.
const KEYS: usize = 60;
const COLUMNS: u16 = 120;
const ROWS: u16 = 40;

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let mut rows = long_session().await?;
    rows.extend(fast_stream().await?);
    Ok(rows)
}

async fn long_session() -> anyhow::Result<Vec<Row>> {
    let home = Home::new(NO_MODEL, "")?;
    let (session_id, events) = fixture::long_session(&home.paths().store_dir(), TURNS).await?;
    let daemon = DaemonProcess::start(&home).await?;
    let newest = format!("question {TURNS}:");
    let mut first_frames = Vec::new();
    let (mut resident, mut resident_whole, mut whole) = (0.0, 0.0, Vec::new());
    for _ in 0..STARTS {
        let start = Instant::now();
        let screen = open(&home, &session_id.to_string())?;
        screen.wait_for(&newest).await;
        first_frames.push(ms(start.elapsed()));
        resident = resident_mib(screen.pid())?;
        let start = Instant::now();
        screen.send("\x1b[1;5H");
        screen.wait_until("the first turn", |shown| shown.contains("question 1:")).await;
        whole.push(ms(start.elapsed()));
        resident_whole = resident_mib(screen.pid())?;
        screen.send("\x03");
        screen.wait_exit().await;
    }
    daemon.stop().await?;
    let row = |what: String, value, unit| Row::new("tui", what, value, unit);
    Ok(vec![
        row(
            format!("newest turn of {events} events on the screen, p50"),
            Samples::new(first_frames).median(),
            Unit::Ms,
        )
        .aim(Aim::AtMost(150.0)),
        row("resident then".to_owned(), resident, Unit::Mib),
        row("from there to its first turn, p50".to_owned(), Samples::new(whole).median(), Unit::Ms),
        row("resident then, all of it read".to_owned(), resident_whole, Unit::Mib),
    ])
}

async fn fast_stream() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let home = Home::new(&llm.base_url(), "")?;
    let daemon = DaemonProcess::start(&home).await?;
    let terminal = Terminal::connect(&daemon, "bench").await?;
    let session_id = terminal.create_session().await?;
    let screen = open(&home, &session_id)?;
    screen.wait_for("›").await;
    let bursts = BURSTS_PER_SECOND * SECONDS;
    let gates: Vec<Gate> = (0..bursts).map(|_| Gate::new()).collect();
    let mut reply = Reply::sse().text_delta("begin\n\n");
    for gate in &gates {
        reply = reply.wait(gate).deltas(DELTAS_PER_BURST - 10, "token ", Pace::Coalesced).deltas(
            10,
            "and so **on**.\n\n",
            Pace::Coalesced,
        );
    }
    llm.push(reply.finish("stop").usage(10, 10).done());
    terminal.submit(&session_id, "stream").await?;
    screen.wait_for("begin").await;
    let (cpu_before, start) = (cpu_seconds(screen.pid())?, Instant::now());
    let release = async {
        let mut beat = interval(Duration::from_secs(1) / u32::try_from(BURSTS_PER_SECOND)?);
        beat.set_missed_tick_behavior(MissedTickBehavior::Burst);
        for gate in &gates {
            beat.tick().await;
            gate.release();
        }
        anyhow::Ok(start.elapsed())
    };
    let keys = async {
        let mut delays = Vec::new();
        let mut beat = interval(Duration::from_millis(100));
        for count in 1..=KEYS {
            beat.tick().await;
            let typed = format!("› {}", "x".repeat(count));
            let pressed = Instant::now();
            screen.send("x");
            screen.wait_until("the key", |shown| shown.contains(&typed)).await;
            delays.push(ms(pressed.elapsed()));
        }
        delays
    };
    let (released, delays) = tokio::join!(release, keys);
    let took = released?.as_secs_f64();
    let cpu = (cpu_seconds(screen.pid())? - cpu_before) / start.elapsed().as_secs_f64();
    let resident = resident_mib(screen.pid())?;
    let deltas = float(bursts * DELTAS_PER_BURST) / took;
    screen.send("\x03");
    screen.wait_exit().await;
    daemon.stop().await?;
    let delays = Samples::new(delays);
    let row = |what: &str, value, unit| Row::new("tui", what, value, unit);
    Ok(vec![
        row("deltas a second that the model sent", deltas, Unit::PerSecond)
            .aim(Aim::AtLeast(19_000.0)),
        row("of one core while they were shown", 100.0 * cpu, Unit::Percent).aim(Aim::AtMost(50.0)),
        row("a key to the screen meanwhile, p50", delays.median(), Unit::Ms),
        row("the same, p99", delays.percentile(99), Unit::Ms).aim(Aim::AtMost(20.0)),
        row("resident at the end of it", resident, Unit::Mib),
    ])
}

fn open(home: &Home, session_id: &str) -> anyhow::Result<Pty> {
    let builder = Pty::builder(program()?).size(COLUMNS, ROWS).env("AGENTD_HOME", home.path());
    let builder = builder.env("HOME", home.path()).arg("--session").arg(session_id);
    Ok(builder.spawn())
}

fn resident_mib(pid: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()).context("VmRSS")?;
    Ok(number.parse::<f64>()? / 1_024.0)
}

/// Processor time of a process so far, of its own code and of the system's for it.
fn cpu_seconds(pid: u32) -> anyhow::Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name may hold anything; what follows its bracket does not.
    let (_, fields) = stat.rsplit_once(") ").context("a name")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    let ticks = ticks.sum::<Result<f64, _>>()?;
    Ok(ticks / f64::from(u32::try_from(clock_ticks_per_second())?))
}

/// What `cargo xtask bench` built, else what lies beside the daemon.
fn program() -> anyhow::Result<PathBuf> {
    if let Some(program) = std::env::var_os("AGENT_TUI_BIN") {
        return Ok(program.into());
    }
    let here = std::env::current_exe()?;
    let beside = here.parent().and_then(|dir| dir.parent()).map(|dir| dir.join("agent-tui"));
    let program = beside.filter(|program| program.is_file());
    program.context("agent-tui is not built: use `cargo xtask bench`, or name it in AGENT_TUI_BIN")
}
