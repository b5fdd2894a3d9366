//! `agentctl context compact`: folding now.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::notes;
use agentd_shared::{Client, ids, with_deadline};
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::CompactView;

/// Longest wait: a model may write the summary.
const PATIENCE: Duration = Duration::from_secs(180);

/// Options of `context compact`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompactArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Folds the older turns of a session.
pub(super) async fn run(args: &CompactArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let done = compact(&client, &session_id).await?;
    if args.json {
        app.output.json(&CompactView::from(&done))?;
    } else {
        app.output.line(&line(&done))?;
    }
    Ok(Exit::Ok)
}

/// Asks the daemon to fold.
///
/// # Errors
/// A report when there is no such session, a turn runs, or the daemon refuses.
pub(crate) async fn compact(
    client: &Client,
    session_id: &str,
) -> Result<v1::CompactContextResponse, Failure> {
    let request = v1::CompactContextRequest { session_id: session_id.to_owned() };
    let answer = client.context().compact_context(with_deadline(request, PATIENCE)).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot fold the older turns", status))
}

/// What came of it, in a line.
pub(crate) fn line(done: &v1::CompactContextResponse) -> String {
    if let Some(compacted) = &done.compacted {
        return notes::compacted(compacted);
    }
    let why = agentd_shared::text::one_line(&done.why_not, 200);
    format!("◆ nothing was folded: {why}")
}
