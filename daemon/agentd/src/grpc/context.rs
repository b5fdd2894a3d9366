//! `ContextService`: one file per method.

mod compact_context;
mod expand_summary;
mod get_context;
mod pin_text;
mod unpin_text;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::context_service_server::ContextService for Service {
    async fn get_context(
        &self,
        request: Request<v1::GetContextRequest>,
    ) -> Result<Response<v1::GetContextResponse>, Status> {
        get_context::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn compact_context(
        &self,
        request: Request<v1::CompactContextRequest>,
    ) -> Result<Response<v1::CompactContextResponse>, Status> {
        compact_context::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn expand_summary(
        &self,
        request: Request<v1::ExpandSummaryRequest>,
    ) -> Result<Response<v1::ExpandSummaryResponse>, Status> {
        expand_summary::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn pin_text(
        &self,
        request: Request<v1::PinTextRequest>,
    ) -> Result<Response<v1::PinTextResponse>, Status> {
        pin_text::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn unpin_text(
        &self,
        request: Request<v1::UnpinTextRequest>,
    ) -> Result<Response<v1::UnpinTextResponse>, Status> {
        unpin_text::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}
