//! The files of a workspace, listed beside the loop for whoever names one in a message.

use std::path::Path;

use ignore::WalkBuilder;
use tokio::task::JoinSet;

use crate::input::Input;

/// Files that are listed at most.
const MOST: usize = 20_000;

/// Lists that are being made.
#[derive(Debug, Default)]
pub struct FileLists {
    tasks: JoinSet<Input>,
}

impl FileLists {
    /// Begins to list the files of a directory. One list at a time: a slow disk is not asked twice.
    pub fn list(&mut self, directory: String) {
        if self.tasks.is_empty() {
            self.tasks.spawn_blocking(move || Input::Files(files(Path::new(&directory))));
        }
    }

    /// Returns a list.
    ///
    /// # Cancel safety
    /// Safe: what was not returned stays.
    pub async fn next(&mut self) -> Input {
        match self.tasks.join_next().await {
            Some(Ok(input)) => input,
            Some(Err(_)) | None => std::future::pending().await,
        }
    }
}

/// Paths relative to the directory, without what git ignores or what is hidden.
fn files(directory: &Path) -> Vec<String> {
    let walk = WalkBuilder::new(directory).follow_links(false).build();
    let found = walk.filter_map(Result::ok).filter(|entry| {
        // What cannot be written in a message cannot be named in one.
        entry.file_type().is_some_and(|kind| kind.is_file())
    });
    let names = found.filter_map(|entry| {
        let path = entry.path().strip_prefix(directory).ok()?.to_str()?.to_owned();
        (!path.chars().any(char::is_control)).then_some(path)
    });
    let mut names: Vec<String> = names.take(MOST).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_are_listed_without_what_is_hidden_or_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for name in ["b.rs", "src/世界.rs", ".secret", "target/x"] {
            write(name);
        }
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        std::fs::write(dir.path().join(".gitignore"), "target\n").unwrap();
        let mut lists = FileLists::default();
        lists.list(dir.path().to_str().unwrap().to_owned());
        let Input::Files(files) = lists.next().await else { panic!("no files") };
        assert_eq!(files, ["b.rs", "src/世界.rs"]);
    }
}
