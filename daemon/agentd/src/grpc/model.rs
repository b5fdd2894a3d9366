//! `ModelService`: one file per method.

mod list_models;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::model_service_server::ModelService for Service {
    async fn list_models(
        &self,
        _request: Request<v1::ListModelsRequest>,
    ) -> Result<Response<v1::ListModelsResponse>, Status> {
        Ok(Response::new(list_models::handle(&self.ctx).await))
    }
}
