//! `agentctl upgrade`: lets another binary take over from the daemon that runs.

use std::path::PathBuf;
use std::time::Duration;

use agentd_proto::v1;
use clap::Args;
use tokio::time::Instant;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};

/// Options of `upgrade`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UpgradeArgs {
    /// The new binary; without it: the path that the daemon was started from
    #[arg(value_name = "AGENTD")]
    pub(crate) binary: Option<PathBuf>,
}

/// Longest wait for the new binary: a stop may take `daemon.shutdown_timeout_ms`, ten minutes at
/// most, but nobody wants to look at it for so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often to look.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Asks for the upgrade and waits until the new binary serves.
pub(super) async fn run(args: &UpgradeArgs, app: &App) -> Result<Exit, Failure> {
    let binary = match &args.binary {
        None => String::new(),
        Some(path) => match std::path::absolute(path) {
            Ok(path) => path.display().to_string(),
            Err(error) => {
                let what = format!("cannot use {}", path.display());
                return Err(Failure::new(Exit::Usage, what).because(error));
            }
        },
    };
    let client = app.running_client().await?;
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let before = status.map_err(|status| rpc_failure("cannot ask the daemon", status))?;
    let before = before.into_inner();
    let answer = client.admin().upgrade(v1::UpgradeRequest { binary }).await;
    let answer = answer.map_err(|status| rpc_failure("no other binary takes over", status))?;
    let v1::UpgradeResponse { pid, binary, version } = answer.into_inner();
    drop(client);
    let give_up = Instant::now() + PATIENCE;
    loop {
        let serves = async {
            let client = app.try_running_client().await.ok()??;
            let status = client.admin().get_status(v1::GetStatusRequest {}).await.ok()?;
            Some(status.into_inner())
        };
        if let Some(now) = serves.await
            && now.started_at_ms != before.started_at_ms
        {
            let (from, to) = (&before.version, &now.version);
            app.output.foreign_line(&format!("agentd {from} became {to} (pid {})", now.pid))?;
            return Ok(Exit::Ok);
        }
        if Instant::now() >= give_up {
            let what = format!("agentd {version} has not taken over yet (pid {pid})");
            return Err(Failure::new(Exit::Failed, what)
                .because(format!("{binary} did not serve within {} s", PATIENCE.as_secs()))
                .hint("look at `agentctl status` and at the daemon's log"));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
