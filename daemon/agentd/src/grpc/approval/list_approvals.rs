//! Lists the calls that wait until somebody says whether they may run.

use agentd_engine::OpenApproval;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ListApprovalsRequest,
) -> Result<v1::ListApprovalsResponse, Status> {
    let v1::ListApprovalsRequest { session_id } = request;
    let only = from_proto::optional_id("session_id", &session_id)?;
    let open = ctx.engine.open_approvals().await.map_err(|error| status::from_command(&error))?;
    let wanted = |open: &OpenApproval| only.is_none_or(|id| open.session.session_id == id);
    let approvals = open.into_iter().filter(wanted).map(|open| v1::OpenApproval {
        session_id: open.session.session_id.to_string(),
        title: open.session.title,
        workspace: open.session.workspace,
        request: Some(to_proto::approval_requested(&open.request)),
    });
    Ok(v1::ListApprovalsResponse { approvals: approvals.collect() })
}
