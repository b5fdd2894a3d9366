//! Writing a whole file.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{Change, action, carry_out, check_known};
use super::workspace::Workspace;
use super::{FileLedger, Protected, blocking};
use crate::{About, ToolContext, TypedTool};

/// Arguments of write_file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Relative to the workspace.
    path: String,
    content: String,
    /// Replace a file that exists and was read before.
    #[serde(default)]
    overwrite: bool,
    /// Of the file to replace, instead of reading it.
    #[schemars(length(min = 64, max = 64))]
    expected_sha256: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct WriteFile {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for WriteFile {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "write_file",
            description: "Makes a file of the workspace, or replaces one as a whole. For changes \
                          within a file use edit_file.",
            capabilities: Capabilities::WORKSPACE_WRITE,
            aliases: &["writeFile"],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let (ledger, arguments) = (Arc::clone(&ctx.files), arguments.clone());
        blocking(ctx, move |_cancel| {
            Ok(action("write", &make(&root, &protected, &ledger, &arguments)?))
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
    let expected = arguments.expected_sha256.as_deref().map(str::to_ascii_lowercase);
    if target.content.is_some() && !arguments.overwrite {
        return Err(ToolResult::fatal(
            "FILE_EXISTS",
            format!(
                "'{}' exists. Change it with edit_file, or set overwrite to replace all of it.",
                target.told()
            ),
        ));
    }
    match expected {
        None => check_known(ledger, &target)?,
        Some(expected) if target.sha256().as_deref() == Some(&expected) => {}
        Some(_) => {
            return Err(super::save::stale(&target, target.content.as_deref().unwrap_or_default()));
        }
    }
    Ok(vec![Change::to(target, Some(arguments.content.clone().into_bytes()))])
}
