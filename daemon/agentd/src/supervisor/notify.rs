//! Telling systemd how the daemon is, by the protocol of sd_notify(3).
//!
//! It is spoken here rather than by a crate because the address is a value that was taken out of the
//! environment: crates read the variable anew for each message.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

/// Longest text of a status line; systemd shows one line.
const STATUS_BYTES: usize = 200;

/// Sends messages to systemd, or nowhere. Clones share the socket.
#[derive(Debug, Clone, Default)]
pub struct Notifier(Option<Arc<Target>>);

#[derive(Debug)]
struct Target {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl Notifier {
    /// A notifier for an address as `NOTIFY_SOCKET` holds it: a path, or `@` and an abstract name.
    ///
    /// # Errors
    /// When that is no address, or the system gives no socket.
    pub fn to(address: &OsStr) -> io::Result<Self> {
        let address = match address.as_bytes().split_first() {
            Some((b'@', name)) => SocketAddr::from_abstract_name(name)?,
            _ => SocketAddr::from_pathname(address)?,
        };
        let socket = UnixDatagram::unbound()?;
        // A supervisor that does not read must not hold up the daemon.
        socket.set_nonblocking(true)?;
        Ok(Self(Some(Arc::new(Target { socket, address }))))
    }

    /// True when somebody listens.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Clients can connect, and what an earlier run left unfinished has been looked at.
    pub fn ready(&self, status: &str) {
        self.send(&format!("READY=1\n{}", status_line(status)));
    }

    /// A line for `systemctl status`.
    pub fn status(&self, status: &str) {
        self.send(&status_line(status));
    }

    /// The configuration is being read again, or another binary takes over; [`Self::ready`] ends it.
    pub fn reloading(&self, status: &str) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let usec = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={usec}\n{}", status_line(status)));
    }

    /// The daemon stops, which may take as long as this.
    pub fn stopping(&self, at_most: Duration) {
        let usec = at_most.as_micros();
        let status = status_line("stopping");
        self.send(&format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={usec}\n{status}"));
    }

    /// What is going on takes up to this much longer.
    pub fn extend(&self, by: Duration) {
        self.send(&format!("EXTEND_TIMEOUT_USEC={}", by.as_micros()));
    }

    /// A sign of life.
    pub fn alive(&self) {
        self.send("WATCHDOG=1");
    }

    fn send(&self, message: &str) {
        let Some(target) = &self.0 else { return };
        if let Err(error) = target.socket.send_to_addr(message.as_bytes(), &target.address) {
            tracing::warn!(%error, message, "the supervisor could not be told");
        }
    }
}

/// A status is one line: a line break in it would begin another message.
fn status_line(status: &str) -> String {
    let line = agentd_domain::cut_line(status, STATUS_BYTES);
    format!("STATUS={}", line.replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 1024];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn messages_reach_a_path_and_an_abstract_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let by_path = UnixDatagram::bind(&path).unwrap();
        Notifier::to(path.as_os_str()).unwrap().ready("two\nlines");
        assert_eq!(heard(&by_path), "READY=1\nSTATUS=two lines");

        let name = format!("agentd-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let by_name = UnixDatagram::bind_addr(&address).unwrap();
        Notifier::to(format!("@{name}").as_ref()).unwrap().stopping(Duration::from_secs(2));
        assert_eq!(heard(&by_name), "STOPPING=1\nEXTEND_TIMEOUT_USEC=2000000\nSTATUS=stopping");
    }

    #[test]
    fn a_reload_tells_the_time_at_which_it_began() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        Notifier::to(path.as_os_str()).unwrap().reloading("reading");
        let message = heard(&socket);
        let mut lines = message.lines();
        assert_eq!(lines.next(), Some("RELOADING=1"));
        let usec = lines.next().and_then(|line| line.strip_prefix("MONOTONIC_USEC=")).unwrap();
        assert!(usec.parse::<u64>().unwrap() > 0, "{message}");
    }

    #[test]
    fn nobody_is_told_when_nobody_listens() {
        Notifier::default().ready("fine");
        let dir = tempfile::tempdir().unwrap();
        Notifier::to(dir.path().join("gone").as_os_str()).unwrap().alive();
    }
}
