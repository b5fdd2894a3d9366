//! Pins a text in a session.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::PinTextRequest,
) -> Result<v1::PinTextResponse, Status> {
    let v1::PinTextRequest { session_id, text, author } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let by = from_proto::author("author", author.as_ref())?;
    let pins = ctx.engine.pin(id, text, by).await;
    Ok(v1::PinTextResponse { pins: pins.map_err(|error| status::from_command(&error))? })
}
