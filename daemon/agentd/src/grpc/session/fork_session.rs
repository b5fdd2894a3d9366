//! Copies a session.

use agentd_domain::Seq;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ForkSessionRequest,
) -> Result<v1::ForkSessionResponse, Status> {
    let v1::ForkSessionRequest { session_id, new_session_id, up_to_seq, title, author } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let new_id = from_proto::optional_id("new_session_id", &new_session_id)?;
    let title = from_proto::optional_title("title", &title)?;
    let by = from_proto::author_or_unknown("author", author.as_ref())?;
    let up_to = (up_to_seq > 0).then_some(Seq(up_to_seq));
    let engine = ctx.engine.clone();
    let view = detached(ctx.engine.tasks(), "fork", async move {
        engine
            .fork(id, new_id, up_to, title, &by)
            .await
            .map_err(|error| status::from_command(&error))
    })
    .await?;
    Ok(v1::ForkSessionResponse { session: Some(to_proto::view(&view)) })
}
