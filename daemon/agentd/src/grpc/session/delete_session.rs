//! Removes a session.

use agentd_engine::CommandError;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::DeleteSessionRequest,
) -> Result<v1::DeleteSessionResponse, Status> {
    let v1::DeleteSessionRequest { session_id } = request;
    let id = from_proto::id("session_id", &session_id)?;
    match ctx.engine.delete(id).await {
        // Somebody else deleted it at the same moment.
        Ok(()) | Err(CommandError::Deleted(_)) => Ok(v1::DeleteSessionResponse {}),
        Err(error) => Err(status::from_command(&error)),
    }
}
