//! Tools on the files of the workspace.
//!
//! All of them open files through [`workspace::Workspace`], a handle of the directory: a path is
//! never checked as text and then used, so nothing can be swapped in between.

pub(crate) mod apply_patch;
mod change;
mod changes;
mod copies;
mod diff;
mod document;
pub(crate) mod edit_file;
mod edit_text;
mod excerpt;
pub(crate) mod glob_files;
pub(crate) mod grep_files;
mod hits;
mod ignored;
mod ledger;
pub(crate) mod list_dir;
mod matching;
mod net_diff;
mod patch;
mod protected;
pub(crate) mod read_file;
mod root;
mod save;
mod scope;
mod skipped;
mod syntax;
pub(crate) mod undo_edit;
mod walk;
mod workspace;
pub(crate) mod write_file;

use std::fs::{File, Metadata};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use agentd_domain::{Action, ActionTarget, ToolResult, ToolStatus};
use tokio_util::sync::CancellationToken;

pub use changes::{ChangedFile, FileChange, FileChanges};
pub use copies::{CopyLimits, UndoCopies};
pub use document::WorkspaceDocument;
pub(crate) use document::first_document;
pub use ledger::FileLedger;
pub use net_diff::NetDiff;
pub(crate) use net_diff::net_diffs;
pub(crate) use protected::Protected;
pub use save::sha256;
pub(crate) use workspace::{OpenedFile, version};

use crate::ToolContext;
use crate::run::interrupted;

/// Runs blocking work on files. Its token is cancelled when the turn is, and when the call is
/// dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    ctx: &ToolContext,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolResult> + Send + 'static,
) -> Result<T, ToolResult> {
    let cancel = ctx.cancel.child_token();
    let _stop = cancel.clone().drop_guard();
    match tokio::task::spawn_blocking(move || work(&cancel)).await {
        Ok(result) => result,
        // The caller of tools turns it into a result.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_runtime_stops) => Err(interrupted()),
    }
}

/// How long a search goes on. It is less than a call may take, so that what was found is told.
const SEARCH_TIME: Duration = Duration::from_secs(20);

/// Runs a search. Its second token is cancelled when it has gone on for long enough.
async fn searching(
    ctx: &ToolContext,
    work: impl FnOnce(&CancellationToken, &CancellationToken) -> Result<ToolResult, ToolResult>
    + Send
    + 'static,
) -> ToolResult {
    let enough = ctx.cancel.child_token();
    let _stop = enough.clone().drop_guard();
    let token = enough.clone();
    let mut work = pin!(blocking(ctx, move |cancel| work(cancel, &token)));
    let result = tokio::select! {
        biased;
        result = &mut work => result,
        () = tokio::time::sleep(SEARCH_TIME) => {
            enough.cancel();
            work.await
        }
    };
    result.unwrap_or_else(|refusal| refusal)
}

/// The result of a search that found `found` things.
fn search_result(
    mut output: String,
    mut notes: Vec<String>,
    found: u64,
    skipped: &skipped::Skipped,
    enough: &CancellationToken,
) -> ToolResult {
    if enough.is_cancelled() {
        notes.push(format!(
            "[The search was stopped after {} s; a path or a narrower pattern makes it shorter.]",
            SEARCH_TIME.as_secs()
        ));
    }
    output.push_str(&notes.join("\n"));
    if enough.is_cancelled() {
        ToolResult::partial("SEARCH_STOPPED", output)
    } else if skipped.unreadable > 0 && found > 0 {
        ToolResult::partial("IO_ERROR", output)
    } else if skipped.unreadable > 0 {
        ToolResult::fatal("IO_ERROR", output)
    } else if found == 0 {
        ToolResult::new(ToolStatus::Empty, output, "")
    } else {
        ToolResult::success(output)
    }
}

/// Bytes in hex.
fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
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

/// A path as it is told to a program that starts in the root of the workspace. Links are not looked
/// at, nor need it be there; `.` and `..` are worked out.
///
/// # Errors
/// The result of the call, when it leads elsewhere or is that of secrets.
pub(crate) fn relative_place(
    root: &Path,
    protected: &Protected,
    path: &str,
) -> Result<String, ToolResult> {
    let place = workspace::Workspace::open(root, protected)?.lexical(path)?;
    place.to_str().map(str::to_owned).ok_or_else(|| {
        ToolResult::fatal("INVALID_PATH", "The path is not text, so no program can be told of it.")
    })
}

/// True for files that hold secrets, by their names or those of their directories.
pub(crate) fn is_secret_place(place: &Path) -> bool {
    protected::check_names(place).is_err()
}

/// Names in a directory of the workspace `root`, `limit` at most, and where it really is.
pub(crate) fn names_in(
    root: &Path,
    protected: &Protected,
    path: &str,
    limit: usize,
) -> Result<(Vec<String>, ActionTarget), ToolResult> {
    let (dir, place) = workspace::Workspace::open(root, protected)?.open_dir(path)?;
    let entries = dir.entries().map_err(|error| {
        ToolResult::retryable("IO_ERROR", format!("'{}' cannot be listed: {error}.", shown(path)))
    })?;
    let names = entries.take(limit).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok((names.collect(), ActionTarget::Read { path: workspace::told(&place), version: None }))
}

/// What a call will do that reads a file: where the file really is, and which state of it was there.
///
/// # Errors
/// The result of the call, when it cannot be opened.
pub(crate) async fn planned_read(
    ctx: &ToolContext,
    protected: &Protected,
    path: &str,
    summary: String,
) -> Result<Action, ToolResult> {
    let (root, protected, path) = (ctx.workspace.clone(), protected.for_call(ctx), path.to_owned());
    blocking(ctx, move |_cancel| {
        let opened = open_plain_file(&root, &protected, &path)?;
        Ok(Action { summary, targets: vec![opened.target()] })
    })
    .await
}

/// Opens a plain file of the workspace `root` for reading, for tools of other categories.
pub(crate) fn open_file(
    root: &Path,
    protected: &Protected,
    path: &str,
) -> Result<(File, Metadata), ToolResult> {
    let opened = open_plain_file(root, protected, path)?;
    Ok((opened.file, opened.metadata))
}

/// The same, with the place where it really is.
pub(crate) fn open_plain_file(
    root: &Path,
    protected: &Protected,
    path: &str,
) -> Result<OpenedFile, ToolResult> {
    workspace::Workspace::open(root, protected)?.open_file(path)
}
