//! Taking back the last change of files that the session has made.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{Change, action, take_back};
use super::save::{Target, stale};
use super::workspace::Workspace;
use super::{FileLedger, Protected, blocking};
use crate::{About, ToolContext, TypedTool};

/// Arguments of undo_edit: none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {}

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

    async fn plan(&self, ctx: &ToolContext, _arguments: &Arguments) -> Result<Action, ToolResult> {
        let (root, protected) = (ctx.workspace.clone(), self.protected.clone());
        let ledger = Arc::clone(&ctx.files);
        blocking(ctx, move |_cancel| Ok(action("undo", &make(&root, &protected, &ledger)?))).await
    }

    async fn run(&self, ctx: &ToolContext, _arguments: Arguments, planned: &Action) -> ToolResult {
        let (root, protected) = (ctx.workspace.clone(), self.protected.clone());
        let (ledger, planned) = (Arc::clone(&ctx.files), planned.clone());
        blocking(ctx, move |cancel| {
            let workspace = Workspace::open(&root, &protected)?;
            take_back(&workspace, &ledger, &planned, cancel, || make(&root, &protected, &ledger))
        })
        .await
        .unwrap_or_else(|refusal| refusal)
    }
}

fn make(
    root: &Path,
    protected: &Protected,
    ledger: &FileLedger,
) -> Result<Vec<Change>, ToolResult> {
    let Some(last) = ledger.last_change() else {
        return Err(ToolResult::fatal(
            "NOTHING_TO_UNDO",
            "No change of this session is kept. Changes are kept in memory while the session is \
             loaded, the last ones of them only.",
        ));
    };
    let workspace = Workspace::open(root, protected)?;
    let undo = last.iter().rev().map(|kept| {
        let target = workspace.target(&kept.path)?;
        if target.sha256() != kept.after {
            return Err(stale(&target, target.content.as_deref().unwrap_or_default()));
        }
        let mode = target.mode.or(kept.mode);
        Ok(Change::to(Target { mode, ..target }, kept.before.clone()))
    });
    undo.collect()
}
