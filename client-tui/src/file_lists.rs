//! The files of a workspace, listed beside the loop for whoever names one in a message.

use std::path::Path;

use agentd_shared::input::files;
use tokio::task::JoinSet;

use crate::input::Input;

/// Lists that are being made.
#[derive(Debug, Default)]
pub struct FileLists {
    tasks: JoinSet<Input>,
}

impl FileLists {
    /// Begins to list the files of a directory. One list at a time: a slow disk is not asked twice.
    pub fn list(&mut self, directory: String) {
        if self.tasks.is_empty() {
            self.tasks.spawn_blocking(move || Input::Files(files::list(Path::new(&directory))));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_list_comes_beside_the_loop() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("b.rs"), "").unwrap();
        let mut lists = FileLists::default();
        lists.list(dir.path().to_str().unwrap().to_owned());
        let Input::Files(files) = lists.next().await else { panic!("no files") };
        assert_eq!(files, ["b.rs"]);
    }
}
