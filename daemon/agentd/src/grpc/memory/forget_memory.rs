//! Takes a memory back, or erases it.

use agentd_domain::{ErrorKind, MemoryAuthor};
use agentd_proto::v1;
use tonic::Status;

use super::changed;
use crate::access::Scope;
use crate::grpc::{Context, caller, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ForgetMemoryRequest,
) -> Result<v1::ForgetMemoryResponse, Status> {
    let v1::ForgetMemoryRequest { memory_id, erase, author } = request;
    let author = MemoryAuthor::User { author: from_proto::author("author", author.as_ref())? };
    // What is deleted is gone for everybody.
    if erase && !caller::may(Scope::Admin) {
        return Err(status::error(
            ErrorKind::Denied,
            "to erase a memory needs a token of the scope admin",
            "forget it without erasing it",
            Some("erase"),
        ));
    }
    let memory = changed(ctx, "forget-memory", async move |memories| {
        let before = memories.resolve(&memory_id).await?;
        if erase {
            memories.erase(before.id).await?;
            return Ok(before);
        }
        memories.forget(before.id, author).await?;
        memories.resolve(&before.id.to_string()).await
    })
    .await?;
    Ok(v1::ForgetMemoryResponse { memory: Some(to_proto::memory(&memory)) })
}
