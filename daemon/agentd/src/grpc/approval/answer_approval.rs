//! Says whether a call may run.

use agentd_domain::{ApprovalScope, ErrorKind};
use agentd_engine::ApprovalAnswer;
use agentd_proto::v1;
use tonic::Status;

use crate::access::Scope;
use crate::grpc::{Context, caller, from_proto, status};

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
    // As for rules that are made in another way: they hold for the turns of others too.
    if answer.scope == ApprovalScope::Workspace && !caller::may(Scope::Admin) {
        return Err(status::error(
            ErrorKind::Denied,
            "a rule of the workspace needs a token of the scope admin",
            "allow it once, or in this session",
            Some("scope"),
        ));
    }
    let seq = ctx
        .engine
        .answer_approval(id, answer)
        .await
        .map_err(|error| status::from_command(&error))?;
    Ok(v1::AnswerApprovalResponse { seq: seq.0 })
}
