//! How many memories there are.

use agentd_domain::MemoryPriority;
use agentd_memory::EmbeddingState;
use agentd_proto::v1;
use tonic::Status;

use crate::checks;
use crate::grpc::{Context, status, to_proto};

pub(super) async fn handle(ctx: &Context) -> Result<v1::GetMemoryStatsResponse, Status> {
    let memories = &ctx.memories;
    let counts = memories.counts().await.map_err(|error| status::from_memory(&error))?;
    let due = memories.due().await.map_err(|error| status::from_memory(&error))?;
    let upkeep = memories.upkeep().await.map_err(|error| status::from_memory(&error))?;
    let undoable = memories.undoable().await.map_err(|error| status::from_memory(&error))?;
    let state = memories.embeddings().await.map_err(|error| status::from_memory(&error))?;
    let mut rows = Vec::new();
    for (name, tiers) in counts.by_status {
        for (priority, count) in MemoryPriority::ALL.into_iter().zip(tiers) {
            if count > 0 {
                rows.push(v1::MemoryCount {
                    status: to_proto::memory_status_named(name).into(),
                    priority: to_proto::memory_priority(priority).into(),
                    count: to_proto::small(count),
                });
            }
        }
    }
    rows.sort_by_key(|row| (row.status, row.priority));
    Ok(v1::GetMemoryStatsResponse {
        counts: rows,
        max_active: to_proto::small(memories.config().max_active),
        search: search(&state),
        due_reminders: to_proto::small(due.len()),
        undoable: undoable.map(|change| to_proto::memory_change(&change, None)),
        last_consolidation: upkeep.consolidated.as_ref().map(to_proto::memory_consolidation),
    })
}

/// How memories are found: a word, and what there is to say of it.
fn search(state: &EmbeddingState) -> String {
    match state {
        EmbeddingState::Off => "lexical".to_owned(),
        EmbeddingState::Unusable { .. } => format!("lexical: {}", checks::search(state)),
        EmbeddingState::Model { .. } => format!("hybrid: {}", checks::search(state)),
    }
}
