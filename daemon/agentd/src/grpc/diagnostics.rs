//! `DiagnosticsService`: one file per method.

mod run_checks;
mod tail_logs;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use self::tail_logs::LogStream;
use super::Service;

#[tonic::async_trait]
impl v1::diagnostics_service_server::DiagnosticsService for Service {
    type TailLogsStream = LogStream;

    async fn run_checks(
        &self,
        request: Request<v1::RunChecksRequest>,
    ) -> Result<Response<v1::RunChecksResponse>, Status> {
        Ok(Response::new(run_checks::handle(&self.ctx, request.into_inner()).await))
    }

    async fn tail_logs(
        &self,
        request: Request<v1::TailLogsRequest>,
    ) -> Result<Response<Self::TailLogsStream>, Status> {
        tail_logs::handle(&self.ctx, request.into_inner()).map(Response::new)
    }
}
