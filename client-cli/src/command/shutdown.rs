//! `agentctl shutdown`.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::Client;
use rustix::process::{Pid, test_kill_process};
use tokio::time::Instant;

use crate::app::{App, rpc_failure};
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};
use crate::json::ShutdownView;

/// Longest wait for the process to be gone; the daemon's own deadline is shorter.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a daemon that has the data directory may take to listen or to be gone.
const HOLDER_PATIENCE: Duration = Duration::from_secs(1);
/// How often to look. There is no portable way to be told of the end of a process that is no child.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Stops the daemon and waits until it is gone.
pub(super) async fn run(args: &JsonArgs, app: &App) -> Result<Exit, Failure> {
    let pid = stop(app).await?;
    if args.json {
        app.output.json(&ShutdownView { pid })?;
    }
    Ok(Exit::Ok)
}

/// Stops the daemon and waits until it is gone. Returns its process, if there was one.
///
/// # Errors
/// A report when it cannot be reached, or does not end.
pub(super) async fn stop(app: &App) -> Result<Option<u32>, Failure> {
    let Some(client) = listening(app).await? else {
        app.output.note("no daemon runs");
        return Ok(None);
    };
    let answer = client.admin().shutdown(v1::ShutdownRequest {}).await;
    let answer = answer.map_err(|status| rpc_failure("cannot stop the daemon", status))?;
    let pid = answer.into_inner().pid;
    drop(client);
    if app.server().is_some() {
        return away(pid, app).await;
    }
    if tokio::time::timeout(PATIENCE, gone(pid)).await.is_err() {
        return Err(Failure::new(Exit::Failed, format!("the daemon (pid {pid}) is still there"))
            .because(format!("it did not end within {} s", PATIENCE.as_secs()))
            .hint(format!("look at {}", app.paths().log_file().display())));
    }
    app.output.note(&format!("the daemon (pid {pid}) has stopped"));
    Ok(Some(pid))
}

/// Connects to the daemon; `None` when none runs.
///
/// # Errors
/// A report when there is one that cannot be reached: it must not pass for stopped.
async fn listening(app: &App) -> Result<Option<Client>, Failure> {
    let give_up = Instant::now() + HOLDER_PATIENCE;
    loop {
        if let Some(client) = app.try_running_client().await? {
            return Ok(Some(client));
        }
        let Some(holder) = app.connector().data_dir_holder() else { return Ok(None) };
        if Instant::now() >= give_up {
            return Err(app.connector().held(holder).into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Waits until nobody listens on the other machine.
async fn away(pid: u32, app: &App) -> Result<Option<u32>, Failure> {
    let unreachable = async {
        while app.try_running_client().await.is_ok() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    if tokio::time::timeout(PATIENCE, unreachable).await.is_err() {
        return Err(Failure::new(Exit::Failed, "the daemon still answers")
            .because(format!("it did not end within {} s", PATIENCE.as_secs()))
            .hint("something may start it again; look at its log on that machine"));
    }
    app.output.note(&format!("the daemon (pid {pid} on its machine) does not answer any more"));
    Ok(Some(pid))
}

async fn gone(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    while test_kill_process(pid).is_ok() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
