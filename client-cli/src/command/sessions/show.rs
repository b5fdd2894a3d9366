//! `agentctl sessions show`.

use agentd_proto::v1;
use agentd_shared::format::facts::Fact;
use agentd_shared::format::session;
use agentd_shared::{Client, ids};
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::DetailView;

/// Options of `sessions show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows one session.
pub(super) async fn run(args: &ShowArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let detail = fetch(&client, &session_id).await?;
    if args.json {
        app.output.json(&DetailView::from(&detail))?;
    } else {
        for line in lines(&detail) {
            app.output.foreign_line(&line)?;
        }
    }
    Ok(Exit::Ok)
}

/// Asks for a session.
///
/// # Errors
/// A report when there is none, or the daemon refuses.
pub(crate) async fn fetch(
    client: &Client,
    session_id: &str,
) -> Result<v1::GetSessionResponse, Failure> {
    let request = v1::GetSessionRequest { session_id: session_id.to_owned() };
    let answer = client.session().get_session(request).await;
    answer.map(tonic::Response::into_inner).map_err(|status| {
        rpc_failure(&format!("cannot read session {}", ids::short(session_id)), status)
    })
}

/// A session as lines for people. They hold foreign text.
pub(crate) fn lines(detail: &v1::GetSessionResponse) -> Vec<String> {
    let facts = session::facts(detail).into_iter();
    let line = |fact: Fact| format!("{}{}", fact.padded_label(session::LABEL_WIDTH), fact.text);
    facts.map(line).collect()
}
