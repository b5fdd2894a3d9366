//! Makes a token useless and closes what uses it.

use std::sync::Arc;

use agentd_proto::v1;
use tonic::Status;

use super::blocking;
use crate::grpc::Context;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::RevokeTokenRequest,
) -> Result<v1::RevokeTokenResponse, Status> {
    let remote = Arc::clone(&ctx.remote);
    blocking(move || {
        remote.tokens.revoke(&request.token_id)?;
        // Here, so that it happens although the client may leave.
        remote.connections.close_where(|token| token != request.token_id);
        Ok(())
    })
    .await?;
    Ok(v1::RevokeTokenResponse {})
}
