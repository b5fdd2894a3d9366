//! Reads the configuration again.

use agentd_proto::v1;
use tonic::Status;

use crate::grpc::{Context, status};

pub(super) fn handle(ctx: &Context) -> Result<v1::ReloadConfigResponse, Status> {
    let (file, needs_restart) =
        ctx.control.reload(&ctx.models).map_err(|error| status::from_config(&error))?;
    let config_file = file.map(|file| file.display().to_string()).unwrap_or_default();
    Ok(v1::ReloadConfigResponse { config_file, needs_restart })
}
