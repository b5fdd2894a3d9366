//! Returns one page of memories as JSON Lines.

use agentd_domain::{MemoryId, MemoryStatus};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

/// A page stays well below the 4 MiB of a message.
const PAGE_BYTES: usize = 1024 * 1024;
/// Records that are looked at for a page.
const PAGE_RECORDS: usize = 1000;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ExportMemoriesRequest,
) -> Result<v1::ExportMemoriesResponse, Status> {
    let v1::ExportMemoriesRequest { all, page_token } = request;
    let after: Option<MemoryId> = from_proto::optional_id("page_token", &page_token)?;
    let page = ctx.memories.page(after, PAGE_RECORDS).await;
    let page = page.map_err(|error| status::from_memory(&error))?;
    let mut lines = Vec::new();
    let mut last = None;
    let mut is_whole = true;
    for memory in &page {
        if lines.len() >= PAGE_BYTES {
            is_whole = false;
            break;
        }
        let holds_or_waits =
            matches!(memory.status, MemoryStatus::Active | MemoryStatus::Quarantined);
        if all || holds_or_waits {
            let written = serde_json::to_writer(&mut lines, memory);
            written.map_err(|error| {
                tracing::error!(%error, memory_id = %memory.id, "a memory cannot be written");
                status::internal("the export")
            })?;
            lines.push(b'\n');
        }
        last = Some(memory.id);
    }
    let is_last = is_whole && page.len() < PAGE_RECORDS;
    let next_page_token = last.filter(|_| !is_last).map(|id| id.to_string()).unwrap_or_default();
    Ok(v1::ExportMemoriesResponse { lines, next_page_token })
}
