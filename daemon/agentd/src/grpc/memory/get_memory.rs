//! One memory: where it is from, how it will age, what was changed of it.

use agentd_memory::{forecast, retention};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, status, to_proto};

/// Changes that are told of one memory.
const MAX_CHANGES: usize = 50;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::GetMemoryRequest,
) -> Result<v1::GetMemoryResponse, Status> {
    let v1::GetMemoryRequest { memory_id } = request;
    let found = ctx.memories.resolve(&memory_id).await;
    let memory = found.map_err(|error| status::from_memory(&error))?;
    let changes = ctx.memories.changes(Some(memory.id), None, MAX_CHANGES).await;
    let changes = changes.map_err(|error| status::from_memory(&error))?;
    let steps = forecast(&memory, &ctx.memories.config().decay);
    Ok(v1::GetMemoryResponse {
        retention: retention(&memory, ctx.clock.now()),
        forecast: steps.into_iter().map(to_proto::memory_step).collect(),
        changes: changes
            .iter()
            .map(|change| to_proto::memory_change(change, Some(memory.id)))
            .collect(),
        memory: Some(to_proto::memory(&memory)),
    })
}
