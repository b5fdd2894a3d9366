//! Signals that the loop answers to.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals. One that comes while nobody waits is kept.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    stop: Signal,
    resumed: Signal,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Somebody else's Ctrl-C; ours is a key.
    Interrupt,
    /// The polite end.
    Terminate,
    /// The terminal is gone.
    Hangup,
    /// To stand still, as Ctrl-Z asks.
    Suspend,
    /// To go on; somebody else may have had the terminal.
    Resumed,
}

impl Stop {
    /// The exit code of a process that ends for it.
    pub fn exit_code(self) -> u8 {
        let number = match self {
            Self::Hangup => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
            Self::Suspend => 20,
            Self::Resumed => 18,
        };
        128 + number
    }
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the system has no room for another handler.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            resumed: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next signal.
    ///
    /// # Cancel safety
    /// Safe: a signal that was not returned stays.
    pub async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.hangup.recv() => Stop::Hangup,
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.interrupt.recv() => Stop::Interrupt,
            _ = self.stop.recv() => Stop::Suspend,
            _ = self.resumed.recv() => Stop::Resumed,
        }
    }
}
