//! Returns one session with its queue and open questions.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::GetSessionRequest,
) -> Result<v1::GetSessionResponse, Status> {
    let v1::GetSessionRequest { session_id } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let view = ctx.engine.view(id).await.map_err(|error| status::from_command(&error))?;
    Ok(v1::GetSessionResponse {
        session: Some(to_proto::view(&view)),
        queue: view.queue.iter().map(to_proto::queued_message).collect(),
        open_questions: view.open_questions.iter().map(to_proto::question_asked).collect(),
        todo: Some(to_proto::todo_list(&view.todo)),
        plan: Some(to_proto::plan(&view.plan)),
        open_approvals: view.open_approvals.iter().map(to_proto::approval_requested).collect(),
        participants: view.participants.iter().map(to_proto::participant).collect(),
    })
}
