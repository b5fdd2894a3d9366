//! Describes one tool.

use agentd_domain::{ErrorKind, cut_line};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, status, to_proto};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::GetToolRequest,
) -> Result<v1::GetToolResponse, Status> {
    let v1::GetToolRequest { name } = request;
    let registry = ctx.engine.tools();
    let tool = match registry.find(&name) {
        Some(tool) => to_proto::tool(tool.spec(), tool.aliases(), tool.missing().await),
        None => match registry.missing().find(|(missing, _)| *missing == name) {
            Some((name, why)) => to_proto::missing_tool(name, why),
            None => {
                return Err(status::error(
                    ErrorKind::NotFound,
                    &format!("there is no tool '{}'", cut_line(&name, 64)),
                    "`agentctl tools list` shows the tools there are",
                    Some("name"),
                ));
            }
        },
    };
    Ok(v1::GetToolResponse { tool: Some(tool) })
}
