//! Changing parts of a file.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{Change, action, carry_out, check_known};
use super::edit_text::{Edit, edit};
use super::workspace::Workspace;
use super::{FileLedger, Protected, blocking, shown};
use crate::{About, ToolContext, TypedTool};

/// Arguments of edit_file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Relative to the workspace; read it before.
    path: String,
    /// One after the other, all or none.
    #[schemars(length(min = 1, max = 100))]
    edits: Vec<OneEdit>,
}

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneEdit {
    /// The exact text, which is there only once.
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct EditFile {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for EditFile {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "edit_file",
            description: "Replaces parts of a file of the workspace and shows the diff. Line \
                          endings and encoding are kept.",
            capabilities: Capabilities::WORKSPACE_WRITE,
            aliases: &["editFile"],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let (ledger, arguments) = (Arc::clone(&ctx.files), arguments.clone());
        blocking(ctx, move |_cancel| {
            Ok(action("edit", &make(&root, &protected, &ledger, &arguments)?))
        })
        .await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let (ledger, planned) = (Arc::clone(&ctx.files), planned.clone());
        blocking(ctx, move |cancel| {
            let workspace = Workspace::open(&root, &protected)?;
            carry_out(&workspace, &ledger, &planned, cancel, || {
                make(&root, &protected, &ledger, &arguments)
            })
        })
        .await
        .unwrap_or_else(|refusal| refusal)
    }
}

fn make(
    root: &Path,
    protected: &Protected,
    ledger: &FileLedger,
    arguments: &Arguments,
) -> Result<Vec<Change>, ToolResult> {
    let target = Workspace::open(root, protected)?.target(&arguments.path)?;
    let Some(content) = &target.content else {
        return Err(ToolResult::fatal(
            "NOT_FOUND",
            format!("There is no '{}'; write_file makes files.", shown(&arguments.path)),
        ));
    };
    check_known(ledger, &target)?;
    let edits: Vec<Edit<'_>> = arguments
        .edits
        .iter()
        .map(|edit| Edit { old: &edit.old, new: &edit.new, replace_all: edit.replace_all })
        .collect();
    let edited = edit(content, &edits)?;
    Ok(vec![Change { notes: edited.notes, ..Change::to(target, Some(edited.content)) }])
}
