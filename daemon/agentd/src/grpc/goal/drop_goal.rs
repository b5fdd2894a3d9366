//! Removes a goal.

use agentd_domain::GoalAuthor;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::DropGoalRequest,
) -> Result<v1::DropGoalResponse, Status> {
    let v1::DropGoalRequest { goal_id, author } = request;
    let by = GoalAuthor::Person { author: from_proto::author("author", author.as_ref())? };
    let engine = ctx.engine.clone();
    detached(ctx.engine.tasks(), "drop-goal", async move {
        engine.remove_goal(&goal_id, &by).await.map_err(|error| status::from_command(&error))
    })
    .await?;
    Ok(v1::DropGoalResponse {})
}
