//! `agentctl sessions fork`.

use agentd_proto::v1;
use agentd_shared::client_ids::new_ulid;
use agentd_shared::ids;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::SessionView;

/// Options of `sessions fork`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ForkArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Last event to copy; without it: up to the end of the last finished turn
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at: Option<u64>,
    /// Title of the copy
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Copies a session.
pub(super) async fn run(args: &ForkArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let request = v1::ForkSessionRequest {
        session_id,
        new_session_id: new_ulid(),
        up_to_seq: args.at.unwrap_or(0),
        title: args.title.clone().unwrap_or_default(),
        author: Some(app.author()),
    };
    let answer = client.session().fork_session(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot copy the session", status))?;
    let session = answer.into_inner().session.unwrap_or_default();
    if args.json {
        app.output.json(&SessionView::from(&session))?;
    } else {
        app.output.line(&session.session_id)?;
    }
    Ok(Exit::Ok)
}
