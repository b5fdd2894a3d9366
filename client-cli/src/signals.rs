//! Signals that a command answers to while it waits.

use std::time::Duration;

use rustix::process::kill_current_process_group;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Time after which a signal to stop has had its effect, or was dropped.
const EFFECT: Duration = Duration::from_millis(200);

/// The signals. One that comes while nobody waits is kept: it counts at the next wait.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Ctrl-C while no prompt is there, or somebody else's.
    Interrupt,
    /// The polite end.
    Terminate,
    /// The terminal is gone.
    Hangup,
}

impl Signals {
    /// Listens from now on; from now on too, the signals no longer end the process by themselves.
    /// Has to come before the editor, which puts back the handlers that it finds.
    ///
    /// # Errors
    /// When the system has no room for another handler.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next signal.
    ///
    /// # Cancel safety
    /// Safe: a signal that was not returned stays.
    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.interrupt.recv() => Stop::Interrupt,
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.hangup.recv() => Stop::Hangup,
        }
    }

    /// Waits for a call, but not longer than the user does.
    ///
    /// # Errors
    /// The signal that came first; the call is dropped.
    pub(crate) async fn unless<T>(&mut self, call: impl Future<Output = T>) -> Result<T, Stop> {
        tokio::select! {
            done = call => Ok(done),
            stop = self.next() => Err(stop),
        }
    }
}

/// Stops the process as a shell's Ctrl-Z does, and returns when somebody lets it go on.
///
/// The signal takes effect when one of the threads takes it, which may be after the call. Where no shell
/// could let the process go on, the system drops it, and nothing happens.
///
/// # Errors
/// When the system refuses.
pub(crate) async fn stand_still() -> std::io::Result<()> {
    let mut goes_on = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
    kill_current_process_group(rustix::process::Signal::TSTP)?;
    tokio::select! {
        _ = goes_on.recv() => {}
        () = tokio::time::sleep(EFFECT) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[tokio::test]
    async fn a_signal_that_comes_between_two_waits_is_not_lost() {
        let mut signals = Signals::new().unwrap();
        assert_eq!(signals.unless(async { 7 }).await, Ok(7));
        kill_process(getpid(), Signal::INT).unwrap();
        assert_eq!(signals.next().await, Stop::Interrupt);
        kill_process(getpid(), Signal::TERM).unwrap();
        assert_eq!(signals.unless(std::future::pending::<()>()).await, Err(Stop::Terminate));
    }
}
