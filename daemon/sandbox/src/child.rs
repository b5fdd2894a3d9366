//! A program that runs.

use std::path::PathBuf;
use std::process::Stdio;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, ChildStdout};

use crate::protected::Look;
use crate::spawner::Spawner;

/// Longest report of the supervisor.
const MAX_REPORT: usize = 4 * 1024;

/// A program behind a backend. When it is dropped, the program and all that it started are killed;
/// the same happens when the daemon dies.
#[derive(Debug)]
pub struct Child {
    /// What it writes; ends when the program and all that it started have.
    pub stdout: Option<ChildStdout>,
    /// What it writes to its other stream.
    pub stderr: Option<ChildStderr>,
    pub(crate) process: tokio::process::Child,
    /// To the supervisor inside: a byte asks it to end the program, closing it kills everything.
    pub(crate) control: UnixStream,
    pub(crate) report: Vec<u8>,
    pub(crate) scratch: Option<TempDir>,
    pub(crate) workspace: PathBuf,
    pub(crate) look: Look,
    /// The box ends with the thread that started it.
    pub(crate) _spawner: Spawner,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Processes that it had started and that still ran a moment after its end; they were ended.
    pub left_running: usize,
    /// Files, relative to the workspace, that others run later and that came to be or changed while
    /// it ran.
    pub run_later: Vec<PathBuf>,
}

/// Why there is no exit to tell.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// The backend ended without having run the program; it says why on the error stream.
    #[error("the sandbox did not start the program")]
    NotStarted,
    /// The connection to the supervisor broke.
    #[error("the supervisor of the program cannot be reached")]
    Control(#[source] std::io::Error),
}

/// What the supervisor tells at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) left_running: usize,
}

impl Child {
    /// Waits until the program and all that it started are gone. What the program leaves running
    /// gets a moment to end by itself and is then ended.
    ///
    /// # Errors
    /// When the program was never started, or its supervisor is gone.
    ///
    /// # Cancel safety
    /// It can be dropped and called again.
    pub async fn wait(&mut self) -> Result<Exit, WaitError> {
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
        let Ok(report) = serde_json::from_slice::<Report>(&self.report) else {
            return Err(WaitError::NotStarted);
        };
        let run_later = Look::at(&self.workspace).changed_since(&self.look);
        let Report { code, signal, left_running } = report;
        Ok(Exit { code, signal, left_running, run_later })
    }

    /// Asks the program and all that it started to end: TERM, and KILL for what is still there half
    /// a second later. [`Child::wait`] then ends soon.
    pub async fn terminate(&mut self) {
        // When the supervisor is gone, so is the program.
        let _gone = self.control.write_all(b"T").await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
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
