//! A program that runs, whatever runs it.

use std::path::PathBuf;

use crate::container::ContainerRun;
use crate::egress::Egress;
use crate::place::Place;
use crate::process_run::ProcessRun;
use crate::protected::Look;
use crate::{LimitsMet, Output};

/// A program behind a backend. When it is dropped, the program and all that it started are killed;
/// the same happens when the daemon dies.
#[derive(Debug)]
pub struct Child {
    /// What it writes.
    pub stdout: Option<Output>,
    /// What it writes to its other stream.
    pub stderr: Option<Output>,
    pub(crate) run: Run,
    /// Its way to the hosts that it may reach, where there are some.
    pub(crate) egress: Option<Egress>,
    pub(crate) place: Place,
    pub(crate) look: Look,
}

/// What runs it.
#[derive(Debug)]
pub(crate) enum Run {
    Process(ProcessRun),
    Container(ContainerRun),
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Processes that it had started and that still ran a moment after its end; they were ended. Those
    /// of a container are ended too, and not counted.
    pub left_running: usize,
    /// Files, relative to the workspace where they are in it, that others run later and that came to be or changed while
    /// it ran.
    pub run_later: Vec<PathBuf>,
    /// Limits of all processes together that it met, where a control group counts.
    pub limits_met: LimitsMet,
    /// Hosts that it wanted to reach and might not, where it might reach some.
    pub refused_hosts: Vec<String>,
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
    /// The engine does not tell what became of the container.
    #[error("the container engine does not answer: {0}")]
    Engine(String),
}

/// What a run tells at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) left_running: usize,
    pub(crate) limits_met: LimitsMet,
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
        let ended = match &mut self.run {
            Run::Process(run) => run.wait().await?,
            Run::Container(run) => run.wait().await?,
        };
        let run_later = Look::taken(&self.place).await.changed_since(&self.look);
        let Ended { code, signal, left_running, limits_met } = ended;
        let refused_hosts = self.egress.as_ref().map(Egress::refused).unwrap_or_default();
        Ok(Exit { code, signal, left_running, run_later, limits_met, refused_hosts })
    }

    /// Asks the program and all that it started to end: TERM, and KILL for what is still there half
    /// a second later. [`Child::wait`] then ends soon.
    pub async fn terminate(&mut self) {
        match &mut self.run {
            Run::Process(run) => run.terminate().await,
            Run::Container(run) => run.terminate().await,
        }
    }
}
