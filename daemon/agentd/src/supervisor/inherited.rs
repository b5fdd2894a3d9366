//! Descriptors that were open before this program began: a listening socket of systemd
//! (sd_listen_fds(3)), or socket and locks of the run that handed over to this one.
//!
//! A handover has a variable of its own, because its descriptors keep the numbers that they have,
//! and the locks are no sockets.

#![expect(unsafe_code, reason = "numbers become descriptors, and variables go, exactly here")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use agentd_store::InstanceLock;
use rustix::io::{FdFlags, fcntl_setfd};

pub(super) const LISTEN_PID: &str = "LISTEN_PID";
pub(super) const LISTEN_FDS: &str = "LISTEN_FDS";
pub(super) const LISTEN_FDNAMES: &str = "LISTEN_FDNAMES";
/// `pid=N,listener=N,lock=N`, and `socket_lock=N` when the socket's file is the daemon's own.
pub(super) const HANDOVER: &str = "AGENTD_HANDOVER";

/// The first descriptor that systemd passes.
const FIRST_FD: RawFd = 3;
/// Names that mark the daemon's socket among several: the unit's own name, or `FileDescriptorName=`.
const OUR_NAMES: &[&str] = &["agentd", "agentd.socket"];

/// Why what was passed cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InheritError {
    /// The address in `NOTIFY_SOCKET` is none.
    #[error("NOTIFY_SOCKET cannot be used")]
    Notify(#[source] io::Error),
    /// Several sockets, and none has our name.
    #[error("{count} sockets were passed, and none of them is named agentd")]
    WhichSocket {
        /// How many.
        count: usize,
    },
    /// A number that is no open descriptor.
    #[error("{variable} names descriptor {fd}, which is not open")]
    NotOpen {
        /// The variable.
        variable: &'static str,
        /// The number.
        fd: RawFd,
    },
    /// The variable of a handover is not as this program writes it.
    #[error("AGENTD_HANDOVER is '{value}', which this version does not understand")]
    Handover {
        /// Its value.
        value: String,
    },
}

impl InheritError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Notify(_) => "start it through systemd, or unset NOTIFY_SOCKET",
            Self::WhichSocket { .. } => {
                "let one socket unit have FileDescriptorName=agentd, with a single ListenStream="
            }
            Self::NotOpen { .. } | Self::Handover { .. } => {
                "unset the variable; only systemd and agentd itself set it"
            }
        }
    }
}

/// What a run of the daemon leaves open for the program that takes its place.
#[derive(Debug)]
pub struct HandedOver {
    /// The listening socket.
    pub listener: OwnedFd,
    /// The locked file of the data directory.
    pub lock: File,
    /// The locked file beside the socket; none when systemd owns the socket.
    pub socket_lock: Option<File>,
}

impl HandedOver {
    /// Lets the descriptors stay open across an exec, and says what the variable must hold then.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn keep_open(&self) -> io::Result<(&'static str, String)> {
        let mut value = vec![format!("pid={}", std::process::id())];
        let locks = [("lock", Some(&self.lock)), ("socket_lock", self.socket_lock.as_ref())];
        let locks = locks.into_iter().filter_map(|(name, file)| Some((name, file?.as_fd())));
        for (name, fd) in [("listener", self.listener.as_fd())].into_iter().chain(locks) {
            fcntl_setfd(fd, FdFlags::empty())?;
            value.push(format!("{name}={}", fd.as_raw_fd()));
        }
        Ok((HANDOVER, value.join(",")))
    }

    /// Packs up locks and socket.
    pub(crate) fn new(
        listener: OwnedFd,
        lock: InstanceLock,
        socket_lock: Option<InstanceLock>,
    ) -> Self {
        Self {
            listener,
            lock: lock.into_file(),
            socket_lock: socket_lock.map(InstanceLock::into_file),
        }
    }
}

/// The socket that systemd listens on.
pub(super) fn listener(
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<OwnedFd>, InheritError> {
    let own_pid = std::process::id().to_string();
    if variable(LISTEN_PID).is_none_or(|pid| pid != own_pid) {
        return Ok(None);
    }
    let count: RawFd = variable(LISTEN_FDS).and_then(|count| count.parse().ok()).unwrap_or(0);
    let names = variable(LISTEN_FDNAMES).unwrap_or_default();
    let mut passed: Vec<(OwnedFd, &str)> = Vec::new();
    let mut names = names.split(':');
    for fd in (0..count.clamp(0, 1_024)).map(|nth| FIRST_FD + nth) {
        passed.push((take(LISTEN_FDS, fd)?, names.next().unwrap_or_default()));
    }
    let count = passed.len();
    let ours = passed.iter().position(|(_fd, name)| OUR_NAMES.contains(name));
    match (ours, count) {
        (_, 0) => Ok(None),
        (Some(at), _) => Ok(Some(passed.swap_remove(at).0)),
        (None, 1) => Ok(Some(passed.swap_remove(0).0)),
        (None, count) => Err(InheritError::WhichSocket { count }),
    }
}

/// What the run before this one left open.
pub(super) fn handed_over(
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<HandedOver>, InheritError> {
    let Some(value) = variable(HANDOVER) else { return Ok(None) };
    let mut numbers = BTreeMap::new();
    for part in value.split(',') {
        let number = part.split_once('=').and_then(|(name, n)| Some((name, n.parse().ok()?)));
        let (name, number): (&str, RawFd) =
            number.ok_or_else(|| InheritError::Handover { value: value.clone() })?;
        numbers.insert(name, number);
    }
    // A program that merely was started by a daemon has nothing of it.
    if numbers.remove("pid").and_then(|pid| u32::try_from(pid).ok()) != Some(std::process::id()) {
        return Ok(None);
    }
    let mut fd = |name| numbers.remove(name).map(|fd| take(HANDOVER, fd)).transpose();
    let (listener, lock, socket_lock) = (fd("listener")?, fd("lock")?, fd("socket_lock")?);
    match (listener, lock) {
        (Some(listener), Some(lock)) => Ok(Some(HandedOver {
            listener,
            lock: lock.into(),
            socket_lock: socket_lock.map(File::from),
        })),
        _ => Err(InheritError::Handover { value }),
    }
}

/// Owns an inherited descriptor, which programs that are started later do not inherit.
fn take(variable: &'static str, fd: RawFd) -> Result<OwnedFd, InheritError> {
    // Standard input, output and error have owners already.
    if fd < FIRST_FD || !std::path::Path::new(&format!("/proc/self/fd/{fd}")).exists() {
        return Err(InheritError::NotOpen { variable, fd });
    }
    // SAFETY: it is open, and it was opened before this program began: nothing here owns it. Each
    // number is taken once, because the variables are read once and removed.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    if fcntl_setfd(&fd, FdFlags::CLOEXEC).is_err() {
        return Err(InheritError::NotOpen { variable, fd: fd.as_raw_fd() });
    }
    Ok(fd)
}

/// Removes variables, so that no program that is started later takes them for its own.
pub(super) fn remove_variables(names: &[&str]) {
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if threads != 1 {
        // The pids in them keep others from using them all the same.
        tracing::warn!(threads, "variables of the supervisor stay in the environment");
        return;
    }
    for name in names {
        // SAFETY: there is no other thread that could read the environment meanwhile.
        unsafe { std::env::remove_var(name) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables<'a>(pairs: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<'a> {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn nothing_is_taken_that_was_meant_for_another_process() {
        let other = [(LISTEN_PID, "1"), (LISTEN_FDS, "1")];
        assert!(listener(&variables(&other)).unwrap().is_none());
        assert!(listener(&variables(&[])).unwrap().is_none());
        let other = [(HANDOVER, "pid=1,listener=0,lock=0")];
        assert!(handed_over(&variables(&other)).unwrap().is_none());
    }

    #[test]
    fn a_handover_that_is_not_understood_is_an_error_and_takes_nothing() {
        let pid = std::process::id();
        for value in ["nonsense", &format!("pid={pid}"), &format!("pid={pid},listener=x")] {
            let error = handed_over(&variables(&[(HANDOVER, value)])).unwrap_err();
            assert!(matches!(error, InheritError::Handover { .. }), "{value}: {error}");
        }
        // Standard output is not for the taking, nor is what is not open.
        for fd in ["1", "987654"] {
            let value = format!("pid={pid},listener={fd},lock={fd}");
            let error = handed_over(&variables(&[(HANDOVER, &value)])).unwrap_err();
            assert!(matches!(error, InheritError::NotOpen { .. }), "{value}: {error}");
        }
    }

    #[test]
    fn a_count_of_no_sockets_is_no_socket() {
        let own = std::process::id().to_string();
        let none = listener(&variables(&[(LISTEN_PID, &own), (LISTEN_FDS, "0")])).unwrap();
        assert!(none.is_none(), "none was passed");
    }
}
