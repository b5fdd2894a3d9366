//! Brings order into memories now, or tells what it would do.

use agentd_domain::Memory;
use agentd_engine::WouldConsolidate;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, status, to_proto};

/// Pairs of each kind that a dry run tells.
const MAX_TOLD: usize = 50;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ConsolidateMemoriesRequest,
) -> Result<v1::ConsolidateMemoriesResponse, Status> {
    let v1::ConsolidateMemoriesRequest { dry_run } = request;
    let engine = ctx.engine.clone();
    if dry_run {
        let would = engine.would_consolidate().await;
        let would = would.map_err(|error| status::from_memory(&error))?;
        let WouldConsolidate { duplicates, pairs, weighed, reflected, has_model } = would;
        return Ok(v1::ConsolidateMemoriesResponse {
            done: None,
            would_merge: told(duplicates.iter().map(|(older, newer)| (older, newer))),
            would_compare: told(pairs.iter().map(|pair| (&pair.older, &pair.newer))),
            would_weigh: to_proto::small(weighed),
            would_reflect: to_proto::small(reflected),
            no_model: !has_model,
        });
    }
    let run =
        async move { engine.consolidate().await.map_err(|error| status::from_memory(&error)) };
    let done = detached(ctx.engine.tasks(), "consolidate-memories", run).await?;
    Ok(v1::ConsolidateMemoriesResponse {
        done: Some(to_proto::memory_consolidation(&done)),
        ..v1::ConsolidateMemoriesResponse::default()
    })
}

fn told<'a>(pairs: impl Iterator<Item = (&'a Memory, &'a Memory)>) -> Vec<v1::MemoryPair> {
    let pair = |(older, newer)| v1::MemoryPair {
        older: Some(to_proto::memory(older)),
        newer: Some(to_proto::memory(newer)),
    };
    pairs.take(MAX_TOLD).map(pair).collect()
}
