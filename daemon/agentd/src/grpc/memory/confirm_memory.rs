//! Stands behind a memory that waited for a user.

use agentd_domain::MemoryAuthor;
use agentd_proto::v1;
use tonic::Status;

use super::changed;
use crate::grpc::{Context, from_proto, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ConfirmMemoryRequest,
) -> Result<v1::ConfirmMemoryResponse, Status> {
    let v1::ConfirmMemoryRequest { memory_id, author } = request;
    let author = MemoryAuthor::User { author: from_proto::author("author", author.as_ref())? };
    let memory = changed(ctx, "confirm-memory", async move |memories| {
        let before = memories.resolve(&memory_id).await?;
        // One that holds is what was asked for: a retry gets the first answer.
        if before.is_active() {
            return Ok(before);
        }
        memories.confirm(before.id, author).await?;
        memories.resolve(&before.id.to_string()).await
    })
    .await?;
    Ok(v1::ConfirmMemoryResponse { memory: Some(to_proto::memory(&memory)) })
}
