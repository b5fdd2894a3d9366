//! Taking back a change of files that the session has made.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{Change, action, take_back};
use super::changes::{ChangedFile, FileChange};
use super::save::{Target, stale};
use super::workspace::Workspace;
use super::{FileLedger, Protected, blocking, shown};
use crate::{About, ToolContext, TypedTool};

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
            let changes = undo(&workspace, ledger, change)?;
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
    Ok(Undo { number, changes: undo(&workspace, ledger, change)? })
}

fn undo(
    workspace: &Workspace<'_>,
    ledger: &FileLedger,
    change: &FileChange,
) -> Result<Vec<Change>, ToolResult> {
    let undo = change.files.iter().rev().map(|file| {
        let target = workspace.target(&file.path)?;
        let now = target.sha256();
        if now != file.after && now != file.before {
            return Err(stale(&target, target.content.as_deref().unwrap_or_default()));
        }
        let before = content(ledger, file, &target)?;
        let mode = target.mode.or(file.mode);
        Ok(Change::to(Target { mode, ..target }, before))
    });
    undo.collect()
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
