//! Cancels the running or suspended turn.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::InterruptTurnRequest,
) -> Result<v1::InterruptTurnResponse, Status> {
    let v1::InterruptTurnRequest { session_id, turn_id, author } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let turn_id = from_proto::optional_id("turn_id", &turn_id)?;
    let by = from_proto::author("author", author.as_ref())?;
    let interrupted = ctx
        .engine
        .interrupt(id, turn_id, by)
        .await
        .map_err(|error| status::from_command(&error))?;
    Ok(v1::InterruptTurnResponse { interrupted })
}
