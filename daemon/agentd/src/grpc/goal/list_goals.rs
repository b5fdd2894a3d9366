//! Lists goals.

use agentd_domain::Goal;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ListGoalsRequest,
) -> Result<v1::ListGoalsResponse, Status> {
    let v1::ListGoalsRequest { workspace, with_done } = request;
    let workspace = Some(workspace.as_str()).filter(|workspace| !workspace.is_empty());
    let goals = ctx.engine.goals(workspace).await.map_err(|error| status::from_command(&error))?;
    let wanted = |goal: &&Goal| with_done || goal.is_open();
    Ok(v1::ListGoalsResponse { goals: goals.iter().filter(wanted).map(to_proto::goal).collect() })
}
