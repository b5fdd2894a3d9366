//! Where a program runs: paths that were looked at before anything is started.

use std::path::{Path, PathBuf};

use crate::launch::SpawnError;
use crate::{Command, Policy};

/// Paths that every program may read, where they exist.
pub(crate) const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What programs need of `/etc`. Passwords, keys and the configuration of services are not in it.
pub(crate) const ETC: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// A workspace and a directory in it, both without links.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) workspace: PathBuf,
    pub(crate) cwd: PathBuf,
    /// Paths below the workspace or a readable path that stay hidden.
    pub(crate) hidden: Vec<PathBuf>,
}

impl Place {
    /// Looks at the paths of a command.
    ///
    /// # Errors
    /// When the directory is not there or is outside, or the workspace is no place to run in.
    pub(crate) fn of(command: &Command, policy: &Policy) -> Result<Self, SpawnError> {
        let resolve = |path: &Path| {
            path.canonicalize()
                .map_err(|source| SpawnError::Directory { path: path.to_owned(), source })
        };
        let workspace = resolve(&command.workspace)?;
        let cwd = resolve(&workspace.join(&command.cwd))?;
        if !cwd.starts_with(&workspace) {
            return Err(SpawnError::OutsideWorkspace { path: command.cwd.clone() });
        }
        let is_system = SYSTEM.iter().any(|system| {
            let system = Path::new(system);
            workspace == system || system.starts_with(&workspace)
        });
        let hidden: Vec<PathBuf> =
            policy.hidden.iter().map(|path| path.canonicalize().unwrap_or(path.clone())).collect();
        if is_system || hidden.iter().any(|hidden| workspace.starts_with(hidden)) {
            return Err(SpawnError::Workspace { path: workspace });
        }
        let shown = |path: &PathBuf| {
            path.starts_with(&workspace)
                || policy.readable.iter().any(|readable| path.starts_with(readable))
        };
        let mut hidden: Vec<PathBuf> = hidden.into_iter().filter(shown).collect();
        hidden.extend(crate::protected::secrets(&workspace));
        Ok(Self { workspace, cwd, hidden })
    }
}
