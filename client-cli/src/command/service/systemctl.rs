//! Running systemd's own tools.

use std::process::{Output, Stdio};
use std::time::Duration;

use super::Scope;
use crate::exit::{Exit, Failure};

/// Longest wait for a tool: a stop may take as long as the unit's `TimeoutStopSec=`, and a start its
/// own time.
const PATIENCE: Duration = Duration::from_secs(330);
/// Most characters of a complaint that are shown.
const COMPLAINT_CHARS: usize = 600;

/// Runs `systemctl` for a scope.
///
/// # Errors
/// When there is no systemd, or it refuses; with what it said.
pub(super) async fn systemctl(scope: Scope, arguments: &[&str]) -> Result<String, Failure> {
    let mut all = vec!["systemctl"];
    if scope == Scope::User {
        all.push("--user");
    }
    all.extend(arguments);
    run(&all).await
}

/// Runs a tool and returns what it says.
///
/// # Errors
/// When it is missing, fails or does not end.
pub(super) async fn run(command: &[&str]) -> Result<String, Failure> {
    let shown = command.join(" ");
    let Some((program, arguments)) = command.split_first() else { return Ok(String::new()) };
    let output = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let Output { status, stdout, stderr } = match tokio::time::timeout(PATIENCE, output).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => {
            return Err(Failure::new(Exit::Failed, format!("cannot run `{shown}`"))
                .because(error)
                .hint("this needs systemd; elsewhere run `agentd` under your own supervisor"));
        }
        Err(_too_long) => {
            return Err(Failure::new(Exit::Failed, format!("`{shown}` does not end"))
                .hint("look at `journalctl -xe`"));
        }
    };
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let said: String =
        String::from_utf8_lossy(&stderr).trim().chars().take(COMPLAINT_CHARS).collect();
    let hint = if said.contains("connect to bus") || said.contains("not been booted") {
        "no systemd runs for this user here; log in anew, or run `agentd` under your own supervisor"
    } else {
        "look at `agentctl service status` and at the journal (`journalctl -u agentd`, for a user's \
         service `journalctl --user -u agentd`)"
    };
    Err(Failure::new(Exit::Failed, format!("`{shown}` failed ({status})")).because(said).hint(hint))
}
