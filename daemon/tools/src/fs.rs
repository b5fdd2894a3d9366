//! Tools on the files of the workspace.
//!
//! All of them open files through [`workspace::Workspace`], a handle of the directory: a path is
//! never checked as text and then used, so nothing can be swapped in between.

pub(crate) mod list_dir;
mod protected;
pub(crate) mod read_file;
mod workspace;

use std::fs::{File, Metadata};
use std::path::Path;

use agentd_domain::ToolResult;
use tokio_util::sync::CancellationToken;

pub(crate) use protected::Protected;

use crate::ToolContext;
use crate::run::interrupted;

/// Runs blocking work on files. Its token is cancelled when the turn is, and when the call is
/// dropped.
pub(crate) async fn blocking(
    ctx: &ToolContext,
    work: impl FnOnce(&CancellationToken) -> ToolResult + Send + 'static,
) -> ToolResult {
    let cancel = ctx.cancel.child_token();
    let _stop = cancel.clone().drop_guard();
    match tokio::task::spawn_blocking(move || work(&cancel)).await {
        Ok(result) => result,
        // The caller of tools turns it into a result.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_runtime_stops) => interrupted(),
    }
}

/// A name as it can be shown on one line: control and direction characters become escapes.
pub(crate) fn shown(name: &str) -> String {
    name.chars().fold(String::new(), |mut shown, c| {
        let turns_direction = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns_direction {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
        shown
    })
}

/// Opens a plain file of the workspace `root` for reading, for tools of other categories.
pub(crate) fn open_file(
    root: &Path,
    protected: &Protected,
    path: &str,
) -> Result<(File, Metadata), ToolResult> {
    workspace::Workspace::open(root, protected)?.open_file(path)
}
