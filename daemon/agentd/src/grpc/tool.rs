//! `ToolService`: one file per method.

mod get_tool;
mod list_changes;
mod list_tools;
mod run_tool;

use agentd_engine::HandPlace;
use agentd_proto::v1;
use tonic::{Request, Response, Status};

use self::run_tool::StepStream;
use super::{Service, from_proto, status};

#[tonic::async_trait]
impl v1::tool_service_server::ToolService for Service {
    type RunToolStream = StepStream;

    async fn list_tools(
        &self,
        request: Request<v1::ListToolsRequest>,
    ) -> Result<Response<v1::ListToolsResponse>, Status> {
        Ok(Response::new(list_tools::handle(&self.ctx, request.into_inner()).await))
    }

    async fn get_tool(
        &self,
        request: Request<v1::GetToolRequest>,
    ) -> Result<Response<v1::GetToolResponse>, Status> {
        get_tool::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn run_tool(
        &self,
        request: Request<v1::RunToolRequest>,
    ) -> Result<Response<Self::RunToolStream>, Status> {
        run_tool::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn list_changes(
        &self,
        request: Request<v1::ListChangesRequest>,
    ) -> Result<Response<v1::ListChangesResponse>, Status> {
        list_changes::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}

/// Reads where a call works.
fn session(session_id: &str) -> Result<HandPlace, Status> {
    from_proto::id("session_id", session_id).map(HandPlace::Session)
}

fn no_place() -> Status {
    status::bad_field(
        "place",
        "it names neither a session nor a workspace",
        "fill in session_id or workspace",
    )
}
