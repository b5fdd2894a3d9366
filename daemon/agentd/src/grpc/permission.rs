//! `PermissionService`: one file per method.

mod add_rule;
mod delete_rule;
mod list_rules;

use agentd_proto::v1;
use tonic::{Request, Response, Status};

use super::Service;

#[tonic::async_trait]
impl v1::permission_service_server::PermissionService for Service {
    async fn list_rules(
        &self,
        request: Request<v1::ListRulesRequest>,
    ) -> Result<Response<v1::ListRulesResponse>, Status> {
        list_rules::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn add_rule(
        &self,
        request: Request<v1::AddRuleRequest>,
    ) -> Result<Response<v1::AddRuleResponse>, Status> {
        add_rule::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }

    async fn delete_rule(
        &self,
        request: Request<v1::DeleteRuleRequest>,
    ) -> Result<Response<v1::DeleteRuleResponse>, Status> {
        delete_rule::handle(&self.ctx, request.into_inner()).await.map(Response::new)
    }
}
