//! Sets a goal.

use agentd_domain::{GoalAuthor, GoalContent, GoalPriority};
use agentd_engine::NewGoal;
use agentd_proto::v1;
use agentd_tools::SetGoal;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::AddGoalRequest,
) -> Result<v1::AddGoalResponse, Status> {
    let v1::AddGoalRequest { content, priority, workspace, author } = request;
    let wrong = |error: agentd_domain::GoalError| status::from_command(&error.into());
    let content = GoalContent::try_from(content).map_err(wrong)?;
    let priority = Some(priority).filter(|priority| *priority != 0);
    let priority = priority.map(GoalPriority::try_from).transpose().map_err(wrong)?;
    let author = from_proto::author("author", author.as_ref())?;
    let new = NewGoal {
        content,
        priority,
        workspace: Some(workspace).filter(|workspace| !workspace.is_empty()),
        by: GoalAuthor::Person { author },
    };
    let engine = ctx.engine.clone();
    let set = detached(ctx.engine.tasks(), "add-goal", async move {
        engine.set_goal(new).await.map_err(|error| status::from_command(&error))
    })
    .await?;
    let (goal, is_new) = match &set {
        SetGoal::New(goal) => (goal, true),
        SetGoal::Known(goal) => (goal, false),
    };
    Ok(v1::AddGoalResponse { goal: Some(to_proto::goal(goal)), is_new })
}
