//! Shows what a line of a session's summary was made from.

use agentd_engine::{ExpandedLine, ExpandedMessage};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ExpandSummaryRequest,
) -> Result<v1::ExpandSummaryResponse, Status> {
    let v1::ExpandSummaryRequest { session_id, line } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let expanded = ctx.engine.expand(id, line).await;
    let ExpandedLine { line, messages, truncated } =
        expanded.map_err(|error| status::from_command(&error))?;
    let message = |message: ExpandedMessage| {
        let ExpandedMessage { seq, at, who, text } = message;
        v1::ExpandedMessage { seq: seq.0, at_ms: at.0, who, text }
    };
    Ok(v1::ExpandSummaryResponse {
        line: Some(to_proto::summary_line(&line)),
        messages: messages.into_iter().map(message).collect(),
        truncated,
    })
}
