//! Changes a memory.

use agentd_domain::MemoryAuthor;
use agentd_memory::MemoryPatch;
use agentd_proto::v1;
use tonic::Status;

use super::{changed, read};
use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::UpdateMemoryRequest,
) -> Result<v1::UpdateMemoryResponse, Status> {
    let v1::UpdateMemoryRequest {
        memory_id,
        content,
        priority,
        importance,
        category,
        tags,
        pinned,
        expires_at_ms,
        author,
    } = request;
    let author = MemoryAuthor::User { author: from_proto::author("author", author.as_ref())? };
    let patch = MemoryPatch {
        content,
        priority: named("priority", priority, read::priority)?,
        importance: named("importance", importance, read::importance)?,
        category: named("category", category, read::category)?,
        tags: tags.map(|tags| tags.tags),
        pinned,
        expires_at: expires_at_ms.map(read::time),
    };
    let memory = changed(ctx, "update-memory", async move |memories| {
        let id = memories.resolve(&memory_id).await?.id;
        memories.edit(id, patch, author).await?;
        memories.resolve(&id.to_string()).await
    })
    .await?;
    Ok(v1::UpdateMemoryResponse { memory: Some(to_proto::memory(&memory)) })
}

/// Reads a value that may be left out, and that says something when it is there.
fn named<N, T>(
    field: &str,
    given: Option<N>,
    read: impl Fn(&str, N) -> Result<Option<T>, Status>,
) -> Result<Option<T>, Status> {
    let Some(given) = given else { return Ok(None) };
    match read(field, given)? {
        Some(value) => Ok(Some(value)),
        None => Err(status::bad_field(field, "it names none", "leave it out, or name one")),
    }
}
