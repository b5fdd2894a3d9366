//! Lists what has been changed of files.

use agentd_engine::{HandPlace, PlaceChanges};
use agentd_proto::v1;
use agentd_proto::v1::list_changes_request::Place;
use agentd_tools::{FileChange, NetDiff};
use tonic::Status;

use super::{no_place, session};
use crate::grpc::{Context, status};

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ListChangesRequest,
) -> Result<v1::ListChangesResponse, Status> {
    let v1::ListChangesRequest { place } = request;
    let place = match place {
        Some(Place::SessionId(id)) => session(&id)?,
        Some(Place::Workspace(path)) => HandPlace::Workspace(path),
        None => return Err(no_place()),
    };
    let changed = ctx.engine.changes(&place).await.map_err(|error| status::from_command(&error))?;
    let PlaceChanges { changes, files } = changed;
    let files = files.into_iter().map(|file| {
        let NetDiff { path, diff, problem, changed_by_others } = file;
        v1::FileDiff { path, diff, problem: problem.unwrap_or_default(), changed_by_others }
    });
    let changes = changes.into_iter().map(|change| {
        let FileChange { number, files } = change;
        v1::FileChange { number, paths: files.into_iter().map(|file| file.path).collect() }
    });
    Ok(v1::ListChangesResponse { files: files.collect(), changes: changes.collect() })
}
