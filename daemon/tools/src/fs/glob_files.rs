//! Finding files by their names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::scope::Names;
use super::walk::{Found, Walk};
use super::workspace::{Workspace, told};
use super::{Protected, blocking, searching, shown};
use crate::run::interrupted;
use crate::{About, ToolContext, TypedTool};

/// Most files that are shown.
const MAX_FILES: usize = 500;

/// Longest list in bytes; see `MAX_PAGE` of read_file.
const MAX_BYTES: usize = 48 * 1024;

/// Arguments of glob_files.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Such as `src/**/*.rs`; without a '/' it fits names at any depth.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// Where to begin; left out: the workspace.
    path: Option<String>,
    #[serde(default)]
    include_hidden: bool,
    /// What .gitignore names too.
    #[serde(default)]
    include_ignored: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct GlobFiles {
    pub(crate) protected: Protected,
}

#[async_trait]
impl TypedTool for GlobFiles {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "glob_files",
            description: "Finds files of the workspace by their paths. Notes in brackets tell what was \
                          left out.",
            // A tree has no version that is cheap to know, so an answer is not given twice.
            capabilities: Capabilities { cacheable: false, ..Capabilities::WORKSPACE_READ },
            aliases: &["glob"],
        }
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Arguments) -> Result<Action, ToolResult> {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        let arguments = arguments.clone();
        blocking(ctx, move |_cancel| {
            let names = Names::read(arguments.path.as_deref(), Some(&arguments.pattern), None)?;
            let (_dir, place) = Workspace::open(&workspace, &protected)?.open_dir(&names.base)?;
            Ok(Action::read(format!("find files {}", shown(&arguments.pattern)), [told(&place)]))
        })
        .await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        let (workspace, protected) = (ctx.workspace.clone(), self.protected.for_call(ctx));
        searching(ctx, move |cancel, enough| {
            glob(&workspace, &protected, &arguments, cancel, enough)
        })
        .await
    }
}

/// The first files by name, and how many there are.
#[derive(Default)]
struct Hits {
    files: BTreeSet<PathBuf>,
    total: u64,
}

fn glob(
    root: &Path,
    protected: &Protected,
    arguments: &Arguments,
    cancel: &CancellationToken,
    enough: &CancellationToken,
) -> Result<ToolResult, ToolResult> {
    let names = Names::read(arguments.path.as_deref(), Some(&arguments.pattern), None)?;
    let workspace = Workspace::open(root, protected)?;
    let (_dir, base) = workspace.open_dir(&names.base)?;
    let walk = Walk {
        base: &base,
        hidden: arguments.include_hidden,
        dots: &names.dots,
        ignored: arguments.include_ignored,
        stop: enough,
    };
    let hits = Mutex::new(Hits::default());
    let skipped = walk.run(&workspace, &|file: &Found<'_>, _skipped| {
        if names.fit(file) {
            let mut hits = hits.lock().unwrap_or_else(PoisonError::into_inner);
            hits.total += 1;
            hits.files.insert(file.place.to_owned());
            if hits.files.len() > MAX_FILES {
                hits.files.pop_last();
            }
        }
    });
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    let hits = hits.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut output = String::new();
    let mut count = 0_u64;
    for file in &hits.files {
        let line = shown(&file.to_string_lossy());
        if output.len() + line.len() >= MAX_BYTES {
            break;
        }
        output.push_str(&line);
        output.push('\n');
        count += 1;
    }
    let mut notes = Vec::new();
    if hits.total == 0 {
        notes.push(format!("[No file fits below '{}'.]", shown(&told(&base))));
    } else if count < hits.total {
        notes.push(format!(
            "[{count} of {} files are shown; a narrower pattern or a path shows others.]",
            hits.total
        ));
    }
    notes.extend(skipped.notes());
    Ok(super::search_result(output, notes, hits.total, &skipped, enough))
}
