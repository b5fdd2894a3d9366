//! Stops the daemon in an orderly way.

use agentd_proto::v1;

use crate::grpc::Context;

pub(super) fn handle(ctx: &Context) -> v1::ShutdownResponse {
    tracing::info!("a client asked for the shutdown");
    ctx.control.stop();
    v1::ShutdownResponse { pid: std::process::id() }
}
