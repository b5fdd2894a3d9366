//! Sends a message so that a retry can never make two of it.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::client_ids::new_ulid;
use agentd_shared::{Client, ErrorKind, RpcError};

use crate::app::App;
use crate::cli::DeliveryChoice;

/// Pauses between attempts while the daemon is away.
const PAUSES_MS: [u64; 6] = [100, 200, 500, 1_000, 2_000, 4_000];

impl From<DeliveryChoice> for v1::Delivery {
    fn from(choice: DeliveryChoice) -> Self {
        match choice {
            DeliveryChoice::Queue => Self::Queue,
            DeliveryChoice::Steer => Self::Steer,
            DeliveryChoice::Interrupt => Self::Interrupt,
        }
    }
}

/// A message that is on its way.
#[derive(Debug)]
pub(crate) struct Outgoing {
    request: v1::SubmitMessageRequest,
}

impl Outgoing {
    /// Gives a message the id by which the daemon recognises a retry.
    pub(crate) fn new(app: &App, session_id: &str, text: &str, delivery: v1::Delivery) -> Self {
        Self {
            request: v1::SubmitMessageRequest {
                session_id: session_id.to_owned(),
                client_message_id: new_ulid(),
                text: text.to_owned(),
                delivery: delivery.into(),
                author: Some(app.author()),
            },
        }
    }

    /// The id by which our own message is known in the stream.
    pub(crate) fn client_message_id(&self) -> &str {
        &self.request.client_message_id
    }

    /// Sends it, again and again for some seconds while the daemon is away.
    ///
    /// # Errors
    /// What the last attempt failed with.
    pub(crate) async fn send(
        &self,
        app: &App,
        client: &Client,
    ) -> Result<v1::SubmitMessageResponse, RpcError> {
        let mut pauses = PAUSES_MS.into_iter().map(Duration::from_millis);
        loop {
            let error = match client.turn().submit_message(self.request.clone()).await {
                Ok(response) => return Ok(response.into_inner()),
                Err(status) => RpcError::from(status),
            };
            if error.kind() != ErrorKind::Unavailable {
                return Err(error);
            }
            let Some(pause) = pauses.next() else { return Err(error) };
            tokio::time::sleep(pause.max(error.retry_after.unwrap_or_default())).await;
            app.revive().await;
        }
    }
}

/// Creates a session in the directory where the user stands.
///
/// # Errors
/// What the daemon refuses it with.
pub(crate) async fn create_session(
    client: &Client,
    model: Option<&str>,
) -> Result<v1::Session, RpcError> {
    let workspace = std::env::current_dir()
        .ok()
        .and_then(|dir| dir.into_os_string().into_string().ok())
        .unwrap_or_default();
    let request = v1::CreateSessionRequest {
        session_id: new_ulid(),
        title: String::new(),
        workspace,
        model: model.unwrap_or_default().to_owned(),
    };
    let response = client.session().create_session(request).await?.into_inner();
    Ok(response.session.unwrap_or_default())
}
