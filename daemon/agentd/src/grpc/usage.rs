//! `UsageService`: one file per method.

mod get_usage;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::usage_service_server::UsageService for Service {
    async fn get_usage(
        &self,
        request: Request<v1::GetUsageRequest>,
    ) -> Result<Response<v1::GetUsageResponse>, Status> {
        get_usage::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}
