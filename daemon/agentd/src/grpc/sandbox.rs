//! `SandboxService`: one file per method.

mod get_sandbox;
mod test_sandbox;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use self::test_sandbox::ProofStream;
use super::Service;

#[tonic::async_trait]
impl v1::sandbox_service_server::SandboxService for Service {
    type TestSandboxStream = ProofStream;

    async fn get_sandbox(
        &self,
        _request: Request<v1::GetSandboxRequest>,
    ) -> Result<Response<v1::GetSandboxResponse>, Status> {
        Ok(Response::new(get_sandbox::handle(&self.ctx).await))
    }

    async fn test_sandbox(
        &self,
        request: Request<v1::TestSandboxRequest>,
    ) -> Result<Response<Self::TestSandboxStream>, Status> {
        test_sandbox::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}
