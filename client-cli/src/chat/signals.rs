//! Signals that a chat answers to.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that end or interrupt a chat.
#[derive(Debug)]
pub(super) struct Signals {
    /// Ctrl-C while no prompt is there, or somebody else's.
    pub(super) interrupt: Signal,
    /// The polite end.
    pub(super) terminate: Signal,
    /// The terminal is gone.
    pub(super) hangup: Signal,
}

impl Signals {
    /// Listens. Has to come before the editor, which puts back the handlers that it finds.
    ///
    /// # Errors
    /// When the system has no room for another handler.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
}
