//! The socket: made private before anybody can connect, removed when the daemon stops; or one that
//! systemd made, or that the run before this one handed over.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_shared::ensure_private_dir;
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::{UnixListener, UnixStream};

use crate::config::SocketAccess;

/// Pause between two looks at the socket's file.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// The bits of a mode that let everybody else connect.
const OTHERS: u32 = 0o007;
/// The bit of a directory's mode that lets everybody put files there, and the one that keeps them
/// from replacing those of others.
const ANYBODY_WRITES: u32 = 0o002;
const STICKY: u32 = 0o1000;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// Why the socket could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Something that is not a socket is in its place.
    #[error("{} exists and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// A socket that was passed to the process is none that clients could use.
    #[error("the socket that was passed to agentd cannot be used: {problem}")]
    NotOurs {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The system refused to tell about a socket that was passed to the process, or to use it.
    #[error("the socket that was passed to agentd cannot be used")]
    Inherited {
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The mode of a socket whose mode is trusted, or of its directory, lets everybody in.
    #[error("{} or its directory has mode {mode:o}: everybody could connect or replace it", .path.display())]
    OpenToAll {
        /// The path.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
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
    stays: bool,
}

impl SocketFile {
    fn of(path: &Path, metadata: &std::fs::Metadata) -> Self {
        Self { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino(), stays: false }
    }

    /// Leaves it where it is.
    fn keep(mut self) {
        self.stays = true;
    }

    /// True when the path still leads to this socket.
    fn is_there(&self) -> bool {
        std::fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }
}

/// Where clients come in. A socket of our own whose file disappears, as a logout may remove the whole
/// runtime directory, is made anew: a daemon that runs must be reachable. One that systemd made is
/// systemd's to look after.
#[derive(Debug)]
pub(crate) struct Door {
    listener: UnixListener,
    path: PathBuf,
    place: Arc<Place>,
}

/// The socket as the process has it; it outlives the door, which ends with the server.
#[derive(Debug)]
pub(crate) struct Place(Mutex<Held>);

#[derive(Debug)]
struct Held {
    /// Keeps the socket open for a successor while the door is closed.
    spare: Option<OwnedFd>,
    /// Ours to remove; none when systemd made it.
    file: Option<SocketFile>,
}

impl Place {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when the socket's file is the daemon's own.
    pub(crate) fn is_own(&self) -> bool {
        self.held().file.is_some()
    }

    /// Nobody will take over: whoever connects from now on is refused as soon as the door closes.
    pub(crate) fn close(&self) {
        self.held().spare = None;
    }

    /// The open socket for a successor. Its file stays.
    pub(crate) fn hand_over(&self) -> Option<OwnedFd> {
        let mut held = self.held();
        if let Some(file) = held.file.take() {
            file.keep();
        }
        held.spare.take()
    }

    /// Removes the file, if it is ours and still there.
    pub(crate) fn remove_file(&self) {
        self.held().file = None;
    }

    fn is_there(&self) -> bool {
        self.held().file.as_ref().is_none_or(SocketFile::is_there)
    }
}

impl Door {
    /// Opens a socket of our own; see [`open`].
    pub(crate) fn open(path: &Path) -> Result<Self, ListenError> {
        let (listener, file) = open(path)?;
        Self::new(listener, path.to_owned(), Some(file))
    }

    /// Takes over a socket that systemd listens on: its file is left as it is, now and at the end.
    pub(crate) fn of_systemd(socket: OwnedFd, access: SocketAccess) -> Result<Self, ListenError> {
        let (listener, path) = adopt(socket)?;
        let file = |source| ListenError::Io { path: path.clone(), source };
        let metadata = std::fs::symlink_metadata(&path).map_err(file)?;
        if metadata.mode() & OTHERS != 0 {
            if access == SocketAccess::Group {
                return Err(ListenError::OpenToAll { path, mode: metadata.mode() & 0o777 });
            }
            tracing::warn!(socket = %path.display(), "everybody can connect; only our own user is served");
        }
        // Whoever can write there can put a socket of his own in its place.
        let parent = path.parent().and_then(|dir| std::fs::metadata(dir).ok());
        if let Some(dir) = parent
            && dir.mode() & ANYBODY_WRITES != 0
            && dir.mode() & STICKY == 0
        {
            return Err(ListenError::OpenToAll { path, mode: dir.mode() & 0o777 });
        }
        Self::new(listener, path, None)
    }

    /// Takes over the socket of the run before this one, and its file.
    pub(crate) fn handed_over(socket: OwnedFd) -> Result<Self, ListenError> {
        let (listener, path) = adopt(socket)?;
        let metadata = std::fs::symlink_metadata(&path)
            .map_err(|source| ListenError::Io { path: path.clone(), source })?;
        let file = SocketFile::of(&path, &metadata);
        Self::new(listener, path, Some(file))
    }

    fn new(
        listener: UnixListener,
        path: PathBuf,
        file: Option<SocketFile>,
    ) -> Result<Self, ListenError> {
        let spare = rustix::io::fcntl_dupfd_cloexec(&listener, 0)
            .map_err(|errno| ListenError::Io { path: path.clone(), source: errno.into() })?;
        let place = Arc::new(Place(Mutex::new(Held { spare: Some(spare), file })));
        Ok(Self { listener, path, place })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The socket, which stays open until the process or a successor closes it.
    pub(crate) fn place(&self) -> Arc<Place> {
        Arc::clone(&self.place)
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
        let path = &self.path;
        // What somebody else has put there meanwhile is not ours to remove.
        if self.place.is_there() || path.symlink_metadata().is_ok() {
            return;
        }
        let reopened = path
            .parent()
            .map_or(Ok(()), |dir| ensure_private_dir(dir).map_err(|error| error.to_string()))
            .and_then(|()| Self::open(path).map_err(|error| error.to_string()));
        match reopened {
            Ok(door) => {
                tracing::warn!(socket = %path.display(), "the socket's file was gone; made anew");
                let mut new = door.place.held();
                let (spare, file) = (new.spare.take(), new.file.take());
                drop(new);
                *self.place.held() = Held { spare, file };
                self.listener = door.listener;
            }
            Err(error) => {
                tracing::error!(error, "the socket's file is gone and cannot be made anew");
            }
        }
    }
}

/// Checks that a descriptor is a listening Unix socket with a path, and says which.
fn adopt(socket: OwnedFd) -> Result<(UnixListener, PathBuf), ListenError> {
    let socket = Socket::from(socket);
    let unfit = |problem| ListenError::NotOurs { problem };
    let io = |source| ListenError::Inherited { source };
    if socket.domain().map_err(io)? != Domain::UNIX || socket.r#type().map_err(io)? != Type::STREAM
    {
        return Err(unfit("it is no Unix stream socket"));
    }
    if !socket.is_listener().map_err(io)? {
        return Err(unfit("it does not listen"));
    }
    let address = socket.local_addr().map_err(io)?;
    let path = address.as_pathname().ok_or_else(|| unfit("it has no path"))?.to_owned();
    socket.set_nonblocking(true).map_err(io)?;
    Ok((UnixListener::from_std(socket.into()).map_err(io)?, path))
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
    let file = SocketFile::of(path, &metadata);
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

impl ListenError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotASocket(_) => "move the file out of the way",
            Self::Io { .. } => "check the runtime directory's owner and mode",
            Self::NotOurs { .. } | Self::Inherited { .. } => {
                "let the socket unit have one ListenStream= with the path of a Unix socket"
            }
            Self::OpenToAll { .. } => {
                "set SocketMode=0660 and DirectoryMode=0755 in the socket unit; or serve the daemon's own \
                 user alone: daemon.socket_access = \"user\", and where the service unit sets it, which \
                 outweighs the file, Environment=AGENTD_DAEMON_SOCKET_ACCESS=user there"
            }
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if !self.stays
            && self.is_there()
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

    /// As systemd passes it.
    fn listening(path: &Path, mode: u32) -> OwnedFd {
        let listener = std::os::unix::net::UnixListener::bind(path).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        listener.into()
    }

    #[tokio::test]
    async fn a_socket_of_systemd_is_used_and_its_file_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agentd.sock");
        let passed = listening(&path, 0o660);
        // It waits in the backlog, as whoever triggered the start does.
        let early = UnixStream::connect(&path).await.unwrap();
        let mut door = Door::of_systemd(passed, SocketAccess::Group).unwrap();
        assert_eq!(door.path(), path);
        assert!(!door.place().is_own());
        door.accept().await.unwrap();
        drop((early, door));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
    }

    #[tokio::test]
    async fn a_socket_that_everybody_may_use_is_refused_where_its_mode_is_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agentd.sock");
        let refused = Door::of_systemd(listening(&path, 0o666), SocketAccess::Group);
        assert!(matches!(refused, Err(ListenError::OpenToAll { mode: 0o666, .. })));
        std::fs::remove_file(&path).unwrap();
        Door::of_systemd(listening(&path, 0o666), SocketAccess::User).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let refused = Door::of_systemd(listening(&path, 0o600), SocketAccess::User);
        assert!(matches!(refused, Err(ListenError::OpenToAll { mode: 0o777, .. })));
    }

    #[tokio::test]
    async fn what_is_no_listening_unix_socket_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (one_end, _other_end) = std::os::unix::net::UnixStream::pair().unwrap();
        let datagrams = std::os::unix::net::UnixDatagram::bind(dir.path().join("d")).unwrap();
        let unfit: [OwnedFd; 3] = [tcp.into(), one_end.into(), datagrams.into()];
        for fd in unfit {
            let refused = Door::of_systemd(fd, SocketAccess::User);
            assert!(matches!(refused, Err(ListenError::NotOurs { .. })), "{refused:?}");
        }
        let file = std::fs::File::create(dir.path().join("f")).unwrap();
        let refused = Door::of_systemd(file.into(), SocketAccess::User);
        assert!(matches!(refused, Err(ListenError::Inherited { .. })), "{refused:?}");
    }

    #[tokio::test]
    async fn a_socket_that_is_handed_over_refuses_nobody_in_between() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agentd.sock");
        let door = Door::open(&path).unwrap();
        let place = door.place();
        drop(door);
        let in_between = UnixStream::connect(&path).await.unwrap();
        let passed = place.hand_over().unwrap();
        drop(place);
        let mut door = Door::handed_over(passed).unwrap();
        door.accept().await.unwrap();
        assert!(door.place().is_own());
        drop((in_between, door));
        assert!(!path.exists(), "it is removed by whoever had it last");
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
