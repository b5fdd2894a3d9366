//! The document in which a workspace's authors say how to work in it, such as `AGENTS.md`.

use std::io::Read as _;
use std::path::Path;

use agentd_domain::{ToolResult, cut_head_tail};

use super::{OpenedFile, Protected, open_plain_file};

/// How much of it is read, in bytes.
const MAX_READ: u64 = 1024 * 1024;

/// A document of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceDocument {
    /// Its path, as it was asked for.
    pub path: String,
    /// What it says; head and tail when it is long.
    pub text: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// True when the text is not all of it.
    pub is_cut: bool,
}

/// Reads the first of `names` that is there. `None`: none is.
///
/// # Errors
/// The result that a reading call would have, when the first that is there is not to be read.
pub(crate) fn first_document(
    root: &Path,
    protected: &Protected,
    names: &[String],
    max_bytes: usize,
) -> Result<Option<WorkspaceDocument>, ToolResult> {
    for name in names {
        match open_plain_file(root, protected, name) {
            Ok(opened) => return read(opened, name, max_bytes).map(Some),
            Err(refused) if refused.error_code == "NOT_FOUND" => {}
            Err(refused) => return Err(refused),
        }
    }
    Ok(None)
}

fn read(opened: OpenedFile, name: &str, max: usize) -> Result<WorkspaceDocument, ToolResult> {
    let OpenedFile { file, metadata, place: _ } = opened;
    let mut start = Vec::new();
    file.take(MAX_READ).read_to_end(&mut start).map_err(|error| {
        ToolResult::retryable("IO_ERROR", format!("'{name}' cannot be read: {error}."))
    })?;
    let read = u64::try_from(start.len()).unwrap_or(u64::MAX);
    // It may have grown or shrunk since it was opened.
    let bytes = metadata.len().max(read);
    let whole = String::from_utf8_lossy(&start);
    let mut text = cut_head_tail(&whole, max);
    let is_cut = text.len() != whole.len() || bytes > read;
    if bytes > read {
        text = format!("{text}\n[... {} bytes more of the file ...]", bytes - read);
    }
    Ok(WorkspaceDocument { path: name.to_owned(), text, bytes, is_cut })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn first(root: &Path, wanted: &[&str]) -> Result<Option<WorkspaceDocument>, ToolResult> {
        first_document(root, &Protected::default(), &names(wanted), 1_000)
    }

    #[test]
    fn the_first_document_that_is_there_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert_eq!(first(root, &["AGENTS.md", "CLAUDE.md"]), Ok(None));
        fs::write(root.join("CLAUDE.md"), b"use tabs \xff").unwrap();
        let found = first(root, &["AGENTS.md", "CLAUDE.md"]).unwrap().unwrap();
        assert_eq!((found.path.as_str(), found.text.as_str()), ("CLAUDE.md", "use tabs \u{fffd}"));
        assert_eq!((found.bytes, found.is_cut), (10, false));
        fs::write(root.join("AGENTS.md"), "世".repeat(1_000)).unwrap();
        let found = first(root, &["AGENTS.md", "CLAUDE.md"]).unwrap().unwrap();
        assert_eq!((found.path.as_str(), found.bytes, found.is_cut), ("AGENTS.md", 3_000, true));
        assert!(found.text.len() < 1_100 && found.text.contains("bytes left out"));
    }

    #[test]
    fn a_document_far_too_large_is_read_from_its_beginning_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = fs::File::create(dir.path().join("AGENTS.md")).unwrap();
        file.set_len(MAX_READ * 1_000).unwrap();
        let found = first(dir.path(), &["AGENTS.md"]).unwrap().unwrap();
        assert_eq!((found.bytes, found.is_cut), (MAX_READ * 1_000, true));
        assert!(found.text.len() < 1_200, "{}", found.text.len());
    }

    #[test]
    fn what_is_no_file_of_the_workspace_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        symlink(outside.path(), dir.path().join("AGENTS.md")).unwrap();
        let refused = first(dir.path(), &["AGENTS.md"]).unwrap_err();
        assert_eq!(refused.error_code, "PATH_OUTSIDE_WORKSPACE");
        fs::create_dir(dir.path().join("AGENT.md")).unwrap();
        assert_eq!(first(dir.path(), &["AGENT.md"]).unwrap_err().error_code, "NOT_A_FILE");
        let refused = first(dir.path(), &["../x", "AGENT.md"]).unwrap_err();
        assert_eq!(refused.error_code, "PATH_OUTSIDE_WORKSPACE");
    }
}
