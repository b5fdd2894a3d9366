//! Remembers how far a terminal has read.

use agentd_domain::{Author, Seq};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::SetReadCursorRequest,
) -> Result<v1::SetReadCursorResponse, Status> {
    let v1::SetReadCursorRequest { session_id, client_id, seq } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let Author { client_id, name: _ } = Author::new(&client_id, "").map_err(|error| {
        status::bad_field("client_id", &error.to_string(), "give a short printable id")
    })?;
    let seq = ctx
        .engine
        .set_cursor(id, &client_id, Seq(seq))
        .await
        .map_err(|error| status::from_command(&error))?;
    Ok(v1::SetReadCursorResponse { seq: seq.0 })
}
