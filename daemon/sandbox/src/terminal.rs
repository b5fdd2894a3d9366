//! A terminal for a program: the program has one end, the daemon the other.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{Gid, OFlags, Uid};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;

use crate::identity::Identity;

/// How many characters a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
}

/// The daemon's end of a terminal. When it is dropped, the program is told that its user hung up.
#[derive(Debug)]
pub struct Terminal {
    end: AsyncFd<OwnedFd>,
}

impl Terminal {
    /// Makes a terminal, and gives its other end to whoever runs in it.
    ///
    /// # Errors
    /// Of the system, which has a bounded number of them.
    pub(crate) fn open(
        size: TerminalSize,
        identity: Option<Identity>,
    ) -> io::Result<(Self, OwnedFd)> {
        // It must not become the terminal of the daemon itself.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let end = openpt(flags)?;
        grantpt(&end)?;
        unlockpt(&end)?;
        let other = ioctl_tiocgptpeer(&end, flags)?;
        let TerminalSize { rows, columns } = size;
        tcsetwinsize(&end, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
        if let Some(Identity { uid, gid }) = identity {
            rustix::fs::fchown(&other, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        }
        rustix::fs::fcntl_setfl(&end, OFlags::RDWR | OFlags::NONBLOCK)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for what may close while it is registered; this owns it"
        )]
        let end = AsyncFd::new(end)?;
        Ok((Self { end }, other))
    }

    /// Waits for something that the program shows; none: nobody has the other end any more.
    ///
    /// # Errors
    /// Of the system.
    ///
    /// # Cancel safety
    /// What was not read yet is read by the next call.
    pub async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.end.readable().await?;
            match ready.try_io(|end| Ok(rustix::io::read(end.as_fd(), &mut *into)?)) {
                // So Linux says that the other end is closed.
                Ok(Err(error))
                    if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) =>
                {
                    return Ok(0);
                }
                Ok(read) => return read,
                Err(_not_ready) => {}
            }
        }
    }

    /// Types bytes.
    ///
    /// # Errors
    /// Of the system.
    ///
    /// # Cancel safety
    /// When the future is dropped, a part may have been typed.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.end.writable().await?;
            match ready.try_io(|end| Ok(rustix::io::write(end.as_fd(), bytes)?)) {
                Ok(written) => bytes = bytes.get(written?..).unwrap_or_default(),
                Err(_not_ready) => {}
            }
        }
        Ok(())
    }
}
