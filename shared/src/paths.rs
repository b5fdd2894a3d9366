//! Where `agentd` and its clients keep their files, and the directory checks that protect them.

mod private_dir;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::ErrorKind;

pub use private_dir::{ensure_config_dir, ensure_private_dir};

/// Longest socket path in bytes: `sockaddr_un` holds 108 with the closing NUL.
pub const MAX_SOCKET_PATH_BYTES: usize = 107;

/// The four directories of an installation. Everything else is derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Holds `config.toml`.
    pub config_dir: PathBuf,
    /// Holds the store, its lock, backups and tokens.
    pub data_dir: PathBuf,
    /// Holds the log, histories and staged imports.
    pub state_dir: PathBuf,
    /// Holds the socket and the start lock.
    pub runtime_dir: PathBuf,
}

impl Paths {
    /// Reads `AGENTD_HOME`, then the XDG variables, of this process.
    ///
    /// # Errors
    /// [`PathsError::NoHome`] when no home directory is known, [`PathsError::Home`] when
    /// `AGENTD_HOME` cannot be made absolute.
    pub fn from_env() -> Result<Self, PathsError> {
        Self::resolve(|name| std::env::var_os(name))
    }

    /// The same for a process that systemd may have started itself: then the directories that its
    /// unit has made count (`ConfigurationDirectory=`, `StateDirectory=`, `RuntimeDirectory=`). They
    /// do not for programs further down, which inherit the variables of a unit that is not theirs.
    ///
    /// # Errors
    /// As [`Self::from_env`].
    pub fn of_service() -> Result<Self, PathsError> {
        Self::resolve_service(std::process::id(), |name| std::env::var_os(name))
    }

    /// The same as the process `pid` would find them, for one that looks on its behalf.
    ///
    /// # Errors
    /// As [`Self::from_env`].
    pub fn of_service_process(pid: u32) -> Result<Self, PathsError> {
        Self::resolve_service(pid, |name| std::env::var_os(name))
    }

    fn resolve_service(
        own_pid: u32,
        env: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, PathsError> {
        let is_main = env("SYSTEMD_EXEC_PID").is_some_and(|pid| *pid == *own_pid.to_string());
        let home = env("AGENTD_HOME").is_some_and(|home| !home.is_empty());
        // Of several directories in a variable the first is the unit's main one.
        let dir = |name: &str| -> Option<PathBuf> {
            let all = env(name).filter(|_| is_main && !home)?;
            std::env::split_paths(&all).next().filter(|dir| dir.is_absolute())
        };
        let mut paths = match (dir("STATE_DIRECTORY"), dir("CONFIGURATION_DIRECTORY")) {
            // A system service may have no home directory at all.
            (Some(state), Some(config)) => Self::under(&state).with_config_dir(config),
            (state, config) => {
                let mut paths = Self::resolve(&env)?;
                if let Some(state) = state {
                    let below = Self::under(state);
                    (paths.data_dir, paths.state_dir) = (below.data_dir, below.state_dir);
                }
                paths.config_dir = config.unwrap_or(paths.config_dir);
                paths
            }
        };
        if let Some(runtime) = dir("RUNTIME_DIRECTORY") {
            paths.runtime_dir = runtime;
        }
        Ok(paths)
    }

    fn with_config_dir(self, config_dir: PathBuf) -> Self {
        Self { config_dir, ..self }
    }

    /// Puts everything under one folder: `config`, `data`, `state` and `run`.
    pub fn under(home: impl AsRef<Path>) -> Self {
        let home = home.as_ref();
        Self {
            config_dir: home.join("config"),
            data_dir: home.join("data"),
            state_dir: home.join("state"),
            runtime_dir: home.join("run"),
        }
    }

    /// The one folder that holds everything, if [`Paths::under`] describes these paths.
    pub fn home(&self) -> Option<&Path> {
        let home = self.config_dir.parent()?;
        (*self == Self::under(home)).then_some(home)
    }

    fn resolve(env: impl Fn(&str) -> Option<OsString>) -> Result<Self, PathsError> {
        if let Some(home) = env("AGENTD_HOME").filter(|home| !home.is_empty()) {
            let home = PathBuf::from(home);
            return match std::path::absolute(&home) {
                Ok(absolute) => Ok(Self::under(absolute)),
                Err(source) => Err(PathsError::Home { path: home, source }),
            };
        }
        let dirs = directories::ProjectDirs::from("", "", "agentd").ok_or(PathsError::NoHome)?;
        let state_dir = dirs.state_dir().unwrap_or(dirs.data_local_dir()).to_path_buf();
        // The XDG rules say that a relative value counts as unset.
        let runtime_dir = env("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
            .map_or_else(|| state_dir.join("run"), |dir| dir.join("agentd"));
        Ok(Self {
            config_dir: dirs.config_dir().to_path_buf(),
            data_dir: dirs.data_dir().to_path_buf(),
            state_dir,
            runtime_dir,
        })
    }

    /// The configuration of daemon and clients.
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The socket that the daemon listens on.
    pub fn socket(&self) -> PathBuf {
        self.runtime_dir.join("agentd.sock")
    }

    /// The directory of the store.
    pub fn store_dir(&self) -> PathBuf {
        self.data_dir.join("store")
    }

    /// Hashes of the tokens of remote clients.
    pub fn tokens_file(&self) -> PathBuf {
        self.data_dir.join("tokens.json")
    }

    /// Where `agentd tls init` writes certificates.
    pub fn tls_dir(&self) -> PathBuf {
        self.config_dir.join("tls")
    }

    /// Servers that clients know by name.
    pub fn contexts_file(&self) -> PathBuf {
        self.config_dir.join("contexts.toml")
    }

    /// The file whose kernel lock makes a daemon the only one on this data directory.
    pub fn instance_lock(&self) -> PathBuf {
        self.data_dir.join("agentd.lock")
    }

    /// The file whose kernel lock makes one client at a time start a daemon.
    pub fn spawn_lock(&self) -> PathBuf {
        self.runtime_dir.join("spawn.lock")
    }

    /// The log of a daemon that a client started.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir.join("agentd.log")
    }

    /// What the daemon learned about the windows of models.
    pub fn learned_models_file(&self) -> PathBuf {
        self.state_dir.join("learned-models.json")
    }

    /// The input history of `agentctl`.
    pub fn history_file(&self) -> PathBuf {
        self.state_dir.join("agentctl-history")
    }

    /// Where backups of the store go unless told otherwise.
    pub fn backups_dir(&self) -> PathBuf {
        self.data_dir.join("backups")
    }

    /// Copies of what changes of files have replaced.
    pub fn undo_dir(&self) -> PathBuf {
        self.data_dir.join("undo")
    }

    /// Where chunks of imports wait for the last one.
    pub fn imports_dir(&self) -> PathBuf {
        self.state_dir.join("imports")
    }

    /// Checks that the socket's path fits into a socket address.
    ///
    /// # Errors
    /// [`PathsError::SocketPathTooLong`].
    pub fn check_socket(&self) -> Result<PathBuf, PathsError> {
        let socket = self.socket();
        check_socket_path(&socket)?;
        Ok(socket)
    }
}

/// Checks that a path fits into a socket address.
///
/// # Errors
/// [`PathsError::SocketPathTooLong`].
pub fn check_socket_path(path: &Path) -> Result<(), PathsError> {
    let bytes = path.as_os_str().len();
    if bytes > MAX_SOCKET_PATH_BYTES {
        return Err(PathsError::SocketPathTooLong { path: path.to_path_buf(), bytes });
    }
    Ok(())
}

/// Why the directories cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Neither `HOME` nor the user database names a home directory.
    #[error("no home directory is known for this user")]
    NoHome,
    /// `AGENTD_HOME` cannot be made absolute.
    #[error("AGENTD_HOME is {path:?}, which cannot be made absolute")]
    Home {
        /// Its value.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The socket's path does not fit into a socket address.
    #[error(
        "the socket path {path:?} has {bytes} bytes; the system allows {MAX_SOCKET_PATH_BYTES}"
    )]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// A directory cannot be made, looked at or restricted.
    #[error("cannot {action} the directory {path:?}")]
    Io {
        /// "create", "inspect" or "restrict".
        action: &'static str,
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A symbolic link stands where a private directory should be.
    #[error("{path:?} is a symbolic link; a private directory is needed there")]
    Symlink {
        /// The path.
        path: PathBuf,
    },
    /// Something else stands where a private directory should be.
    #[error("{path:?} is not a directory")]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The directory belongs to somebody else.
    #[error("{path:?} belongs to uid {owner}, but this process runs as uid {expected}")]
    ForeignOwner {
        /// The path.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who we are.
        expected: u32,
    },
}

impl PathsError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoHome
            | Self::Home { .. }
            | Self::SocketPathTooLong { .. }
            | Self::NotADirectory { .. } => ErrorKind::Invalid,
            Self::Symlink { .. } | Self::ForeignOwner { .. } => ErrorKind::Denied,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                ErrorKind::Denied
            }
            Self::Io { .. } => ErrorKind::Unavailable,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHome => "set HOME, or set AGENTD_HOME to a folder for all files of agentd",
            Self::Home { .. } => "set AGENTD_HOME to an absolute path",
            Self::SocketPathTooLong { .. } => {
                "set AGENTD_HOME or XDG_RUNTIME_DIR to a directory with a shorter path"
            }
            Self::Io { .. } => {
                "check the permissions of its parent directory, or set AGENTD_HOME to a folder of your own"
            }
            Self::Symlink { .. } => {
                "remove the link, or set AGENTD_HOME or XDG_RUNTIME_DIR to the place it points to"
            }
            Self::NotADirectory { .. } => "move the file away",
            Self::ForeignOwner { .. } => {
                "set AGENTD_HOME or XDG_RUNTIME_DIR to a directory of your own (sudo and su keep the other user's)"
            }
        }
    }
}

#[cfg(test)]
mod tests;
