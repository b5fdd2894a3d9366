//! Lets another binary take over this process.

use std::path::PathBuf;

use agentd_domain::ErrorKind;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::peer::is_owner;
use crate::grpc::{Context, status};
use crate::upgrade;

pub(super) async fn handle(
    ctx: &Context,
    peer_uid: Option<u32>,
    request: v1::UpgradeRequest,
) -> Result<v1::UpgradeResponse, Status> {
    let v1::UpgradeRequest { binary } = request;
    let binary = (!binary.is_empty()).then(|| PathBuf::from(binary));
    // Whoever names a program has it run with the rights of the daemon's user.
    if binary.is_some() && !is_owner(peer_uid) {
        return Err(status::error(
            ErrorKind::Denied,
            "only the daemon's own user and root may name a binary",
            "leave the binary out: the path that the daemon was started from is taken",
            Some("binary"),
        ));
    }
    let control = ctx.control.clone();
    let successor = detached(ctx.engine.tasks(), "upgrade", async move {
        let asked = upgrade::ask(control.relaunch(), binary).await;
        let successor = asked.map_err(|error| {
            tracing::warn!(%error, "no other binary takes over");
            status::error(error.kind(), &error.to_string(), error.hint(), None)
        })?;
        control.hand_over(successor.clone());
        Ok(successor)
    })
    .await?;
    Ok(v1::UpgradeResponse {
        pid: std::process::id(),
        binary: successor.program.display().to_string(),
        version: successor.version,
    })
}
