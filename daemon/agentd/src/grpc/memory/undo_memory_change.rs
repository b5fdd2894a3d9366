//! Takes a change of memories back.

use agentd_domain::MemoryAuthor;
use agentd_proto::v1;
use tonic::Status;

use super::changed;
use crate::grpc::{Context, from_proto, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::UndoMemoryChangeRequest,
) -> Result<v1::UndoMemoryChangeResponse, Status> {
    let v1::UndoMemoryChangeRequest { change_id, author } = request;
    let id = from_proto::optional_id("change_id", &change_id)?;
    let author = MemoryAuthor::User { author: from_proto::author("author", author.as_ref())? };
    let change =
        changed(ctx, "undo-memory-change", async move |memories| memories.undo(id, author).await)
            .await?;
    Ok(v1::UndoMemoryChangeResponse { change: Some(to_proto::memory_change(&change, None)) })
}
