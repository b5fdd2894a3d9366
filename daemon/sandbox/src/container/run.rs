//! A container that runs a program.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bollard::Docker;
use bollard::container::{AttachContainerResults, LogOutput};
use bollard::query_parameters::{KillContainerOptions, WaitContainerOptions};
use futures_util::StreamExt as _;
use tokio::io::{AsyncWrite, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{LONGEST_RUN, remove, told};
use crate::child::Ended;
use crate::{LimitsMet, Output, WaitError};

/// Output that waits for whoever reads it.
const WAITING: usize = 64 * 1024;

/// After which time a container that was asked to end is killed from outside; its supervisor needs
/// half a second.
const UNTIL_KILLED: Duration = Duration::from_millis(1_500);

/// A shell's way to tell of a signal.
const SIGNALS: std::ops::RangeInclusive<i64> = 129..=192;

/// A container. When it is dropped, it is killed and removed.
pub(crate) struct ContainerRun {
    engine: Docker,
    id: String,
    /// Its end kills all that is inside.
    input: Option<Pin<Box<dyn AsyncWrite + Send>>>,
    /// Carry output.
    carriers: JoinSet<()>,
}

impl fmt::Debug for ContainerRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContainerRun").field("id", &self.id).finish_non_exhaustive()
    }
}

impl ContainerRun {
    pub(super) fn of(engine: &Docker, id: String) -> Self {
        Self { engine: engine.clone(), id, input: None, carriers: JoinSet::new() }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Takes the connection, and gives what the program writes.
    pub(super) fn connect(&mut self, attached: AttachContainerResults) -> (Output, Output) {
        let AttachContainerResults { output, input } = attached;
        self.input = Some(input);
        let (to_out, out) = duplex(WAITING);
        let (to_errors, errors) = duplex(WAITING);
        self.carriers.spawn(carry(output, to_out, to_errors));
        (Output::new(out), Output::new(errors))
    }

    /// # Cancel safety
    /// It can be dropped and called again.
    pub(crate) async fn wait(&mut self) -> Result<Ended, WaitError> {
        let patient = self.engine.clone().with_timeout(LONGEST_RUN);
        let options = WaitContainerOptions { condition: "not-running".to_owned() };
        let mut ended = Box::pin(patient.wait_container(&self.id, Some(options)));
        // What it answers is asked again below, where more is told; a code that is not zero is an
        // error to the library.
        let _code = ended.next().await;
        let asked = self.engine.inspect_container(&self.id, None).await;
        let state = asked.map_err(|error| WaitError::Engine(told(&error)))?.state;
        let state = state.ok_or_else(|| WaitError::Engine("it tells no state".to_owned()))?;
        if state.running == Some(true) {
            return Err(WaitError::Engine("the container goes on".to_owned()));
        }
        let code = state.exit_code.ok_or(WaitError::NotStarted)?;
        let is_signal = SIGNALS.contains(&code);
        let small = |number: i64| i32::try_from(number).unwrap_or(i32::MAX);
        Ok(Ended {
            code: (!is_signal).then(|| small(code)),
            signal: is_signal.then(|| small(code - 128)),
            left_running: 0,
            limits_met: LimitsMet {
                memory: state.oom_killed == Some(true),
                ..LimitsMet::default()
            },
        })
    }

    pub(crate) async fn terminate(&mut self) {
        if let Some(input) = &mut self.input {
            // When it is gone, so is the program.
            let _gone = input.write_all(b"T\n").await;
            let _gone = input.flush().await;
        }
        let (engine, id) = (self.engine.clone(), self.id.clone());
        self.carriers.spawn(async move {
            sleep(UNTIL_KILLED).await;
            // It has usually ended by then.
            let _gone = engine.kill_container(&id, None::<KillContainerOptions>).await;
        });
    }
}

/// Brings what a program writes to whoever reads it. What nobody reads is let go.
async fn carry(
    mut output: Pin<
        Box<dyn futures_util::Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>,
    >,
    mut out: DuplexStream,
    mut errors: DuplexStream,
) {
    // An error ends the streams as the end of the program does; its exit says what became of it.
    while let Some(Ok(piece)) = output.next().await {
        let _unread = match piece {
            LogOutput::StdOut { message } | LogOutput::Console { message } => {
                out.write_all(&message).await
            }
            LogOutput::StdErr { message } => errors.write_all(&message).await,
            LogOutput::StdIn { .. } => Ok(()),
        };
    }
}

impl Drop for ContainerRun {
    fn drop(&mut self) {
        let (engine, id) = (self.engine.clone(), std::mem::take(&mut self.id));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move { remove(&engine, &id).await })),
            // The end of its input kills what is inside; the next start removes the rest.
            Err(_no_runtime) => {}
        }
    }
}
