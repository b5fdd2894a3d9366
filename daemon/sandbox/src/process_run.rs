//! A run whose processes are ours: a box and its supervisor.

use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use crate::WaitError;
use crate::cgroup::RunGroup;
use crate::child::Ended;
use crate::spawner::Spawner;

/// After which time a run that was asked to end is killed by its group; its supervisor needs half a
/// second.
const UNTIL_KILLED: Duration = Duration::from_millis(1_500);

/// Longest report of the supervisor.
const MAX_REPORT: usize = 4 * 1024;

#[derive(Debug)]
pub(crate) struct ProcessRun {
    pub(crate) group: Option<RunGroup>,
    pub(crate) process: tokio::process::Child,
    /// To the supervisor inside: a byte asks it to end the program, closing it kills everything.
    pub(crate) control: UnixStream,
    pub(crate) report: Vec<u8>,
    pub(crate) scratch: Option<TempDir>,
    /// It was asked to end: from then on its group is killed when it has not.
    pub(crate) kill_at: Option<Instant>,
    /// The box ends with the thread that started it.
    pub(crate) _spawner: Spawner,
}

/// What the supervisor tells at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) left_running: usize,
}

impl ProcessRun {
    /// # Cancel safety
    /// It can be dropped and called again.
    pub(crate) async fn wait(&mut self) -> Result<Ended, WaitError> {
        if self.group.is_some()
            && let Some(kill_at) = self.kill_at
        {
            return match timeout_at(kill_at, self.report()).await {
                Ok(ended) => ended,
                Err(_late) => Ok(self.kill().await),
            };
        }
        self.report().await
    }

    /// What the supervisor tells.
    ///
    /// # Cancel safety
    /// It can be dropped and called again.
    async fn report(&mut self) -> Result<Ended, WaitError> {
        let mut piece = [0; 512];
        while !self.report.ends_with(b"\n") && self.report.len() < MAX_REPORT {
            match self.control.read(&mut piece).await {
                Ok(0) => break,
                Ok(length) => self.report.extend(piece.iter().take(length)),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
                Err(error) => return Err(WaitError::Control(error)),
            }
        }
        // It ends by itself right after its report; what it held is free once it is reaped.
        let _status = self.process.wait().await;
        let limits_met = self.group.as_ref().map(RunGroup::limits_met).unwrap_or_default();
        let Ok(report) = serde_json::from_slice::<Report>(&self.report) else {
            // Its supervisor is among what was killed.
            if limits_met.memory {
                let signal = Some(rustix::process::Signal::KILL.as_raw());
                return Ok(Ended { code: None, signal, left_running: 0, limits_met });
            }
            return Err(WaitError::NotStarted);
        };
        let Report { code, signal, left_running } = report;
        Ok(Ended { code, signal, left_running, limits_met })
    }

    /// Kills all of it at once, the supervisor too: it has too much to do, as with a fork bomb.
    async fn kill(&mut self) -> Ended {
        let limits_met = self.group.as_ref().map(RunGroup::limits_met).unwrap_or_default();
        if let Some(group) = &self.group {
            group.kill();
        }
        let _status = self.process.wait().await;
        let signal = Some(rustix::process::Signal::KILL.as_raw());
        Ended { code: None, signal, left_running: 0, limits_met }
    }

    pub(crate) async fn terminate(&mut self) {
        self.kill_at = Some(Instant::now() + UNTIL_KILLED);
        // When the supervisor is gone, so is the program.
        let _gone = self.control.write_all(b"T").await;
    }
}

impl Drop for ProcessRun {
    fn drop(&mut self) {
        // First, so that nothing goes on while the rest is taken apart.
        drop(self.group.take());
        // Its files may be many, so that is not for a thread of the runtime.
        let Some(scratch) = self.scratch.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(scratch)));
        }
    }
}

/// The two ends of a control connection: ours, and the one that becomes the supervisor's input.
///
/// # Errors
/// When there can be no more sockets.
pub(crate) fn control() -> std::io::Result<(UnixStream, Stdio)> {
    let (ours, theirs) = UnixStream::pair()?;
    let theirs = theirs.into_std()?;
    theirs.set_nonblocking(false)?;
    Ok((ours, Stdio::from(std::os::fd::OwnedFd::from(theirs))))
}
