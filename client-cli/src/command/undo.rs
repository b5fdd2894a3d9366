//! `agentctl undo`: takes back a change of files that a session's tools have made.

use agentd_proto::v1::run_tool_request::Place;
use agentd_shared::ids;
use clap::Args;

use super::tools;
use crate::app::App;
use crate::by_hand::Call;
use crate::exit::{Exit, Failure};
use crate::terminal_audience::TerminalAudience;

/// The tool that does it.
const TOOL: &str = "undo_edit";

/// Options of `undo`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UndoArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    session: String,
    /// Number of the change, as `agentctl diff` shows it; without it the last one
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    change: Option<u64>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Print the steps as JSON Lines
    #[arg(long)]
    json: bool,
}

/// Takes a change back.
pub(super) async fn run(args: &UndoArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let call = call(session_id, args.change, app);
    let audience = TerminalAudience::new(app, args.yes, args.json).telling_plan();
    tools::make(app, &client, &call, audience).await
}

/// The call that takes a change of a session back.
pub(crate) fn call(session_id: String, change: Option<u64>, app: &App) -> Call {
    let arguments_json = match change {
        Some(number) => format!("{{\"change\":{number}}}"),
        None => "{}".to_owned(),
    };
    Call {
        place: Place::SessionId(session_id),
        tool: TOOL.to_owned(),
        arguments_json,
        author: app.author(),
    }
}
