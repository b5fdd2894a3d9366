//! Files whose contents are not for a model, wherever they lie.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use agentd_domain::ToolResult;

use crate::ToolContext;

/// Files that hold secrets by convention, in lower case.
const FILES: [&str; 12] = [
    ".env",
    ".envrc",
    ".git-credentials",
    ".netrc",
    ".pgpass",
    ".pypirc",
    "_netrc",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "id_xmss",
];

/// Examples of such files, which are written to be read.
const EXAMPLES: [&str; 5] =
    [".env.dist", ".env.example", ".env.sample", ".env.template", ".env.defaults"];

/// Kinds of files that hold private keys.
const EXTENSIONS: [&str; 8] = ["jks", "kdbx", "key", "keystore", "p12", "pem", "pfx", "ppk"];

/// Directories that hold secrets.
const DIRECTORIES: [&str; 3] = [".aws", ".gnupg", ".ssh"];

/// What file tools refuse to open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Protected {
    private: Arc<[PathBuf]>,
    /// Files that are read all the same, as places are told.
    readable: Arc<[PathBuf]>,
    /// Directories that are opened beside the workspace.
    pub(super) further_roots: Arc<[PathBuf]>,
}

impl Protected {
    /// Refuses what is secret by its name, and everything under the paths in `private`.
    pub(crate) fn new(private: Vec<PathBuf>) -> Self {
        Self { private: private.into(), ..Self::default() }
    }

    /// The same for a call, with what its session and its rules open to it.
    pub(crate) fn for_call(&self, ctx: &ToolContext) -> Self {
        let readable = Arc::clone(&ctx.readable);
        Self { readable, ..self.beside(&ctx.further_roots) }
    }

    /// The same with further directories.
    pub(crate) fn beside(&self, further_roots: &Arc<[PathBuf]>) -> Self {
        Self { further_roots: Arc::clone(further_roots), ..self.clone() }
    }

    /// True for a place, without links, in which nothing is opened.
    pub(crate) fn keeps(&self, real: &Path) -> bool {
        self.resolved().iter().any(|private| real.starts_with(private))
    }

    /// True for a file that a rule has opened, by this very path.
    pub(super) fn may_be_read(&self, place: &Path) -> bool {
        self.readable.iter().any(|readable| readable == place)
    }

    /// Checks where an opened file really is.
    pub(super) fn check_place(&self, real: &Path) -> Result<(), ToolResult> {
        if self.keeps(real) { Err(refused(&real.to_string_lossy())) } else { Ok(()) }
    }

    /// The private paths without links. They are resolved at each call: the directories may be made
    /// after the daemon starts.
    pub(super) fn resolved(&self) -> Vec<PathBuf> {
        let resolve = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        self.private.iter().map(resolve).collect()
    }
}

/// Refuses a path below the workspace in which a name stands for secrets.
pub(super) fn check_names(relative: &Path) -> Result<(), ToolResult> {
    let secret = relative
        .components()
        .filter_map(|part| match part {
            // What is not text in a name does not hide what is.
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        })
        .find(|name| is_secret(name));
    match secret {
        Some(name) => Err(refused(&name)),
        None => Ok(()),
    }
}

/// Refuses to change what is git's own.
pub(super) fn refuse_write(place: &Path) -> Result<(), ToolResult> {
    check_names(place)?;
    let is_gits = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    if place.components().any(is_gits) {
        return Err(ToolResult::fatal(
            "PROTECTED_FILE",
            format!(
                "'{}' belongs to git, which alone changes it; its hooks and settings run programs.",
                super::shown(&place.to_string_lossy())
            ),
        ));
    }
    Ok(())
}

/// True for the name of a file or directory that holds secrets.
pub(super) fn is_secret(name: &str) -> bool {
    // File systems may not tell cases apart.
    let name = name.to_lowercase();
    if EXAMPLES.contains(&name.as_str()) {
        return false;
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    FILES.contains(&name.as_str())
        || DIRECTORIES.contains(&name.as_str())
        || EXTENSIONS.contains(&extension)
        || name.starts_with(".env.")
        || name.starts_with(".env-")
        || name.starts_with(".env_")
}

fn refused(name: &str) -> ToolResult {
    ToolResult::fatal(
        "PROTECTED_FILE",
        format!(
            "'{}' is protected, because such files hold secrets. It is not opened unless a rule of the \
             user allows to read exactly its path; ask the user for what is needed from it.",
            super::shown(name)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        let check = |name: &str, expect: bool| assert_eq!(is_secret(name), expect, "{name}");
        for name in [
            ".env",
            ".ENV",
            ".env.local",
            ".env.production",
            ".envrc",
            "id_rsa",
            "ID_ED25519",
            "server.pem",
            "tls.key",
            "store.p12",
            ".ssh",
            ".netrc",
            ".git-credentials",
        ] {
            check(name, true);
        }
        for name in [
            ".env.example",
            "environment.md",
            "id_rsa.pub",
            "key",
            "keys.rs",
            "pem",
            "README.md",
            ".environment",
            "ssh",
            "monkey",
        ] {
            check(name, false);
        }
    }

    #[test]
    fn a_secret_directory_protects_what_is_in_it() {
        assert!(check_names(Path::new("home/.ssh/config")).is_err());
        assert!(check_names(Path::new("home/ssh/config")).is_ok());
    }
}
