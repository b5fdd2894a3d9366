//! Lets time do its work now, or tells what it would do.

use agentd_proto::v1;
use tonic::Status;

use super::{changed, read};
use crate::grpc::{Context, status, to_proto};

/// Records that a dry run tells.
const MAX_TOLD: usize = 100;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::SweepMemoriesRequest,
) -> Result<v1::SweepMemoriesResponse, Status> {
    let v1::SweepMemoriesRequest { dry_run, until_ms } = request;
    if dry_run {
        let at = read::time(until_ms).unwrap_or_else(|| ctx.clock.now());
        let told = ctx.memories.would_sweep(at).await;
        let (aging, expired) = told.map_err(|error| status::from_memory(&error))?;
        return Ok(v1::SweepMemoriesResponse {
            aged: to_proto::small(aging.len()),
            expired: to_proto::small(expired),
            would_age: aging.iter().take(MAX_TOLD).map(to_proto::memory_edit).collect(),
        });
    }
    if until_ms != 0 {
        let hint = "leave it out, or set dry_run: time is not made to pass";
        return Err(status::bad_field("until_ms", "it is set without dry_run", hint));
    }
    let (aged, expired) =
        changed(ctx, "sweep-memories", async move |memories| memories.sweep().await).await?;
    Ok(v1::SweepMemoriesResponse {
        aged: to_proto::small(aged),
        expired: to_proto::small(expired),
        would_age: Vec::new(),
    })
}
