//! The socket: made private before anybody can connect, removed when the daemon stops.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::UnixListener;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// Why the socket could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Something that is not a socket is in its place.
    #[error("{} exists and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// The system refused.
    #[error("cannot listen on {}", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// A listening socket whose file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
}

/// Listens on `path`. The caller holds the instance lock, so a socket that is left there is dead.
pub(crate) fn open(path: &Path) -> Result<(UnixListener, SocketFile), ListenError> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => remove(path)?,
        Ok(_) => return Err(ListenError::NotASocket(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(ListenError::Io { path: path.to_owned(), source }),
    }
    let failed = |source: io::Error| ListenError::Io { path: path.to_owned(), source };
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    socket.bind(&SockAddr::unix(path).map_err(failed)?).map_err(failed)?;
    let file = SocketFile { path: path.to_owned() };
    // Whatever the umask says: nobody can connect before the listen that follows.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    socket.listen(BACKLOG).map_err(failed)?;
    let listener = UnixListener::from_std(socket.into()).map_err(failed)?;
    Ok((listener, file))
}

fn remove(path: &Path) -> Result<(), ListenError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ListenError::Io { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(%error, "the socket's file stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn gr_06_the_socket_is_private_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agentd.sock");
        {
            let (_listener, _file) = open(&path).unwrap();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        }
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn gr_06_a_leftover_socket_is_replaced_and_a_regular_file_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agentd.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(open(&path).unwrap());
        std::fs::write(&path, "precious").unwrap();
        assert!(matches!(open(&path), Err(ListenError::NotASocket(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }
}
