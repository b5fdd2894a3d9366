//! Files of a workspace that others run later, outside of any box.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Read-only inside: what git, editors, shells and CI run by themselves.
const RUN_LATER: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".github",
    ".gitlab-ci.yml",
    ".circleci",
    ".travis.yml",
    "Jenkinsfile",
    ".husky",
    ".vscode",
    ".idea",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
];

/// Hidden inside, where the workspace is somebody's home.
const SECRETS: &[&str] =
    &[".ssh", ".gnupg", ".aws", ".kube", ".netrc", ".config/gcloud", ".docker"];

/// Most entries of a directory that are looked at.
const MAX_ENTRIES: usize = 256;

/// Directories that hold protected files; mounted on themselves they cannot be renamed away.
pub(crate) const HOLDERS: &[&str] = &[".git"];

/// Protected paths that are there. Links are left alone: mounting on one would follow it.
pub(crate) fn run_later(workspace: &Path) -> Vec<PathBuf> {
    present(workspace, RUN_LATER)
}

/// Secrets that are there.
pub(crate) fn secrets(workspace: &Path) -> Vec<PathBuf> {
    present(workspace, SECRETS)
}

/// Those of `names` that are there and are no links.
pub(crate) fn present(workspace: &Path, names: &[&str]) -> Vec<PathBuf> {
    let is_there = |path: &PathBuf| {
        path.symlink_metadata().is_ok_and(|metadata| !metadata.file_type().is_symlink())
    };
    names.iter().map(|name| workspace.join(name)).filter(is_there).collect()
}

/// How protected files looked at one time. A backend that cannot make them read-only leaves it to
/// this to tell what a program did to them, and so does a file that was not there to be protected.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Look(BTreeMap<PathBuf, Stamp>);

/// Inode, length and time of the last change, which a program cannot set.
type Stamp = (u64, u64, i64, i64);

impl Look {
    /// Looks at the protected files, and one level into those that are directories.
    pub(crate) fn at(workspace: &Path) -> Self {
        let mut seen = BTreeMap::new();
        for name in RUN_LATER {
            let path = workspace.join(name);
            note(&mut seen, workspace, &path);
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            for entry in entries.take(MAX_ENTRIES) {
                note(&mut seen, workspace, &entry.path());
            }
        }
        Self(seen)
    }

    /// Paths, relative to the workspace, that are new or another than at `before`. Directories
    /// that were there count by their entries.
    pub(crate) fn changed_since(&self, before: &Self) -> Vec<PathBuf> {
        let is_changed = |(path, stamp): &(&PathBuf, &Stamp)| before.0.get(*path) != Some(*stamp);
        self.0.iter().filter(is_changed).map(|(path, _)| path.clone()).collect()
    }
}

fn note(seen: &mut BTreeMap<PathBuf, Stamp>, workspace: &Path, path: &Path) {
    let Ok(metadata) = path.symlink_metadata() else { return };
    // An empty hooks directory, and the examples that git puts there, run nothing.
    if metadata.is_dir() || path.extension().is_some_and(|extension| extension == "sample") {
        return;
    }
    let name = path.strip_prefix(workspace).unwrap_or(path).to_owned();
    seen.insert(name, (metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec()));
}
