//! Temporary directories of runs: whose they are, and what becomes of those of a daemon that was killed.

use std::fs;
use std::path::Path;

use crate::owner::{is_process_gone, started};

const PREFIX: &str = "agentd-run-";

/// Most entries of the directory for temporary files that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// How the names of this process's directories begin.
pub(crate) fn prefix() -> String {
    let pid = std::process::id();
    match started(pid) {
        Some(start) => format!("{PREFIX}{pid}.{start}-"),
        // Nobody will be able to tell whose it is.
        None => PREFIX.to_owned(),
    }
}

/// Removes the directories of daemons that are no more.
pub(crate) fn remove(temporary: &Path) {
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    for entry in entries.take(MAX_ENTRIES) {
        let name = entry.file_name();
        let is_left = name.to_str().is_some_and(is_left);
        if is_left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // Another user's cannot be removed, and is its daemon's to remove.
            let _kept = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_left(name: &str) -> bool {
    let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    let Some((pid, start)) = owner.and_then(|(owner, _)| owner.split_once('.')) else {
        return false;
    };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse()) else { return false };
    is_process_gone(pid, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_a_daemon_that_was_killed_are_removed_and_no_others() {
        let dir = tempfile::tempdir().expect("a directory");
        let own = format!("{}x", prefix());
        // The first process of the machine did not start at that time.
        let left = "agentd-run-1.18446744073709551615-x";
        for name in [&own, left, "agentd-run-x", "agentd-run-1.2", "other"] {
            fs::create_dir(dir.path().join(name)).expect("a directory");
            fs::write(dir.path().join(name).join("file"), "x").expect("a file");
        }
        remove(dir.path());
        let mut names: Vec<String> = fs::read_dir(dir.path())
            .expect("entries")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let mut kept = ["agentd-run-1.2", "agentd-run-x", "other"].map(str::to_owned).to_vec();
        kept.insert(0, own);
        kept.sort();
        assert_eq!(names, kept);
    }
}
