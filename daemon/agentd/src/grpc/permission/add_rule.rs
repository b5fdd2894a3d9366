//! Makes a rule.

use agentd_engine::NewRule;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::AddRuleRequest,
) -> Result<v1::AddRuleResponse, Status> {
    let v1::AddRuleRequest { effect, matcher, workspace, author } = request;
    let new = NewRule {
        effect: from_proto::rule_effect("effect", effect)?,
        matcher: from_proto::rule_matcher("matcher", matcher)?,
        workspace: Some(workspace).filter(|workspace| !workspace.is_empty()),
        by: from_proto::author("author", author.as_ref())?,
    };
    let engine = ctx.engine.clone();
    let rule = detached(ctx.engine.tasks(), "add-rule", async move {
        engine.add_rule(new).await.map_err(|error| status::from_command(&error))
    })
    .await?;
    Ok(v1::AddRuleResponse { rule: Some(to_proto::rule(&rule)) })
}
