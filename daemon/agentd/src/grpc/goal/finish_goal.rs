//! Notes that a goal is reached.

use agentd_domain::GoalAuthor;
use agentd_proto::v1;
use agentd_tools::ReachedGoal;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::FinishGoalRequest,
) -> Result<v1::FinishGoalResponse, Status> {
    let v1::FinishGoalRequest { goal_id, author } = request;
    let by = GoalAuthor::Person { author: from_proto::author("author", author.as_ref())? };
    let engine = ctx.engine.clone();
    let reached = detached(ctx.engine.tasks(), "finish-goal", async move {
        engine.reach_goal(&goal_id, by).await.map_err(|error| status::from_command(&error))
    })
    .await?;
    let (ReachedGoal::Now(goal) | ReachedGoal::Before(goal)) = &reached;
    Ok(v1::FinishGoalResponse { goal: Some(to_proto::goal(goal)) })
}
