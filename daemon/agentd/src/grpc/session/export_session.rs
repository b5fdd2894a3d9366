//! Returns one page of a session as JSON Lines.

use agentd_domain::Seq;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

/// A page stays well below the 4 MiB of a message.
const PAGE_BYTES: usize = 1024 * 1024;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ExportSessionRequest,
) -> Result<v1::ExportSessionResponse, Status> {
    let v1::ExportSessionRequest { session_id, from_seq, from_byte } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let (lines, next) = ctx
        .engine
        .export(id, (Seq(from_seq), usize::try_from(from_byte).unwrap_or(usize::MAX)), PAGE_BYTES)
        .await
        .map_err(|error| status::from_command(&error))?;
    let (next_seq, next_byte) = next.map_or((0, 0), |(seq, byte)| (seq.0, to_proto::count(byte)));
    Ok(v1::ExportSessionResponse { lines, next_seq, next_byte })
}
