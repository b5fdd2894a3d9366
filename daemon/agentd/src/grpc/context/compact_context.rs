//! Folds a session's older turns into its summary now.

use agentd_engine::Compaction;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::CompactContextRequest,
) -> Result<v1::CompactContextResponse, Status> {
    let v1::CompactContextRequest { session_id } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let engine = ctx.engine.clone();
    let done = detached(ctx.engine.tasks(), "compact-context", async move {
        engine.compact(id).await.map_err(|error| status::from_command(&error))
    });
    Ok(match done.await? {
        Compaction::Done(compacted) => v1::CompactContextResponse {
            compacted: Some(to_proto::compacted(&compacted)),
            why_not: String::new(),
        },
        Compaction::Nothing { why } => v1::CompactContextResponse { compacted: None, why_not: why },
    })
}
