//! Takes back a queued message.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::WithdrawMessageRequest,
) -> Result<v1::WithdrawMessageResponse, Status> {
    let v1::WithdrawMessageRequest { session_id, item_id, author } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let item_id = from_proto::id("item_id", &item_id)?;
    let by = from_proto::author("author", author.as_ref())?;
    let seq =
        ctx.engine.withdraw(id, item_id, by).await.map_err(|error| status::from_command(&error))?;
    Ok(v1::WithdrawMessageResponse { seq: seq.0 })
}
