//! The memory that live sessions take, and what sessions take that come and go.

use std::sync::Arc;
use std::time::Duration;

use agentd_proto::v1;
use agentd_testkit::LlmServer;
use anyhow::ensure;
use tokio::task::JoinSet;

use crate::daemon_process::{DaemonProcess, Home};
use crate::measure::float;
use crate::report::{Aim, Row, Unit};
use crate::terminal::Terminal;

const SESSIONS: usize = 2_000;
const WARM_UP: usize = 100;
const WORKERS: usize = 8;
/// Pause between two looks at the number of live sessions: no event tells it.
const LOOK: Duration = Duration::from_millis(20);

pub(crate) async fn run() -> anyhow::Result<Vec<Row>> {
    let llm = LlmServer::start().await;
    let home = Home::new(&llm.base_url(), "")?;
    let daemon = Arc::new(DaemonProcess::start(&home).await?);
    let mut ids = open_sessions(&daemon, WARM_UP).await?;
    let before = daemon.resident_kib()?;
    ids.extend(open_sessions(&daemon, SESSIONS).await?);
    let live = daemon.resident_kib()?;
    let terminal = Terminal::connect(&daemon, "bench").await?;
    let count = status(&terminal).await?.live_sessions;
    ensure!(usize::try_from(count)? == ids.len(), "{count} sessions are live");

    // From here on a session leaves as soon as nobody is attached. Those that are there look at their
    // timers again when they are asked for something.
    home.configure(&llm.base_url(), "idle_unload_ms = 100\n")?;
    terminal.client.admin().reload_config(v1::ReloadConfigRequest {}).await?;
    for session_id in ids {
        terminal.client.session().get_session(v1::GetSessionRequest { session_id }).await?;
    }
    all_unloaded(&terminal).await?;
    let unloaded = daemon.resident_kib()?;
    // What was freed is used again, so only what sessions leave behind shows.
    open_sessions(&daemon, SESSIONS).await?;
    all_unloaded(&terminal).await?;
    let later = daemon.resident_kib()?;
    let row = |what: &str, value, unit| Row::new("sessions", what, value, unit);
    let each = |kib| kib / float(SESSIONS);
    Ok(vec![
        row("memory per live session", each(live - before), Unit::Kib).aim(Aim::AtMost(30.0)),
        row("memory per further session that came and went", each(later - unloaded), Unit::Kib)
            .aim(Aim::AtMost(1.0)),
        row("resident with 100 live sessions", before / 1_024.0, Unit::Mib),
        row("resident with 2,100 live sessions", live / 1_024.0, Unit::Mib),
        row("resident after unloading them", unloaded / 1_024.0, Unit::Mib),
        row("resident after 2,000 more", later / 1_024.0, Unit::Mib),
    ])
}

async fn all_unloaded(terminal: &Terminal) -> anyhow::Result<()> {
    let mut looks = tokio::time::interval(LOOK);
    while status(terminal).await?.live_sessions > 0 {
        looks.tick().await;
    }
    Ok(())
}

async fn status(terminal: &Terminal) -> anyhow::Result<v1::GetStatusResponse> {
    Ok(terminal.client.admin().get_status(v1::GetStatusRequest {}).await?.into_inner())
}

/// Creates sessions, each with one turn, from several terminals.
async fn open_sessions(daemon: &DaemonProcess, sessions: usize) -> anyhow::Result<Vec<String>> {
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        let terminal = Terminal::connect(daemon, &format!("worker-{number}")).await?;
        let share = sessions / WORKERS + usize::from(number < sessions % WORKERS);
        workers.spawn(async move {
            let mut ids = Vec::new();
            for _ in 0..share {
                let session_id = terminal.create_session().await?;
                let mut follower = terminal.attach(&session_id).await?;
                terminal.turn(&session_id, &mut follower, "say this back to me").await?;
                ids.push(session_id);
            }
            anyhow::Ok(ids)
        });
    }
    let mut ids = Vec::new();
    while let Some(worker) = workers.join_next().await {
        ids.extend(worker??);
    }
    Ok(ids)
}
