//! Returns a page of a log.

use agentd_domain::Seq;
use agentd_proto::v1;
use agentd_store::PageLimit;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

const DEFAULT_PAGE: u32 = 200;
const MAX_PAGE: u32 = 1000;
const PAGE_BYTES: usize = 1024 * 1024;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ListEventsRequest,
) -> Result<v1::ListEventsResponse, Status> {
    let v1::ListEventsRequest { session_id, from_seq, page_size } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let events = from_proto::page_size(page_size, DEFAULT_PAGE, MAX_PAGE)?;
    let limit = PageLimit { events, bytes: PAGE_BYTES };
    let page = ctx
        .engine
        .events(id, Seq(from_seq), limit)
        .await
        .map_err(|error| status::from_command(&error))?;
    let next_seq = page.events.last().filter(|_| page.more).map_or(0, |last| last.seq.next().0);
    Ok(v1::ListEventsResponse {
        events: page.events.iter().map(to_proto::event).collect(),
        next_seq,
    })
}
