//! Listing a directory.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use agentd_domain::{Action, ActionTarget, Capabilities, ToolResult};
use async_trait::async_trait;
use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::workspace::{Workspace, told, version};
use super::{Protected, blocking, shown};
use crate::run::interrupted;
use crate::{About, ToolContext, TypedTool};

/// Most entries that are shown.
const MAX_ENTRIES: usize = 500;

/// Arguments of list_dir.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Left out: the workspace.
    path: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct ListDir {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for ListDir {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "list_dir",
            description: "Lists a directory of the workspace with sizes of files and targets of links.",
            capabilities: Capabilities::WORKSPACE_READ,
            aliases: &[],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let path = arguments.path.clone().unwrap_or_else(|| ".".to_owned());
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        blocking(ctx, move |_cancel| {
            let (dir, place) = Workspace::open(&workspace, &protected)?.open_dir(&path)?;
            // It changes with the names in it, not with the files that they name.
            let version = dir.into_std_file().metadata().ok().as_ref().map(version);
            let target = ActionTarget::Read { path: told(&place), version };
            Ok(Action { summary: format!("list {}", shown(&path)), targets: vec![target] })
        })
        .await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let path = arguments.path.unwrap_or_else(|| ".".to_owned());
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        blocking(ctx, move |cancel| list(&workspace, &protected, &path, cancel))
            .await
            .unwrap_or_else(|refusal| refusal)
    }
}

fn list(
    root: &Path,
    protected: &Protected,
    path: &str,
    cancel: &CancellationToken,
) -> Result<ToolResult, ToolResult> {
    let (dir, _place) = Workspace::open(root, protected)?.open_dir(path)?;
    let unreadable = |error: io::Error| {
        ToolResult::retryable("IO_ERROR", format!("The directory cannot be read on: {error}."))
    };
    // Only the names that will be shown are kept, however many there are.
    let mut names = BTreeSet::new();
    let mut total = 0_usize;
    for entry in dir.entries().map_err(unreadable)? {
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        names.insert(entry.map_err(unreadable)?.file_name());
        total += 1;
        if names.len() > MAX_ENTRIES {
            names.pop_last();
        }
    }
    if total == 0 {
        return Ok(ToolResult::empty("[The directory is empty.]"));
    }
    let mut lines: Vec<String> = names.iter().map(|name| describe(&dir, Path::new(name))).collect();
    if let Some(more @ 1..) = total.checked_sub(names.len()) {
        lines.push(format!("[{more} more of {total} entries are not shown.]"));
    }
    Ok(ToolResult::success(lines.join("\n")))
}

fn describe(dir: &Dir, name: &Path) -> String {
    let text = shown(&name.to_string_lossy());
    let Ok(metadata) = dir.symlink_metadata(name) else {
        // It may have gone since it was listed.
        return format!("{text}  (unreadable)");
    };
    if metadata.is_dir() {
        format!("{text}/")
    } else if metadata.is_symlink() {
        match dir.read_link_contents(name) {
            Ok(target) => format!("{text} -> {}", shown(&target.to_string_lossy())),
            Err(_) => format!("{text}  (link)"),
        }
    } else if metadata.is_file() {
        format!("{text}  {} bytes", metadata.len())
    } else {
        format!("{text}  (device, pipe or socket)")
    }
}
