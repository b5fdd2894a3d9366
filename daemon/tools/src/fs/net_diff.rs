//! What the changes of a session come to: for each file, the difference between what it held before
//! the first of them and what it holds now.

use std::path::Path;

use agentd_domain::ToolResult;

use super::changes::FileChanges;
use super::workspace::Workspace;
use super::{Protected, diff};

/// Longest diff of one file in bytes, and of all of them.
const MAX_FILE: usize = 100_000;
const MAX_ALL: usize = 2_000_000;

/// What has become of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetDiff {
    /// Its path relative to the workspace.
    pub path: String,
    /// Unified diff; empty where there is a problem.
    pub diff: String,
    /// Why there is no diff.
    pub problem: Option<String>,
    /// It holds something else than the last change left: somebody else has changed it too.
    pub changed_by_others: bool,
}

/// The differences by path, without files that hold again what they did.
///
/// # Errors
/// A refusal when the workspace or the changes cannot be read.
pub(crate) fn net_diffs(
    root: &Path,
    protected: &Protected,
    changes: &FileChanges,
) -> Result<Vec<NetDiff>, ToolResult> {
    let unreadable = |error: std::io::Error| {
        ToolResult::fatal("IO_ERROR", format!("The session's changes cannot be read: {error}."))
    };
    let bases = changes.bases().map_err(unreadable)?;
    let list = changes.list().map_err(unreadable)?;
    let left = |path: &str| {
        let files = list.iter().rev().flat_map(|change| change.files.iter().rev());
        files.clone().find(|file| file.path == path).map(|file| file.after.clone())
    };
    let workspace = Workspace::open(root, protected)?;
    let mut room = MAX_ALL;
    let mut diffs = Vec::new();
    for (path, base) in bases {
        let problem = |problem: String| NetDiff {
            path: path.clone(),
            diff: String::new(),
            problem: Some(problem),
            changed_by_others: false,
        };
        let target = match workspace.target(&path) {
            Ok(target) => target,
            Err(refusal) => {
                diffs.push(problem(refusal.output));
                continue;
            }
        };
        let now = target.sha256();
        if now == base {
            continue;
        }
        let old = match &base {
            None => None,
            Some(hash) => {
                let Some(content) = changes.content(hash).map_err(unreadable)? else {
                    diffs.push(problem("the copy of what it held before is gone".to_owned()));
                    continue;
                };
                Some(content)
            }
        };
        if room == 0 {
            diffs.push(problem("too much has changed to show it all".to_owned()));
            continue;
        }
        let limit = MAX_FILE.min(room);
        let diff =
            diff::unified_within(&target.told(), old.as_deref(), target.content.as_deref(), limit);
        room = room.saturating_sub(diff.len());
        let changed_by_others = left(&path).is_some_and(|left| left != now);
        diffs.push(NetDiff { path: path.clone(), diff, problem: None, changed_by_others });
    }
    Ok(diffs)
}
