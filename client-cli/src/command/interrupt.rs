//! `agentctl interrupt`: ends the turn that runs in a session.

use agentd_proto::v1;
use agentd_shared::{ids, with_deadline};
use clap::Args;
use std::time::Duration;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::InterruptedView;

/// Options of `interrupt`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InterruptArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    session: String,
    /// Only if it is this turn, by its whole id
    #[arg(long, value_name = "TURN", default_value = "", hide_default_value = true)]
    turn: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The daemon answers when the turn has ended; a tool may take a moment to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends the turn.
pub(super) async fn run(args: &InterruptArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let request = v1::InterruptTurnRequest {
        session_id: session_id.clone(),
        turn_id: args.turn.clone(),
        author: Some(app.author()),
    };
    let answer = client.turn().interrupt_turn(with_deadline(request, PATIENCE)).await;
    let answer = answer.map_err(|status| rpc_failure("cannot interrupt the turn", status))?;
    let interrupted = answer.into_inner().interrupted;
    if args.json {
        app.output.json(&InterruptedView { session_id: &session_id, interrupted })?;
    } else {
        let what = if interrupted { "interrupted" } else { "no turn runs" };
        app.output.note(what);
    }
    Ok(Exit::Ok)
}
