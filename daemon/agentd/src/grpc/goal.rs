//! `GoalService`: one file per method.

mod add_goal;
mod drop_goal;
mod finish_goal;
mod list_goals;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::goal_service_server::GoalService for Service {
    async fn list_goals(
        &self,
        request: Request<v1::ListGoalsRequest>,
    ) -> Result<Response<v1::ListGoalsResponse>, Status> {
        list_goals::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn add_goal(
        &self,
        request: Request<v1::AddGoalRequest>,
    ) -> Result<Response<v1::AddGoalResponse>, Status> {
        add_goal::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn finish_goal(
        &self,
        request: Request<v1::FinishGoalRequest>,
    ) -> Result<Response<v1::FinishGoalResponse>, Status> {
        finish_goal::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn drop_goal(
        &self,
        request: Request<v1::DropGoalRequest>,
    ) -> Result<Response<v1::DropGoalResponse>, Status> {
        drop_goal::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}
