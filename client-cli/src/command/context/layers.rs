//! What the next request of a session would hold, layer by layer.

use agentd_proto::v1;
use agentd_shared::format::context::{self, Bars};
use agentd_shared::{Client, ids};

use crate::app::{App, rpc_failure};
use crate::command::sessions;
use crate::exit::{Exit, Failure};
use crate::json::ContextView;

/// What bars are drawn with on the terminal at hand.
pub(crate) fn bars(app: &App) -> Bars {
    if app.output.is_dumb() { Bars::Ascii } else { Bars::Fine }
}

/// Shows what the requests of a session are made of.
pub(super) async fn run(session: &str, json: bool, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, session).await?;
    let found = fetch(&client, &session_id).await?;
    if json {
        app.output.json(&ContextView::from(&found))?;
        return Ok(Exit::Ok);
    }
    let detail = sessions::show::fetch(&client, &session_id).await?;
    let title = detail.session.unwrap_or_default().title;
    for line in context::lines(&found, &title, bars(app)) {
        app.output.line(&line)?;
    }
    Ok(Exit::Ok)
}

/// Asks the daemon.
///
/// # Errors
/// A report when there is no such session, or the daemon refuses.
pub(crate) async fn fetch(
    client: &Client,
    session_id: &str,
) -> Result<v1::GetContextResponse, Failure> {
    let request = v1::GetContextRequest { session_id: session_id.to_owned() };
    let answer = client.context().get_context(request).await;
    answer
        .map(tonic::Response::into_inner)
        .map_err(|status| rpc_failure("cannot tell what requests are made of", status))
}
