//! Returns one page of a session as JSON Lines.

use agentd_domain::Seq;
use agentd_proto::v1;
use agentd_store::PageLimit;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

/// A page stays well below the 4 MiB of a message, whatever its last event holds.
const PAGE: PageLimit = PageLimit { events: 5_000, bytes: 1024 * 1024 };

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ExportSessionRequest,
) -> Result<v1::ExportSessionResponse, Status> {
    let v1::ExportSessionRequest { session_id, from_seq } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let (lines, next) = ctx
        .engine
        .export(id, Seq(from_seq), PAGE)
        .await
        .map_err(|error| status::from_command(&error))?;
    Ok(v1::ExportSessionResponse { lines, next_seq: next.map_or(0, |seq| seq.0) })
}
