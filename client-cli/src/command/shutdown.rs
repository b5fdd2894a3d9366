//! `agentctl shutdown`.

use std::time::Duration;

use agentd_proto::v1;
use rustix::process::{Pid, test_kill_process};

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};

/// Longest wait for the process to be gone; the daemon's own deadline is shorter.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often to look. There is no portable way to be told of the end of a process that is no child.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Stops the daemon and waits until it is gone.
pub(super) async fn run(app: &App) -> Result<Exit, Failure> {
    let Some(client) = app.try_running_client().await? else {
        app.output.note("no daemon runs");
        return Ok(Exit::Ok);
    };
    let answer = client.admin().shutdown(v1::ShutdownRequest {}).await;
    let answer = answer.map_err(|status| rpc_failure("cannot stop the daemon", status))?;
    let pid = answer.into_inner().pid;
    drop(client);
    if tokio::time::timeout(PATIENCE, gone(pid)).await.is_err() {
        return Err(Failure::new(Exit::Failed, format!("the daemon (pid {pid}) is still there"))
            .because(format!("it did not end within {} s", PATIENCE.as_secs()))
            .hint(format!("look at {}", app.paths.log_file().display())));
    }
    app.output.note(&format!("the daemon (pid {pid}) has stopped"));
    Ok(Exit::Ok)
}

async fn gone(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    while test_kill_process(pid).is_ok() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
