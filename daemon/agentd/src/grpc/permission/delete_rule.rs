//! Takes a rule back.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::DeleteRuleRequest,
) -> Result<v1::DeleteRuleResponse, Status> {
    let v1::DeleteRuleRequest { rule_id, session_id, author } = request;
    let session = from_proto::optional_id("session_id", &session_id)?;
    let by = from_proto::author("author", author.as_ref())?;
    let engine = ctx.engine.clone();
    detached(ctx.engine.tasks(), "delete-rule", async move {
        let deleted = engine.delete_rule(&rule_id, session, &by).await;
        deleted.map_err(|error| status::from_command(&error))
    })
    .await?;
    Ok(v1::DeleteRuleResponse {})
}
