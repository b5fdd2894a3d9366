//! Says which backend is in force, and tries what works when that is not known yet.

use agentd_proto::v1;

use crate::grpc::{Context, to_proto};

pub(super) async fn handle(ctx: &Context) -> v1::GetSandboxResponse {
    if let Some(programs) = &ctx.programs {
        // What came of it is known afterwards.
        let _known = programs.backend().await;
    }
    v1::GetSandboxResponse { sandbox: Some(to_proto::sandbox(ctx.programs.as_deref())) }
}
