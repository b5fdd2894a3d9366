//! Says whether a call may run.

use agentd_engine::ApprovalAnswer;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::AnswerApprovalRequest,
) -> Result<v1::AnswerApprovalResponse, Status> {
    let v1::AnswerApprovalRequest { session_id, approval_id, decision, scope, reason, author } =
        request;
    let id = from_proto::id("session_id", &session_id)?;
    let answer = ApprovalAnswer {
        approval_id: from_proto::id("approval_id", &approval_id)?,
        allow: from_proto::approval_decision("decision", decision)?,
        scope: from_proto::approval_scope("scope", scope)?,
        reason,
        by: from_proto::author("author", author.as_ref())?,
    };
    let seq = ctx
        .engine
        .answer_approval(id, answer)
        .await
        .map_err(|error| status::from_command(&error))?;
    Ok(v1::AnswerApprovalResponse { seq: seq.0 })
}
