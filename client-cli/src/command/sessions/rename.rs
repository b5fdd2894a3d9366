//! `agentctl sessions rename`.

use agentd_proto::v1;
use agentd_shared::{Client, ids};
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::SessionView;

/// Options of `sessions rename`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RenameArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// The title; several words are joined by spaces
    #[arg(value_name = "TITLE", required = true)]
    pub(crate) title: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Gives a session a title.
pub(super) async fn run(args: &RenameArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let title = args.title.join(" ");
    let session = rename(&client, app.author(), &session_id, &title).await?;
    if args.json {
        app.output.json(&SessionView::from(&session))?;
        return Ok(Exit::Ok);
    }
    app.output.note(&format!("{} is \"{title}\" now", ids::short(&session_id)));
    Ok(Exit::Ok)
}

/// Sets the title.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn rename(
    client: &Client,
    author: v1::Author,
    session_id: &str,
    title: &str,
) -> Result<v1::Session, Failure> {
    let request = v1::UpdateSessionRequest {
        effort: None,
        permission_mode: None,
        work_mode: None,
        session_id: session_id.to_owned(),
        title: Some(title.to_owned()),
        model: None,
        author: Some(author),
    };
    let answer = client.session().update_session(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot set the title", status))?;
    Ok(answer.into_inner().session.unwrap_or_default())
}
