//! The files of a workspace, for whoever names one in a message.

use std::path::Path;
use std::time::Duration;

use ignore::WalkBuilder;
use tokio::time::Instant;

/// Files that are listed at most.
const MOST: usize = 20_000;
/// Longest time that is spent on looking for more.
const LONGEST: Duration = Duration::from_secs(5);

/// Paths relative to the directory, sorted, without what git ignores or what is hidden. Blocks.
pub fn list(directory: &Path) -> Vec<String> {
    let begun = Instant::now();
    let walk = WalkBuilder::new(directory).follow_links(false).build();
    let found = walk.take_while(|_| begun.elapsed() < LONGEST).filter_map(Result::ok);
    let files = found.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| {
        let path = entry.path().strip_prefix(directory).ok()?.to_str()?.to_owned();
        // What cannot be written in a message cannot be named in one.
        (!path.chars().any(char::is_control)).then_some(path)
    });
    let mut names: Vec<String> = names.take(MOST).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_without_what_is_hidden_or_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for name in ["b.rs", "src/世界.rs", ".secret", "target/x", "odd\u{7}.rs"] {
            write(name);
        }
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        std::fs::write(dir.path().join(".gitignore"), "target\n").unwrap();
        assert_eq!(list(dir.path()), ["b.rs", "src/世界.rs"]);
        assert_eq!(list(&dir.path().join("nowhere")), Vec::<String>::new());
    }
}
