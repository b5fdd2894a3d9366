//! Runs one command to its end.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::{Client, RpcError, with_deadline};

use super::{Command, Reply};

/// Longest wait for anything but a message.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pauses between attempts to send a message while the daemon is away or busy.
const PAUSES: [Duration; 6] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// Runs a command. What goes wrong is a reply too.
pub(super) async fn execute(client: &Client, command: Command) -> Reply {
    match call(client, command.clone()).await {
        Ok(reply) => reply,
        Err(error) => Reply::Failed { command: Box::new(command), error },
    }
}

async fn call(client: &Client, command: Command) -> Result<Reply, RpcError> {
    let reply = match command {
        Command::Submit(request) => Reply::Submitted(submit(client, request).await?),
        Command::Interrupt(request) => {
            let answer = client.turn().interrupt_turn(with_deadline(request, PATIENCE)).await?;
            Reply::Interrupted(answer.get_ref().interrupted)
        }
        Command::AnswerQuestion(request) => {
            client.turn().answer_question(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::AnswerApproval(request) => {
            client.approval().answer_approval(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::Withdraw(request) => {
            client.turn().withdraw_message(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::UpdateSession(request) => {
            client.session().update_session(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::CreateSession(request) => {
            let made = client.session().create_session(with_deadline(request, PATIENCE)).await?;
            Reply::Created(Box::new(made.into_inner().session.unwrap_or_default()))
        }
        Command::DeleteSession(request) => {
            let session_id = request.session_id.clone();
            client.session().delete_session(with_deadline(request, PATIENCE)).await?;
            Reply::Deleted { session_id }
        }
        Command::SetReadCursor(request) => {
            client.event().set_read_cursor(with_deadline(request, PATIENCE)).await?;
            Reply::Done
        }
        Command::ListSessions(request) => {
            let page = client.session().list_sessions(with_deadline(request, PATIENCE)).await?;
            Reply::Sessions(page.into_inner().sessions)
        }
        Command::GetSession(request) => {
            let found = client.session().get_session(with_deadline(request, PATIENCE)).await?;
            Reply::Session(Box::new(found.into_inner()))
        }
        Command::ListModels(request) => {
            let models = client.model().list_models(with_deadline(request, PATIENCE)).await?;
            Reply::Models(models.into_inner())
        }
        Command::GetStatus => {
            let request = with_deadline(v1::GetStatusRequest::default(), PATIENCE);
            let status = client.admin().get_status(request).await?;
            Reply::Status(Box::new(status.into_inner()))
        }
    };
    Ok(reply)
}

/// Sends a message, again and again for some seconds while nobody takes it. Its id makes it one.
async fn submit(
    client: &Client,
    request: v1::SubmitMessageRequest,
) -> Result<v1::SubmitMessageResponse, RpcError> {
    let mut pauses = PAUSES.into_iter();
    loop {
        let error = match client.turn().submit_message(request.clone()).await {
            Ok(response) => return Ok(response.into_inner()),
            Err(status) => RpcError::from(status),
        };
        let asked = error.retry_after.filter(|asked| *asked < PATIENCE);
        let Some(pause) = pauses.next().filter(|_| error.is_outage() || asked.is_some()) else {
            return Err(error);
        };
        tokio::time::sleep(pause.max(asked.unwrap_or_default())).await;
    }
}
