//! Finding protected files near the top of a workspace.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::{DIRECTORIES, runs_later};

/// How many directories deep files are looked for.
const MAX_DEPTH: usize = 3;

/// Most entries that are looked at: a run must not wait for a large tree. Those near the top come first.
const MAX_ENTRIES: usize = 4_096;

/// Most that is found.
const MAX_FOUND: usize = 64;

/// A protected place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// A file that others run later, or a directory of such files.
    RunsLater(PathBuf),
    /// Git's own directory, or the file that says where it is.
    Git(PathBuf),
}

/// Protected places, those near the top first. Links are none.
pub(super) fn find(workspace: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(workspace.to_owned(), 1)]);
    let mut seen = 0;
    while let Some((dir, depth)) = waiting.pop_front() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_ENTRIES || found.len() >= MAX_FOUND {
                return found;
            }
            match kind(&entry) {
                Kind::Protected(place) => found.push(place),
                Kind::Directory(dir) if depth < MAX_DEPTH => waiting.push_back((dir, depth + 1)),
                Kind::Directory(_) | Kind::Other => {}
            }
        }
    }
    found
}

enum Kind {
    Protected(Found),
    Directory(PathBuf),
    Other,
}

fn kind(entry: &DirEntry) -> Kind {
    let Ok(kind) = entry.file_type() else { return Kind::Other };
    if kind.is_symlink() {
        return Kind::Other;
    }
    let name = entry.file_name().to_string_lossy().to_lowercase();
    if name == ".git" {
        return Kind::Protected(Found::Git(entry.path()));
    }
    if kind.is_dir() {
        return if DIRECTORIES.contains(&name.as_str()) {
            Kind::Protected(Found::RunsLater(entry.path()))
        } else {
            Kind::Directory(entry.path())
        };
    }
    if kind.is_file() && runs_later(Path::new(&name)) {
        return Kind::Protected(Found::RunsLater(entry.path()));
    }
    Kind::Other
}
