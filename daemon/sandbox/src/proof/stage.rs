//! What attempts are made on: a workspace, things beside it, and a process that is not theirs.

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

use crate::identity::{self, Identity};

/// What a secret holds. It is no key of anybody's.
pub(super) const SECRET: &str = "agentd-proof-secret";

/// What files hold before anybody tries to change them.
pub(super) const BEFORE: &str = "before\n";

/// Files of the workspace that others run later.
pub(super) const RUN_LATER: &[&str] =
    &[".git/config", ".git/hooks/pre-commit", ".github/workflows/ci.yml", ".bashrc", ".envrc"];

/// A workspace of its own and what lies around it; all ends with it.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) workspace: TempDir,
    pub(super) outside: TempDir,
    pub(super) tcp_port: u16,
    pub(super) udp: UdpSocket,
    pub(super) abstract_name: String,
    /// For `sleep`: no other process has it in its arguments.
    pub(super) seconds: String,
    victim: tokio::process::Child,
    _tcp: std::net::TcpListener,
    _sockets: [UnixListener; 2],
}

impl Stage {
    /// Puts all in its place.
    ///
    /// # Errors
    /// Of the system.
    pub(super) fn set() -> io::Result<Self> {
        let identity = identity::is_root().then_some(identity::NOBODY);
        let directory = || {
            let dir = tempfile::Builder::new().prefix("agentd-proof-").tempdir()?;
            give(dir.path(), identity)?;
            Ok::<_, io::Error>(dir)
        };
        let (workspace, outside) = (directory()?, directory()?);
        fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o755))?;
        write(&outside.path().join("secret"), SECRET, identity)?;
        write(&outside.path().join("file"), BEFORE, identity)?;
        write(&workspace.path().join("file"), BEFORE, identity)?;
        for name in RUN_LATER {
            write(&workspace.path().join(name), BEFORE, identity)?;
        }
        let name = outside.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let digits = name.bytes().fold(7_u64, |sum, it| sum.wrapping_mul(31) + u64::from(it));
        let socket = outside.path().join("socket");
        let by_path = UnixListener::bind(&socket)?;
        give(&socket, identity)?;
        let by_name = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        let tcp = std::net::TcpListener::bind("127.0.0.1:0")?;
        let udp = UdpSocket::bind("127.0.0.1:0")?;
        udp.set_nonblocking(true)?;
        let mut victim = tokio::process::Command::new("sleep");
        victim
            .arg("600")
            .env_clear()
            .env("PATH", crate::environment::PATH)
            .env("SECRET", SECRET)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        if let Some(Identity { uid, gid }) = identity {
            victim.uid(uid).gid(gid);
        }
        Ok(Self {
            tcp_port: tcp.local_addr()?.port(),
            udp,
            abstract_name: name,
            seconds: format!("7{}.{}", digits % 1_000_000, std::process::id()),
            victim: victim.spawn()?,
            workspace,
            outside,
            _tcp: tcp,
            _sockets: [by_path, by_name],
        })
    }

    /// A process that no program of a box has started.
    pub(super) fn victim(&self) -> u32 {
        self.victim.id().unwrap_or_default()
    }

    /// Something beside the workspace that is another than it was.
    pub(super) fn touched(&self) -> Option<PathBuf> {
        let same = |name: &str, content: &str| {
            fs::read_to_string(self.outside.path().join(name)).is_ok_and(|now| now == content)
        };
        let known = ["file", "secret", "socket"];
        let new = fs::read_dir(self.outside.path())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .find(|path| !known.iter().any(|name| path.ends_with(name)));
        let changed = [("file", BEFORE), ("secret", SECRET)]
            .into_iter()
            .find(|(name, content)| !same(name, content))
            .map(|(name, _)| self.outside.path().join(name));
        changed.or(new)
    }
}

fn write(path: &Path, content: &str, identity: Option<Identity>) -> io::Result<()> {
    if let Some(parent) = path.parent()
        && !parent.exists()
    {
        fs::create_dir_all(parent)?;
        // Also what leads to it is the program's own, as in a workspace.
        for dir in parent.ancestors().take(2) {
            give(dir, identity)?;
        }
    }
    fs::write(path, content)?;
    give(path, identity)
}

fn give(path: &Path, identity: Option<Identity>) -> io::Result<()> {
    identity.map_or(Ok(()), |Identity { uid, gid }| chown(path, Some(uid), Some(gid)))
}
