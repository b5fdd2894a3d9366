//! Lets time do its work now, or tells what it would do.

use agentd_memory::{Memories, Swept, WouldSweep};
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
        let WouldSweep { aging, ended, removed } =
            told.map_err(|error| status::from_memory(&error))?;
        return Ok(v1::SweepMemoriesResponse {
            aged: to_proto::small(aging.len()),
            expired: to_proto::small(ended),
            removed: to_proto::small(removed),
            would_age: aging.iter().take(MAX_TOLD).map(to_proto::memory_edit).collect(),
        });
    }
    if until_ms != 0 {
        let hint = "leave it out, or set dry_run: time is not made to pass";
        return Err(status::bad_field("until_ms", "it is set without dry_run", hint));
    }
    // Who asks for it says that the clock is right.
    let sweep = async move |memories: Memories| memories.sweep_by_hand().await;
    let Swept { aged, ended, removed, doubt: _ } = changed(ctx, "sweep-memories", sweep).await?;
    Ok(v1::SweepMemoriesResponse {
        aged: to_proto::small(aged),
        expired: to_proto::small(ended),
        removed: to_proto::small(removed),
        would_age: Vec::new(),
    })
}
