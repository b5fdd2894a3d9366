//! Lists rules.

use agentd_engine::RuleFilter;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, from_proto, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ListRulesRequest,
) -> Result<v1::ListRulesResponse, Status> {
    let v1::ListRulesRequest { session_id, workspace } = request;
    let session = from_proto::optional_id("session_id", &session_id)?;
    let filter = match (session, workspace.is_empty()) {
        (None, true) => RuleFilter::All,
        (None, false) => RuleFilter::Workspace(workspace),
        (Some(id), true) => RuleFilter::Session(id),
        (Some(_), false) => {
            return Err(status::bad_field(
                "workspace",
                "a session has one workspace already",
                "give either session_id or workspace",
            ));
        }
    };
    let rules = ctx.engine.rules(&filter).await.map_err(|error| status::from_command(&error))?;
    Ok(v1::ListRulesResponse { rules: rules.iter().map(to_proto::rule).collect() })
}
