//! What a program did to protected files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::OF_GIT;
use super::walk::{Found, find};
use crate::place::Place;

/// Most entries of a directory that are looked at.
const MAX_ENTRIES: usize = 256;

/// How many directories deep a directory of protected files is looked into.
const MAX_DEPTH: usize = 3;

/// How protected files looked at one time. A backend that cannot make them read-only leaves it to
/// this to tell what a program did to them, and so does a file that was not there to be protected.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Look(BTreeMap<PathBuf, Stamp>);

/// Inode, length and time of the last change, which a program cannot set.
type Stamp = (u64, u64, i64, i64);

impl Look {
    /// Looks at the protected files of all roots, and into directories of them.
    pub(crate) fn at(place: &Place) -> Self {
        let mut look = Looking { workspace: &place.workspace, seen: BTreeMap::new() };
        for found in place.roots.iter().flat_map(|root| find(root)) {
            match found {
                Found::RunsLater(path) => look.note(&path, MAX_DEPTH),
                Found::Git(git) => look.note_git(&git),
            }
        }
        Self(look.seen)
    }

    /// Looks on a thread that may wait for a disk.
    pub(crate) async fn taken(place: &Place) -> Self {
        let place = place.clone();
        let looking = tokio::task::spawn_blocking(move || Self::at(&place));
        looking.await.unwrap_or_default()
    }

    /// Paths, relative to the workspace where they are in it, that are new or another than at `before`. Directories
    /// that were there count by their entries.
    pub(crate) fn changed_since(&self, before: &Self) -> Vec<PathBuf> {
        let is_changed = |(path, stamp): &(&PathBuf, &Stamp)| before.0.get(*path) != Some(*stamp);
        self.0.iter().filter(is_changed).map(|(path, _)| path.clone()).collect()
    }
}

struct Looking<'a> {
    workspace: &'a Path,
    seen: BTreeMap<PathBuf, Stamp>,
}

impl Looking<'_> {
    fn note_git(&mut self, git: &Path) {
        // Where it is a file, it says where all of this is.
        self.note(git, 0);
        for name in OF_GIT {
            self.note(&git.join(name), 1);
        }
        // Submodules have settings of their own.
        for module in fs::read_dir(git.join("modules")).into_iter().flatten().flatten() {
            for name in OF_GIT {
                self.note(&module.path().join(name), 1);
            }
        }
    }

    fn note(&mut self, path: &Path, depth: usize) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        if metadata.is_dir() {
            if depth > 0 {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                for entry in entries.take(MAX_ENTRIES) {
                    self.note(&entry.path(), depth - 1);
                }
            }
            return;
        }
        // The examples that git puts there run nothing.
        if path.extension().is_some_and(|extension| extension == "sample") {
            return;
        }
        let name = path.strip_prefix(self.workspace).unwrap_or(path).to_owned();
        let stamp = (metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec());
        self.seen.insert(name, stamp);
    }
}
