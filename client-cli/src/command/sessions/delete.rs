//! `agentctl sessions delete`.

use agentd_proto::v1;
use agentd_shared::ids;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::json::DeletedView;

/// Options of `sessions delete`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DeleteArgs {
    /// Sessions by id, or by a unique beginning, such as lists show
    #[arg(value_name = "ID", required = true)]
    pub(crate) sessions: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Columns of a title in the question.
const SHOWN_TITLE: usize = 44;

/// Removes sessions. All ids are looked up before the first is removed.
pub(super) async fn run(args: &DeleteArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let mut session_ids = Vec::new();
    for wanted in &args.sessions {
        let session_id = ids::resolve(&client, wanted).await?;
        if !session_ids.contains(&session_id) {
            let shown = super::show::fetch(&client, &session_id).await?;
            let title = super::list::title(&shown.session.unwrap_or_default(), SHOWN_TITLE);
            app.output.note(&format!("  {session_id}  {title}"));
            session_ids.push(session_id);
        }
    }
    let noun = if session_ids.len() == 1 { "this session" } else { "these sessions" };
    if !args.yes && !confirm(app, "deleting", &format!("Delete {noun} for good?")).await? {
        app.output.note("nothing was deleted");
        return Ok(Exit::Failed);
    }
    for session_id in &session_ids {
        let request = v1::DeleteSessionRequest { session_id: session_id.clone() };
        let answer = client.session().delete_session(request).await;
        answer.map_err(|status| rpc_failure(&format!("cannot delete {session_id}"), status))?;
        app.output.note(&format!("deleted {session_id}"));
    }
    if args.json {
        app.output.json(&DeletedView { deleted_session_ids: &session_ids })?;
    }
    Ok(Exit::Ok)
}
