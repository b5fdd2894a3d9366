//! A program from its start to its end or its deadline, with what it wrote.

use std::pin::pin;
use std::time::Duration;

use agentd_sandbox::{Command, Exit, Sandbox, SpawnError, WaitError};
use futures_util::future::maybe_done;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, timeout, timeout_at};

use super::capture::Capture;
use crate::LiveOutput;

/// How long a program that is ended may take to be gone; its supervisor needs a second at most.
pub(crate) const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a stream that are kept, when nothing else is said (spec k.3).
pub(super) const KEPT: usize = 64 * 1024;

/// Bytes that are read at once.
const PIECE: usize = 16 * 1024;

/// How long a program may run, and how much of what it writes is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) time: Duration,
    /// Bytes of one stream, half of them from its end.
    pub(crate) kept_bytes: usize,
}

impl From<Duration> for Bounds {
    fn from(time: Duration) -> Self {
        Self { time, kept_bytes: KEPT }
    }
}

/// A program that ran.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Head and tail of what it wrote.
    pub(crate) out: String,
    /// Head and tail of what it wrote to its other stream.
    pub(crate) errors: String,
    /// Something between head and tail of a stream is not kept.
    pub(crate) is_cut: bool,
    /// `out` is all that it wrote, byte for byte.
    pub(crate) is_exact: bool,
    /// How it ended; none: it was told to end and its supervisor did not answer in time.
    pub(crate) exit: Option<Result<Exit, WaitError>>,
    /// The time that it was given, when it used that up and was ended.
    pub(crate) late: Option<Duration>,
}

impl Ended {
    /// As a shell counts: the exit code, or 128 and the signal.
    pub(crate) fn code(&self) -> Option<i32> {
        exit_code(self.exit.as_ref()?)
    }
}

/// As a shell counts: the exit code, or 128 and the signal.
pub(super) fn exit_code(exit: &Result<Exit, WaitError>) -> Option<i32> {
    let exit = exit.as_ref().ok()?;
    exit.code.or(exit.signal.map(|signal| 128 + signal))
}

/// Runs a program and shows what it writes while it runs.
///
/// # Errors
/// When it was not started.
///
/// # Cancel safety
/// When the future is dropped, the program and all that it started are killed.
pub(crate) async fn run_to_its_end(
    sandbox: &dyn Sandbox,
    command: &Command,
    bounds: impl Into<Bounds>,
    live: &LiveOutput,
) -> Result<Ended, SpawnError> {
    let Bounds { time, kept_bytes } = bounds.into();
    let mut child = sandbox.spawn(command).await?;
    let deadline = Instant::now() + time;
    let (mut out, mut errors) = (Capture::keeping(kept_bytes), Capture::keeping(kept_bytes));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut late = None;
    let exit = {
        let mut reading = pin!(maybe_done(async {
            tokio::join!(read(stdout, &mut out, live), read(stderr, &mut errors, live))
        }));
        let by_itself = async { tokio::join!(reading.as_mut(), child.wait()).1 };
        match timeout_at(deadline, by_itself).await {
            Ok(exit) => Some(exit),
            Err(_late) => {
                late = Some(time);
                child.terminate().await;
                let ending = async { tokio::join!(reading.as_mut(), child.wait()).1 };
                timeout(STOP_PATIENCE, ending).await.ok()
            }
        }
    };
    let (is_cut, is_exact) = (out.is_cut() || errors.is_cut(), out.is_exact());
    Ok(Ended { out: out.text(), errors: errors.text(), is_cut, is_exact, exit, late })
}

/// Reads a stream to its end, and shows what comes.
async fn read(stream: Option<impl AsyncRead + Unpin>, into: &mut Capture, live: &LiveOutput) {
    let Some(mut stream) = stream else { return };
    let mut piece = vec![0; PIECE];
    // An error ends a stream as its end does: the exit says what became of the program.
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        let text = into.push(piece.get(..length).unwrap_or_default());
        live.show(&text).await;
    }
    live.show(&into.end()).await;
}
