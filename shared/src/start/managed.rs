//! A daemon that systemd looks after for this user is started through systemd.
//!
//! Otherwise a client would start one of its own while the unit is stopped, and the unit could not
//! start any more: the other one has the data.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use crate::paths::Paths;

/// The unit whose start makes the daemon reachable.
const UNIT: &str = "agentd.socket";
/// Longest wait for systemd.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts the user's socket unit where it is enabled. False: there is none, or systemd did not start
/// it, and the client starts a daemon itself.
pub(super) async fn start(paths: &Paths, deadline: Instant) -> bool {
    if !enabled_unit(paths).is_some_and(|unit| unit.exists()) {
        return false;
    }
    let until = deadline.min(Instant::now() + PATIENCE);
    let started = Command::new("systemctl")
        .args(["--user", "start", UNIT])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .status();
    match tokio::time::timeout_at(until, started).await {
        Ok(Ok(status)) => status.success(),
        Ok(Err(_no_systemctl)) => false,
        Err(_too_long) => false,
    }
}

/// Where the link lies that `systemctl --user enable` makes. None for a daemon with a home of its
/// own, which no unit of ours runs.
fn enabled_unit(paths: &Paths) -> Option<PathBuf> {
    if paths.home().is_some() {
        return None;
    }
    let config_dir: &Path = paths.config_dir.parent()?;
    Some(config_dir.join("systemd/user/sockets.target.wants").join(UNIT))
}
