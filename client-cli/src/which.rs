//! The session that a command works in: a named one, the last one, or a new one.

use agentd_proto::v1;
use agentd_shared::Client;

use crate::app::rpc_failure;
use crate::cli::WhichSession;
use crate::exit::Failure;
use crate::{ids, submit};

/// A session to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// ULID.
    pub(crate) session_id: String,
    /// It was made for this command.
    pub(crate) is_new: bool,
}

/// Finds or creates the session that the options name, and sets its model when one is given.
///
/// # Errors
/// A report when there is no such session, or the daemon refuses.
pub(crate) async fn choose(
    client: &Client,
    author: v1::Author,
    which: &WhichSession,
    model: Option<&str>,
) -> Result<Chosen, Failure> {
    let found = match &which.session {
        Some(wanted) => Some(ids::resolve(client, wanted).await?),
        None if which.resume => ids::newest(client).await?.map(|session| session.session_id),
        None => None,
    };
    let Some(session_id) = found else { return create(client, model).await };
    if let Some(model) = model {
        set_model(client, author, &session_id, model).await?;
    }
    Ok(Chosen { session_id, is_new: false })
}

/// Creates a session.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn create(client: &Client, model: Option<&str>) -> Result<Chosen, Failure> {
    let session = submit::create_session(client, model)
        .await
        .map_err(|error| rpc_failure("cannot create a session", error))?;
    Ok(Chosen { session_id: session.session_id, is_new: true })
}

/// Sets the model of a session; empty for the daemon's default.
///
/// # Errors
/// A report when the daemon refuses.
pub(crate) async fn set_model(
    client: &Client,
    author: v1::Author,
    session_id: &str,
    model: &str,
) -> Result<(), Failure> {
    let request = v1::UpdateSessionRequest {
        effort: None,
        session_id: session_id.to_owned(),
        title: None,
        model: Some(model.to_owned()),
        author: Some(author),
    };
    let answer = client.session().update_session(request).await;
    answer.map(drop).map_err(|status| rpc_failure("cannot set the model", status))
}
