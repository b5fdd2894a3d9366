//! A tool round: from the end of an answer that calls tools to the request that tells their results.

use std::fmt::Write as _;
use std::os::unix::fs::chown;
use std::path::Path;

use agentd_testkit::{Gate, LlmServer, Reply};
use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::daemon_process::DaemonProcess;
use crate::measure::ms;
use crate::terminal::{Follower, Terminal};

/// Root's own directories are no workspace of programs.
const NOBODY: u32 = 65_534;

/// What a session is asked to do while it is measured: nothing asks a person.
pub(crate) const CONFIG: &str = "[permission]\nmode = \"full\"\n";

/// A tool's name and its arguments.
pub(crate) type Call<'a> = (&'a str, &'a str);

/// A session in which rounds are timed.
#[derive(Debug)]
pub(crate) struct Rounds<'a> {
    llm: &'a LlmServer,
    terminal: Terminal,
    session_id: String,
    follower: Follower,
}

impl<'a> Rounds<'a> {
    /// A new session in a workspace.
    pub(crate) async fn open(
        llm: &'a LlmServer,
        daemon: &DaemonProcess,
        workspace: &Path,
    ) -> anyhow::Result<Self> {
        let terminal = Terminal::connect(daemon, "bench").await?;
        let session_id = terminal.create_session_in(workspace).await?;
        let follower = terminal.attach(&session_id).await?;
        Ok(Self { llm, terminal, session_id, follower })
    }

    /// Milliseconds of a round in which each result holds `expected`.
    pub(crate) async fn timed(
        &mut self,
        calls: &[Call<'_>],
        expected: &str,
    ) -> anyhow::Result<f64> {
        let gate = Gate::new();
        let answer = Reply::sse().call_deltas(calls).wait(&gate).finish("tool_calls");
        self.llm.push(answer.usage(10, 5).done());
        self.llm.push(Reply::text("done"));
        let before = self.llm.requests().len();
        self.terminal.submit(&self.session_id, "go on").await?;
        gate.reached().await;
        let start = Instant::now();
        gate.release();
        let request = self.llm.wait_for_request(before + 2).await;
        let took = ms(start.elapsed());
        self.follower.turn_end().await?;
        let outputs = request.tool_outputs();
        let of_these = outputs.len().checked_sub(calls.len()).and_then(|from| outputs.get(from..));
        for output in of_these.context("a result for each call")? {
            ensure!(output.contains(expected), "a call went wrong: {output}");
        }
        Ok(took)
    }
}

/// An empty workspace, which is removed at the end.
pub(crate) fn workspace() -> anyhow::Result<TempDir> {
    let dir = tempfile::Builder::new().prefix("agentd-bench-").tempdir()?;
    if rustix::process::geteuid().is_root() {
        chown(dir.path(), Some(NOBODY), Some(NOBODY))?;
    }
    Ok(dir)
}

/// Numbered lines, of `bytes` or a little more.
pub(crate) fn lines(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut number = 0_u32;
    while text.len() < bytes {
        number += 1;
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "line {number} of a file that is as long as it has to be");
    }
    text
}
