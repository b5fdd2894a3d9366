//! Lists tokens without their texts.

use agentd_proto::v1;

use super::token;
use crate::grpc::Context;

pub(super) fn handle(ctx: &Context) -> v1::ListTokensResponse {
    v1::ListTokensResponse { tokens: ctx.remote.tokens.list().into_iter().map(token).collect() }
}
