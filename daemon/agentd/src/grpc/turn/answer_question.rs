//! Answers an open question.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::AnswerQuestionRequest,
) -> Result<v1::AnswerQuestionResponse, Status> {
    let v1::AnswerQuestionRequest { session_id, question_id, choice, author } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let question_id = from_proto::id("question_id", &question_id)?;
    let by = from_proto::author("author", author.as_ref())?;
    let seq = ctx
        .engine
        .answer(id, question_id, &choice, by)
        .await
        .map_err(|error| status::from_command(&error))?;
    Ok(v1::AnswerQuestionResponse { seq: seq.0 })
}
