//! Lists tokens without their texts.

use agentd_proto::v1;

use tonic::Status;

use super::{refused, token};
use crate::grpc::Context;

pub(super) fn handle(ctx: &Context) -> Result<v1::ListTokensResponse, Status> {
    let tokens = &ctx.remote.tokens;
    tokens.check_usable().map_err(|error| refused(&error))?;
    Ok(v1::ListTokensResponse { tokens: tokens.list().into_iter().map(token).collect() })
}
