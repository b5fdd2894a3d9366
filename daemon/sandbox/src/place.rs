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
    /// The workspace and further roots. What is in another one comes after that.
    pub(crate) roots: Vec<PathBuf>,
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
        let mut roots = vec![workspace.clone()];
        for further in &command.further_roots {
            roots.push(resolve(further)?);
        }
        let cwd = resolve(&workspace.join(&command.cwd))?;
        if !roots.iter().any(|root| cwd.starts_with(root)) {
            return Err(SpawnError::OutsideWorkspace { path: command.cwd.clone() });
        }
        let is_system = |root: &Path| {
            SYSTEM.iter().any(|system| {
                let system = Path::new(system);
                root == system || system.starts_with(root)
            })
        };
        let hidden: Vec<PathBuf> =
            policy.hidden.iter().map(|path| path.canonicalize().unwrap_or(path.clone())).collect();
        let is_taken = |root: &&PathBuf| {
            is_system(root) || hidden.iter().any(|hidden| root.starts_with(hidden))
        };
        if let Some(root) = roots.iter().find(is_taken) {
            return Err(SpawnError::Workspace { path: root.clone() });
        }
        // Mounted in this order none is mounted over.
        roots.sort_by_key(|root| root.components().count());
        let shown = |path: &PathBuf| {
            roots.iter().any(|root| path.starts_with(root))
                || policy.readable.iter().any(|readable| path.starts_with(readable))
        };
        let mut hidden: Vec<PathBuf> = hidden.into_iter().filter(shown).collect();
        hidden.extend(roots.iter().flat_map(|root| crate::protected::secrets(root)));
        // What is in something hidden is not there to be hidden.
        hidden.sort();
        hidden.dedup_by(|path, outer| path.starts_with(outer));
        Ok(Self { workspace, roots, cwd, hidden })
    }
}
