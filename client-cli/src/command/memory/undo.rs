//! `agentctl memory undo`.

use agentd_proto::v1;
use clap::Args;

use super::table::line;
use super::why;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::MemoryChangeView;

/// Columns of the text in what is said about it.
const TEXT_WIDTH: usize = 70;

/// Options of `memory undo`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UndoArgs {
    /// The change, by its whole id as `memory why` shows it; without: the last that somebody made
    #[arg(value_name = "CHANGE")]
    change: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Takes a change back.
pub(super) async fn run(args: &UndoArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let change_id = if let Some(change_id) = &args.change {
        change_id.clone()
    } else {
        // Named, so that what is taken back is what was the last when the command began.
        let stats = client.memory().get_memory_stats(v1::GetMemoryStatsRequest {}).await;
        let stats = stats.map_err(|status| rpc_failure("cannot find the change", status))?;
        let undoable = stats.into_inner().undoable.ok_or_else(|| {
            Failure::new(Exit::NotFound, "there is no change of memories to take back")
        })?;
        undoable.change_id
    };
    let request = v1::UndoMemoryChangeRequest { change_id, author: Some(app.author()) };
    let answer = client.memory().undo_memory_change(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot take the change back", status))?;
    let change = answer.into_inner().change.unwrap_or_default();
    if args.json {
        app.output.json(&MemoryChangeView::from(&change))?;
        return Ok(Exit::Ok);
    }
    app.output.note("taken back:");
    for text in why::change(&change) {
        app.output.note(&text);
    }
    for edit in &change.edits {
        if let Some(memory) = edit.before.as_ref().or(edit.after.as_ref()) {
            app.output.line(&line(memory, TEXT_WIDTH))?;
        }
    }
    Ok(Exit::Ok)
}
