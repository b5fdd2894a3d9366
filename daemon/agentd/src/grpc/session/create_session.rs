//! Creates a session.

use agentd_engine::NewSession;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::CreateSessionRequest,
) -> Result<v1::CreateSessionResponse, Status> {
    let v1::CreateSessionRequest {
        session_id,
        title,
        workspace,
        model,
        effort,
        permission_mode,
        work_mode,
        further_roots,
    } = request;
    let new = NewSession {
        session_id: from_proto::optional_id("session_id", &session_id)?,
        title: from_proto::optional_title("title", &title)?,
        workspace: if workspace.is_empty() { ctx.default_workspace.clone() } else { workspace },
        model,
        effort: from_proto::effort("effort", effort)?,
        permission_mode: from_proto::permission_mode("permission_mode", permission_mode)?,
        work_mode: from_proto::work_mode("work_mode", work_mode)?,
        further_roots,
    };
    let view = ctx.engine.create(new).await.map_err(|error| status::from_command(&error))?;
    Ok(v1::CreateSessionResponse { session: Some(to_proto::view(&view)) })
}
