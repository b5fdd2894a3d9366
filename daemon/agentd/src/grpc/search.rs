//! `SearchService`: one file per method.

mod search_messages;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::search_service_server::SearchService for Service {
    async fn search_messages(
        &self,
        request: Request<v1::SearchMessagesRequest>,
    ) -> Result<Response<v1::SearchMessagesResponse>, Status> {
        search_messages::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}
