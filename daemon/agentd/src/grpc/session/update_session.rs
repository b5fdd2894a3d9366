//! Changes title, model, effort or modes.

use agentd_engine::SessionUpdate;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::UpdateSessionRequest,
) -> Result<v1::UpdateSessionResponse, Status> {
    let v1::UpdateSessionRequest {
        session_id,
        title,
        model,
        author,
        effort,
        permission_mode,
        work_mode,
    } = request;
    let id = from_proto::id("session_id", &session_id)?;
    let title = title.map(|title| from_proto::title("title", &title)).transpose()?;
    let effort = effort.map(|effort| from_proto::effort("effort", effort)).transpose()?;
    let permission_mode = match permission_mode {
        None => None,
        Some(number) => {
            Some(from_proto::permission_mode("permission_mode", number)?.ok_or_else(|| {
                status::bad_field("permission_mode", "it names none", "leave it out, or name one")
            })?)
        }
    };
    let work_mode =
        work_mode.map(|number| from_proto::work_mode("work_mode", number)).transpose()?;
    let by =
        author.as_ref().map(|author| from_proto::author("author", Some(author))).transpose()?;
    let view = ctx
        .engine
        .update(id, SessionUpdate { title, model, effort, permission_mode, work_mode }, by)
        .await
        .map_err(|error| status::from_command(&error))?;
    Ok(v1::UpdateSessionResponse { session: Some(to_proto::view(&view)) })
}
