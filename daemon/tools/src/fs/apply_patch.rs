//! Changing files by a unified diff.

use std::path::Path;
use std::sync::Arc;

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{Change, action, carry_out, check_known};
use super::edit_text::with_text;
use super::patch::{FilePatch, parse};
use super::save::Target;
use super::workspace::Workspace;
use super::{FileLedger, Protected, blocking, shown};
use crate::{About, ToolContext, TypedTool};

/// Most files of a patch.
const MAX_FILES: usize = 100;

/// Arguments of apply_patch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Unified diff of one or more files; /dev/null makes or removes one.
    #[schemars(length(min = 1))]
    patch: String,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ApplyPatch {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for ApplyPatch {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "apply_patch",
            description: "Applies a unified diff to files that were read before, all of it or nothing. \
                          Makes, removes and renames files too.",
            capabilities: Capabilities::WORKSPACE_WRITE,
            aliases: &["applyPatch"],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let (ledger, patch) = (Arc::clone(&ctx.files), arguments.patch.clone());
        blocking(ctx, move |_cancel| {
            Ok(action("patch", &make(&root, &protected, &ledger, &patch)?))
        })
        .await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, planned: &Action) -> ToolResult {
        let (root, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let (ledger, planned) = (Arc::clone(&ctx.files), planned.clone());
        blocking(ctx, move |cancel| {
            let workspace = Workspace::open(&root, &protected)?;
            carry_out(&workspace, &ledger, &planned, cancel, || {
                make(&root, &protected, &ledger, &arguments.patch)
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
    patch: &str,
) -> Result<Vec<Change>, ToolResult> {
    let files = parse(patch)?;
    if files.len() > MAX_FILES {
        let why = format!("patch: it has {} files; at most {MAX_FILES} are taken.", files.len());
        return Err(ToolResult::fatal("INVALID_PATCH", why));
    }
    let workspace = Workspace::open(root, protected)?;
    let mut changes: Vec<Change> = Vec::new();
    for file in &files {
        for change in changes_of(&workspace, ledger, file)? {
            if changes.iter().any(|other| other.target.path == change.target.path) {
                let told = change.target.told();
                let why = format!("patch: '{told}' is changed twice; give one part for each file.");
                return Err(ToolResult::fatal("INVALID_PATCH", why));
            }
            changes.push(change);
        }
    }
    Ok(changes)
}

fn changes_of(
    workspace: &Workspace<'_>,
    ledger: &FileLedger,
    file: &FilePatch<'_>,
) -> Result<Vec<Change>, ToolResult> {
    let known = |path: &str| -> Result<(Target, Vec<u8>), ToolResult> {
        let target = workspace.target(path)?;
        let Some(content) = target.content.clone() else {
            let why = format!("patch: there is no '{}' to change.", shown(path));
            return Err(ToolResult::fatal("NOT_FOUND", why));
        };
        check_known(ledger, &target)?;
        Ok((target, content))
    };
    let absent = |path: &str| -> Result<Target, ToolResult> {
        let target = workspace.target(path)?;
        if target.content.is_some() {
            let why = format!("patch: '{}' exists, and would be made.", target.told());
            return Err(ToolResult::fatal("FILE_EXISTS", why));
        }
        Ok(target)
    };
    let patched =
        |content: &[u8]| with_text(content, file.adds_ascii_only(), |text| file.apply(text));
    match (file.old, file.new) {
        (None, Some(new)) => {
            let mode = file.executable.then_some(0o755);
            let target = Target { mode, ..absent(new)? };
            Ok(vec![Change::to(target, Some(patched(b"")?))])
        }
        (Some(old), None) => {
            let (target, content) = known(old)?;
            if !patched(&content)?.is_empty() {
                let why = format!("patch: '{}' holds more than is removed.", target.told());
                return Err(ToolResult::fatal("INVALID_PATCH", why));
            }
            Ok(vec![Change::to(target, None)])
        }
        (Some(old), Some(new)) if old != new => {
            let (from, content) = known(old)?;
            let to = Target { mode: from.mode, ..absent(new)? };
            Ok(vec![Change::to(to, Some(patched(&content)?)), Change::to(from, None)])
        }
        (Some(path), Some(_)) => {
            let (target, content) = known(path)?;
            Ok(vec![Change::to(target, Some(patched(&content)?))])
        }
        (None, None) => Ok(Vec::new()),
    }
}
