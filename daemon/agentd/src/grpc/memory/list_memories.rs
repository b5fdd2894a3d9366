//! Lists memories in pages.

use agentd_proto::v1;
use tonic::Status;

use super::read;
use crate::grpc::{Context, from_proto, status, to_proto};

const DEFAULT_PAGE: u32 = 50;
/// A page of the longest memories stays below the 4 MiB of a message.
const MAX_PAGE: u32 = 200;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ListMemoriesRequest,
) -> Result<v1::ListMemoriesResponse, Status> {
    let v1::ListMemoriesRequest { filter, page_size, page_token } = request;
    let limit = from_proto::page_size(page_size, DEFAULT_PAGE, MAX_PAGE)?;
    let skip: usize = match page_token.as_str() {
        "" => 0,
        token => token.parse().map_err(|_not_ours| {
            let hint = "give next_page_token as it came";
            status::bad_field("page_token", "it is not a page token", hint)
        })?,
    };
    let filter = read::filter(filter.unwrap_or_default()).await?;
    let until = skip.saturating_add(limit);
    let (found, all) =
        ctx.memories.find(&filter, until).await.map_err(|error| status::from_memory(&error))?;
    let memories = found
        .iter()
        .skip(skip)
        .map(|found| v1::FoundMemory {
            memory: Some(to_proto::memory(&found.memory)),
            score: found.score,
        })
        .collect();
    let next_page_token = if until < all { until.to_string() } else { String::new() };
    Ok(v1::ListMemoriesResponse { memories, next_page_token, total: to_proto::small(all) })
}
