//! Unpins a text of a session.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::UnpinTextRequest,
) -> Result<v1::UnpinTextResponse, Status> {
    let v1::UnpinTextRequest { session_id, number, author } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let by = from_proto::author("author", author.as_ref())?;
    let pins = ctx.engine.unpin(id, number, by).await;
    Ok(v1::UnpinTextResponse { pins: pins.map_err(|error| status::from_command(&error))? })
}
