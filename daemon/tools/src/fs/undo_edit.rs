//! Taking back a change of files that the session has made.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{Change, action, take_back};
use super::changes::{ChangedFile, FileChange};
use super::save::Target;
use super::workspace::Workspace;
use super::{FileLedger, Protected, blocking, shown};
use crate::{About, ToolContext, TypedTool};

/// Most other changes that a refusal names.
const MAX_NAMED: usize = 5;

/// Arguments of undo_edit.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Its number; without it the last.
    #[schemars(range(min = 1))]
    change: Option<u64>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct UndoEdit {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for UndoEdit {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "undo_edit",
            description: "Takes back the last change that this session made with write_file, \
                          edit_file or apply_patch; called again, the one before it.",
            capabilities: Capabilities::WORKSPACE_WRITE,
            aliases: &[],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let (ledger, number) = (Arc::clone(&ctx.files), arguments.change);
        blocking(ctx, move |_cancel| {
            let undo = make(&root, &protected, &ledger, number)?;
            Ok(action("undo", &undo.changes))
        })
        .await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let (ledger, planned) = (Arc::clone(&ctx.files), planned.clone());
        blocking(ctx, move |cancel| {
            let workspace = Workspace::open(&root, &protected)?;
            // Which change it is was decided when it was looked at: the files say whether it still is.
            let number = make(&root, &protected, &ledger, arguments.change)?.number;
            take_back(&workspace, &ledger, &planned, cancel, number, || {
                Ok(make(&root, &protected, &ledger, Some(number))?.changes)
            })
        })
        .await
        .unwrap_or_else(|refusal| refusal)
    }
}

/// What takes a change back.
struct Undo {
    number: u64,
    changes: Vec<Change>,
}

fn make(
    root: &Path,
    protected: &Protected,
    ledger: &FileLedger,
    number: Option<u64>,
) -> Result<Undo, ToolResult> {
    let kept = ledger.changes().list().map_err(|error| not_read(&error))?;
    let workspace = Workspace::open(root, protected)?;
    let Some(number) = number else {
        for change in kept.iter().rev() {
            // One that has not come about, or was taken back in another way, is passed over.
            let changes = undo(&workspace, ledger, change, &kept)?;
            if changes.iter().any(|change| change.target.content != change.new) {
                return Ok(Undo { number: change.number, changes });
            }
        }
        return Err(ToolResult::fatal(
            "NOTHING_TO_UNDO",
            "No change of this session is kept that could be taken back; the last 50 are.",
        ));
    };
    let Some(change) = kept.iter().find(|change| change.number == number) else {
        let numbers: Vec<String> = kept.iter().map(|change| change.number.to_string()).collect();
        let there = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
        return Err(ToolResult::fatal(
            "NO_SUCH_CHANGE",
            format!("change: there is no change {number} to take back; there are: {there}."),
        ));
    };
    Ok(Undo { number, changes: undo(&workspace, ledger, change, &kept)? })
}

fn undo(
    workspace: &Workspace<'_>,
    ledger: &FileLedger,
    change: &FileChange,
    kept: &[FileChange],
) -> Result<Vec<Change>, ToolResult> {
    let undo = change.files.iter().rev().map(|file| {
        let target = workspace.target(&file.path)?;
        let now = target.sha256();
        if now != file.after && now != file.before {
            return Err(not_as_left(&target, file, change, kept));
        }
        let before = content(ledger, file, &target)?;
        let mode = target.mode.or(file.mode);
        Ok(Change::to(Target { mode, ..target }, before))
    });
    undo.collect()
}

/// The refusal of a change whose file something else has changed, moved or deleted since: which one it
/// is, what brings it back within reach, and which others can be named instead.
fn not_as_left(
    target: &Target,
    file: &ChangedFile,
    change: &FileChange,
    kept: &[FileChange],
) -> ToolResult {
    let (number, told) = (change.number, target.told());
    let later = kept.iter().rev().find(|later| {
        later.number > number && later.files.iter().any(|other| other.path == file.path)
    });
    let why = match (&target.content, &file.after, later) {
        (_, _, Some(later)) => {
            format!("'{told}' was changed again by change {}: take that back first", later.number)
        }
        (None, _, None) => format!(
            "'{told}' is not there any more: a command or somebody has moved or deleted it. Put it \
             back under this name and try again"
        ),
        (Some(_), None, None) => {
            format!("'{told}' was deleted by it and is there again. Move it away and try again")
        }
        (Some(_), Some(_), None) => format!(
            "a command or somebody has changed '{told}' since. Read it with read_file and edit it"
        ),
    };
    let others: Vec<String> = kept
        .iter()
        .rev()
        .filter(|other| other.number != number)
        .take(MAX_NAMED)
        .map(|other| format!("{} ({})", other.number, named(other)))
        .collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(
            " Other changes can be taken back by their number, with change here, `/undo N` or \
             `agentctl undo --change N`: {}.",
            others.join(", ")
        )
    };
    ToolResult::fatal(
        "STALE_FILE",
        format!("Change {number} cannot be taken back, and nothing was changed: {why}.{others}"),
    )
}

/// The first file of a change, and how many more it has.
fn named(change: &FileChange) -> String {
    let first = change.files.first().map(|file| shown(&file.path)).unwrap_or_default();
    match change.files.len() {
        0 | 1 => first,
        more => format!("{first} and {} more", more - 1),
    }
}

/// What a file held before a change.
fn content(
    ledger: &FileLedger,
    file: &ChangedFile,
    target: &Target,
) -> Result<Option<Vec<u8>>, ToolResult> {
    let Some(hash) = &file.before else { return Ok(None) };
    if target.sha256().as_ref() == Some(hash) {
        return Ok(target.content.clone());
    }
    match ledger.changes().content(hash) {
        Ok(Some(content)) => Ok(Some(content)),
        Ok(None) => Err(ToolResult::fatal(
            "COPY_GONE",
            format!(
                "The copy of what '{}' held before is gone: copies of more than 8 MiB are not kept, \
                 and the oldest go when there are more than 256 MiB. Nothing was changed.",
                shown(&file.path)
            ),
        )),
        Err(error) => Err(not_read(&error)),
    }
}

fn not_read(error: &std::io::Error) -> ToolResult {
    ToolResult::fatal("IO_ERROR", format!("The copies of earlier content cannot be read: {error}."))
}
