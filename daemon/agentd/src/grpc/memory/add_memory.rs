//! Remembers a text.

use agentd_domain::{MemoryAuthor, MemoryOrigin};
use agentd_memory::{NewMemory, Vouched};
use agentd_proto::v1;
use tonic::Status;

use super::{changed, read};
use crate::grpc::{Context, from_proto, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::AddMemoryRequest,
) -> Result<v1::AddMemoryResponse, Status> {
    let v1::AddMemoryRequest {
        content,
        priority,
        importance,
        category,
        tags,
        scope,
        pinned,
        expires_at_ms,
        author,
        session_id,
    } = request;
    let author = MemoryAuthor::User { author: from_proto::author("author", author.as_ref())? };
    let new = NewMemory {
        content,
        priority: read::priority("priority", priority)?,
        importance: read::importance("importance", importance)?,
        category: read::category("category", category)?.unwrap_or_default(),
        tags,
        scope: read::scope("scope", scope.as_ref()).await?,
        pinned,
        expires_at: read::time(expires_at_ms),
        origin: MemoryOrigin {
            author,
            session_id: from_proto::optional_id("session_id", &session_id)?,
            seq: None,
        },
        // A person says so, in as many words.
        vouched: Vouched::Yes,
    };
    let (added, memory) = changed(ctx, "add-memory", async move |memories| {
        let added = memories.add(new).await?;
        Ok((added, memories.resolve(&added.id().to_string()).await?))
    })
    .await?;
    Ok(v1::AddMemoryResponse {
        outcome: to_proto::added_memory(added).into(),
        memory: Some(to_proto::memory(&memory)),
    })
}
