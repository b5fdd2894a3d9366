//! Whoever looks after the process: systemd, an earlier run of the daemon that handed over to this
//! one, or nobody.
//!
//! Its one job is to turn what they passed (variables and descriptors) into values, once, at the very
//! start. The variables are then removed, so that no program that the daemon starts takes itself for
//! the daemon. Where a variable is missing, what depends on it does nothing.

mod attend;
mod inherited;
mod notify;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::time::Duration;

pub(crate) use attend::{Attended, attend, outlast_start, status_line};
pub use inherited::{HandedOver, InheritError};
pub use notify::Notifier;

/// Variables of the protocols that are spoken here. Those that stay valid across an exec are kept
/// for it.
const VARIABLES: &[&str] = &[
    NOTIFY_SOCKET,
    WATCHDOG_USEC,
    WATCHDOG_PID,
    inherited::LISTEN_PID,
    inherited::LISTEN_FDS,
    inherited::LISTEN_FDNAMES,
    inherited::HANDOVER,
];
const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";
const WATCHDOG_USEC: &str = "WATCHDOG_USEC";
const WATCHDOG_PID: &str = "WATCHDOG_PID";

/// What was passed to this process. The default is nobody and nothing.
#[derive(Debug, Default)]
pub struct Supervisor {
    /// Where states are told.
    pub notifier: Notifier,
    /// How often a sign of life is wanted.
    pub watchdog: Option<Duration>,
    /// The socket that systemd listens on for the daemon.
    pub listener: Option<OwnedFd>,
    /// What an earlier run of this process left open.
    pub handed_over: Option<HandedOver>,
    /// Variables that a successor needs again.
    pub kept: Vec<(&'static str, OsString)>,
}

impl Supervisor {
    /// Takes what was passed to this process, and removes it from the environment. Call it once,
    /// before there are other threads.
    ///
    /// # Errors
    /// When something was passed that cannot be used: going on without it would leave clients at a
    /// socket that nobody serves.
    pub fn of_process() -> Result<Self, InheritError> {
        let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let text = |name: &str| value(name).and_then(|value| value.into_string().ok());
        let notifier = match value(NOTIFY_SOCKET) {
            Some(address) => Notifier::to(&address).map_err(InheritError::Notify)?,
            None => Notifier::default(),
        };
        let own_pid = std::process::id().to_string();
        let for_us = text(WATCHDOG_PID).is_none_or(|pid| pid == own_pid);
        let watchdog = text(WATCHDOG_USEC)
            .filter(|_| for_us)
            .and_then(|usec| usec.parse().ok())
            .filter(|usec| *usec > 0)
            .map(Duration::from_micros);
        let listener = inherited::listener(&text)?;
        let handed_over = inherited::handed_over(&text)?;
        let kept = [NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID]
            .into_iter()
            .filter_map(|name| Some((name, value(name)?)))
            .collect();
        inherited::remove_variables(VARIABLES);
        Ok(Self { notifier, watchdog, listener, handed_over, kept })
    }
}
