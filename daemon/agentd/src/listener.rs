//! The socket: made private before anybody can connect, removed when the daemon stops.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentd_shared::ensure_private_dir;
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::{UnixListener, UnixStream};

/// Pause between two looks at the socket's file.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
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

/// The file of a listening socket, which is removed when this is dropped, unless it is another's by
/// then.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// True when the path still leads to this socket.
    fn is_there(&self) -> bool {
        std::fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }
}

/// Where clients come in. A socket whose file disappears, as a logout may remove the whole runtime
/// directory, is made anew: a daemon that runs must be reachable.
#[derive(Debug)]
pub(crate) struct Door {
    listener: UnixListener,
    file: Arc<SocketFile>,
}

impl Door {
    /// Opens it; see [`open`].
    pub(crate) fn open(path: &Path) -> Result<Self, ListenError> {
        let (listener, file) = open(path)?;
        Ok(Self { listener, file: Arc::new(file) })
    }

    /// The socket's file, which is removed with its last holder.
    pub(crate) fn file(&self) -> Arc<SocketFile> {
        Arc::clone(&self.file)
    }

    /// The next connection. After an error it pauses: without that a lack of descriptors would spin.
    pub(crate) async fn accept(&mut self) -> io::Result<UnixStream> {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    if let Err(error) = &accepted {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                    return accepted.map(|(stream, _address)| stream);
                }
                () = tokio::time::sleep(CHECK_INTERVAL) => self.look_after_file(),
            }
        }
    }

    fn look_after_file(&mut self) {
        let path = &self.file.path;
        // What somebody else has put there meanwhile is not ours to remove.
        if self.file.is_there() || path.symlink_metadata().is_ok() {
            return;
        }
        let reopened = path
            .parent()
            .map_or(Ok(()), |dir| ensure_private_dir(dir).map_err(|error| error.to_string()))
            .and_then(|()| Self::open(path).map_err(|error| error.to_string()));
        match reopened {
            Ok(door) => {
                tracing::warn!(socket = %path.display(), "the socket's file was gone; made anew");
                *self = door;
            }
            Err(error) => {
                tracing::error!(error, "the socket's file is gone and cannot be made anew");
            }
        }
    }
}

/// Listens on `path`. The caller holds the instance lock, so a socket that is left there is dead.
fn open(path: &Path) -> Result<(UnixListener, SocketFile), ListenError> {
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
    let metadata = std::fs::symlink_metadata(path).map_err(failed)?;
    let file = SocketFile { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() };
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
        if self.is_there()
            && let Err(error) = remove(&self.path)
        {
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

    #[tokio::test(start_paused = true)]
    async fn a_socket_whose_file_was_removed_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run").join("agentd.sock");
        ensure_private_dir(path.parent().unwrap()).unwrap();
        let mut door = Door::open(&path).unwrap();
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        // The clock is paused: the look comes as soon as nothing else can be done.
        let looked = tokio::time::timeout(CHECK_INTERVAL * 2, door.accept()).await;
        assert!(looked.is_err(), "nobody has come in");
        let client = UnixStream::connect(&path).await.unwrap();
        door.accept().await.unwrap();
        drop((client, door));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_file_that_is_anothers_by_now_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agentd.sock");
        let door = Door::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let other = Door::open(&path).unwrap();
        drop(door);
        assert!(path.exists());
        drop(other);
        assert!(!path.exists());
    }
}
