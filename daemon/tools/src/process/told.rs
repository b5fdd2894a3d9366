//! What a call is told of a program that ended.

use std::time::Duration;

use agentd_domain::{ToolResult, ToolStatus};
use agentd_sandbox::Exit;

use super::command::unavailable;
use super::running::{Ended, STOP_PATIENCE};

/// Files of [`Exit::run_later`] that are named.
const MAX_NAMED: usize = 10;

/// Said to a program that wanted to change git's own files.
const GIT_IS_READ_ONLY: &str = "[.git is read-only for commands, but for one that runs nothing but plain \
                                git, such as `git switch -c NAME`, `git pull` or `git add -A && git stash`.]";

/// Said where git was to ask another repository in a way that starts programs.
const HTTP_ALONE: &str = "[Git in the sandbox asks other repositories only over http and https.]";

/// Said where git did what it was told and could not set what it tracks.
const SETTINGS_STAY: &str = "[Git's own files can be changed here, but its settings stay as they are: what \
                             else it was told is done. Name the remote and the branch each time.]";

/// How long a call may take whose program may run this long. The tool keeps the time itself, so that
/// the output so far is not lost.
pub(crate) fn call_time(time: Duration) -> Duration {
    time + 2 * STOP_PATIENCE
}

/// The result of a call that ran a program to its end.
pub(crate) fn told(ended: Ended) -> ToolResult {
    let code = ended.code();
    let Ended { out, errors, exit, late, .. } = ended;
    let mut text = streams(&out, &errors);
    let exit = match exit {
        Some(Ok(exit)) => Some(exit),
        Some(Err(error)) if late.is_none() => {
            return unavailable(&format!("{error}: {}", errors.trim()));
        }
        Some(Err(_)) | None => None,
    };
    if text.is_empty() {
        text.push_str("[no output]");
    }
    if let Some(exit) = &exit {
        left_behind(&mut text, exit);
    }
    if let Some(time) = late {
        line(&mut text, &format!("[Timed out after {} s and was ended.]", time.as_secs()));
        return ToolResult::new(ToolStatus::RetryableError, text, "TOOL_TIMEOUT");
    }
    // A push that also sets what to track is a success all the same.
    if text.contains("could not write config file .git/config") {
        line(&mut text, SETTINGS_STAY);
    }
    match code {
        Some(0) => ToolResult { exit_code: code, ..ToolResult::success(text) },
        Some(not_zero) => {
            if text.contains(".git/") && text.contains("Read-only file system") {
                line(&mut text, GIT_IS_READ_ONLY);
            }
            if text.contains("transport '") && text.contains("' not allowed") {
                line(&mut text, HTTP_ALONE);
            }
            line(&mut text, &format!("[exit code {not_zero}]"));
            ToolResult { exit_code: code, ..ToolResult::partial("COMMAND_NONZERO_EXIT", text) }
        }
        None => unavailable("its end is unknown"),
    }
}

/// Why processes were killed or could not be started, which they cannot tell themselves.
fn met_limits(text: &mut String, exit: &Exit) {
    if exit.limits_met.memory {
        line(text, "[Processes were killed: together they wanted more memory than allowed.]");
    }
    if exit.limits_met.processes {
        line(text, "[It wanted more processes and threads than allowed.]");
    }
}

/// Both streams, one after the other.
pub(crate) fn streams(out: &str, errors: &str) -> String {
    let mut text = out.to_owned();
    if !errors.is_empty() {
        line(&mut text, "[stderr]\n");
        text.push_str(errors);
    }
    text
}

/// Says what somebody should know of a program that has ended: limits that it met, and what it leaves
/// behind.
pub(crate) fn left_behind(text: &mut String, exit: &Exit) {
    met_limits(text, exit);
    if exit.left_running > 0 {
        let left = exit.left_running;
        line(text, &format!("[{left} of its processes still ran and were ended.]"));
    }
    if !exit.refused_hosts.is_empty() {
        let refused = exit.refused_hosts.join(", ");
        line(
            text,
            &format!(
                "[Hosts that it was not let through to: {refused}. Name what it needs in network; \
                 addresses that are not public are refused in any case.]"
            ),
        );
    }
    if !exit.run_later.is_empty() {
        let named: Vec<String> =
            exit.run_later.iter().take(MAX_NAMED).map(|path| path.display().to_string()).collect();
        line(text, &format!("[Changed files that run outside the sandbox: {}]", named.join(", ")));
    }
}

/// Adds a line.
pub(crate) fn line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}
