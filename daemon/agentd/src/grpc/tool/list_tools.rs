//! Lists the tools.

use agentd_proto::v1;

use crate::grpc::{Context, to_proto};

pub(super) async fn handle(ctx: &Context, request: v1::ListToolsRequest) -> v1::ListToolsResponse {
    let v1::ListToolsRequest {} = request;
    let registry = ctx.engine.tools();
    let mut tools = Vec::new();
    for tool in registry.tools() {
        tools.push(to_proto::tool(tool.spec(), tool.aliases(), tool.missing().await));
    }
    tools.extend(registry.missing().map(|(name, why)| to_proto::missing_tool(name, why)));
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    v1::ListToolsResponse { tools }
}
