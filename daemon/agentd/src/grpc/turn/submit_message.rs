//! Accepts a user message durably.

use std::time::Duration;

use agentd_engine::Submission;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::SubmitMessageRequest,
) -> Result<v1::SubmitMessageResponse, Status> {
    let v1::SubmitMessageRequest {
        session_id,
        client_message_id,
        text,
        delivery,
        author,
        priority,
        ttl_ms,
    } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let submission = Submission {
        client_message_id: from_proto::id("client_message_id", &client_message_id)?,
        text,
        delivery: from_proto::delivery("delivery", delivery)?,
        author: from_proto::author("author", author.as_ref())?,
        priority: from_proto::priority("priority", priority)?,
        ttl: (ttl_ms > 0).then(|| Duration::from_millis(ttl_ms)),
    };
    let submitted =
        ctx.engine.submit(id, submission).await.map_err(|error| status::from_command(&error))?;
    Ok(v1::SubmitMessageResponse {
        item_id: submitted.item_id.to_string(),
        seq: submitted.seq.0,
        queue_position: to_proto::small(submitted.queue_position),
        duplicate: submitted.duplicate,
    })
}
