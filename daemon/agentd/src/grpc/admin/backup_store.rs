//! Writes a consistent copy of the store.

use std::path::PathBuf;

use agentd_engine::CommandError;
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::BackupStoreRequest,
) -> Result<v1::BackupStoreResponse, Status> {
    let v1::BackupStoreRequest { destination } = request;
    if destination.is_empty() {
        return Err(status::bad_field("destination", "it is empty", "give an absolute path"));
    }
    let destination = PathBuf::from(destination);
    let engine = ctx.engine.clone();
    let report = detached(ctx.engine.tasks(), "backup", async move {
        tokio::select! {
            biased;
            // A long copy must not hold up the daemon's stop; it is left unfinished under another name.
            () = engine.tasks().cancel_token().cancelled() => {
                Err(status::from_command(&CommandError::Stopping))
            }
            copied = engine.store().backup(&destination) => {
                copied.map_err(|error| status::from_backup(&error))
            }
        }
    })
    .await?;
    Ok(v1::BackupStoreResponse { sessions: report.sessions, events: report.events })
}
