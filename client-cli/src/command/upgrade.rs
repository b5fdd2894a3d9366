//! `agentctl upgrade`: lets another binary take over from the daemon that runs.

use std::path::PathBuf;
use std::time::Duration;

use agentd_proto::v1;
use clap::Args;
use tokio::time::Instant;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::UpgradeView;

/// Options of `upgrade`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UpgradeArgs {
    /// The new binary; without it: the path that the daemon was started from
    #[arg(value_name = "AGENTD")]
    pub(crate) binary: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Longest wait for the new binary: a stop may take `daemon.shutdown_timeout_ms`, ten minutes at
/// most, but nobody wants to look at it for so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often to look.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The socket stays open while one binary becomes the other, so who finds nobody there for this long
/// need not wait for more.
const GONE_AFTER: Duration = Duration::from_secs(3);

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
    let mut absence = Absence::default();
    loop {
        let found = app.try_running_client().await;
        if absence.lasts(matches!(found, Ok(None)), Instant::now()) {
            return Err(Failure::new(Exit::Failed, format!("agentd {version} has not taken over"))
                .because(format!("{binary} ended instead, and no daemon runs now"))
                .hint("start the old one, or let `agentctl chat` start one; the daemon's log tells why it ended"));
        }
        let serves = async {
            let client = found.ok()??;
            let status = client.admin().get_status(v1::GetStatusRequest {}).await.ok()?;
            Some(status.into_inner())
        };
        if let Some(now) = serves.await
            && now.started_at_ms != before.started_at_ms
        {
            let (from, to) = (&before.version, &now.version);
            if args.json {
                app.output.json(&UpgradeView { from_version: from, version: to, pid: now.pid })?;
            } else {
                app.output.foreign_line(&format!("agentd {from} became {to} (pid {})", now.pid))?;
            }
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

/// For how long nobody has been there.
#[derive(Debug, Default)]
struct Absence {
    since: Option<Instant>,
}

impl Absence {
    /// Takes what a look has found. True when nobody has been there for too long.
    fn lasts(&mut self, is_absent: bool, now: Instant) -> bool {
        if !is_absent {
            self.since = None;
            return false;
        }
        now.duration_since(*self.since.get_or_insert(now)) >= GONE_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_stays_away_is_gone() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut absence = Absence::default();
        assert!(!absence.lasts(true, at(0)));
        assert!(!absence.lasts(true, at(2_900)));
        assert!(!absence.lasts(false, at(2_950)), "it is back");
        assert!(!absence.lasts(true, at(3_000)));
        assert!(!absence.lasts(true, at(5_900)));
        assert!(absence.lasts(true, at(6_000)));
    }
}
