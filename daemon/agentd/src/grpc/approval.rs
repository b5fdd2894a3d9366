//! `ApprovalService`: one file per method.

mod answer_approval;
mod list_approvals;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::approval_service_server::ApprovalService for Service {
    async fn list_approvals(
        &self,
        request: Request<v1::ListApprovalsRequest>,
    ) -> Result<Response<v1::ListApprovalsResponse>, Status> {
        list_approvals::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn answer_approval(
        &self,
        request: Request<v1::AnswerApprovalRequest>,
    ) -> Result<Response<v1::AnswerApprovalResponse>, Status> {
        answer_approval::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}
