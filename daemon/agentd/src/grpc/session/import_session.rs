//! Stages the chunks of an import in a file; the last one makes the session.

use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use agentd_domain::{ErrorKind, SessionId};
use agentd_engine::{CommandError, Engine, MAX_IMPORT_LINE, SessionView};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status, to_proto};

/// Most bytes of one chunk.
const MAX_CHUNK: usize = 1024 * 1024;
/// Most bytes of an import.
const MAX_IMPORT: u64 = 1024 * 1024 * 1024;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ImportSessionRequest,
) -> Result<v1::ImportSessionResponse, Status> {
    let v1::ImportSessionRequest { session_id, offset, chunk, last, author } = request;
    let id: SessionId = from_proto::id("session_id", &session_id)?;
    let by = from_proto::author_or_unknown("author", author.as_ref())?;
    if chunk.len() > MAX_CHUNK {
        let problem = format!("it has {} bytes; at most {MAX_CHUNK} are allowed", chunk.len());
        return Err(status::bad_field("chunk", &problem, "send smaller chunks"));
    }
    if offset.saturating_add(chunk.len() as u64) > MAX_IMPORT {
        let problem = format!("the import has more than {MAX_IMPORT} bytes");
        return Err(status::bad_field("offset", &problem, "split the session before exporting it"));
    }
    let engine = ctx.engine.clone();
    let dir = ctx.imports_dir.clone();
    let workspace = ctx.default_workspace.clone();
    detached(ctx.engine.tasks(), "import", async move {
        // The answer to the last chunk was lost, or the id is taken: either way that session is it.
        if last && let Some(view) = existing(&engine, id).await? {
            let staged_bytes = offset + chunk.len() as u64;
            return Ok(v1::ImportSessionResponse {
                staged_bytes,
                session: Some(to_proto::view(&view)),
            });
        }
        let file = dir.join(format!("{id}.jsonl"));
        let staged_bytes = blocking({
            let file = file.clone();
            move || stage(&dir, &file, offset, &chunk)
        })
        .await?;
        if !last {
            return Ok(v1::ImportSessionResponse { staged_bytes, session: None });
        }
        let lines = blocking({
            let file = file.clone();
            move || std::fs::File::open(&file).map_err(|error| cannot_stage(&error))
        })
        .await?;
        let mut lines = BufReader::new(lines);
        // The file was just written by us: reading it line by line does not wait for a disk.
        let next_line = move || {
            let mut line = Vec::new();
            // One byte more than a line may have, so that the engine sees that it is too long.
            let max = MAX_IMPORT_LINE as u64 + 2;
            let read = lines.by_ref().take(max).read_until(b'\n', &mut line)?;
            line.pop_if(|byte| *byte == b'\n');
            Ok((read > 0).then_some(line))
        };
        let imported = engine
            .import(id, next_line, &workspace, &by)
            .await
            .map_err(|error| status::from_import(&error));
        blocking(move || {
            // What is left of a staged file is removed at the next start.
            let _gone = std::fs::remove_file(&file);
            Ok(())
        })
        .await?;
        Ok(v1::ImportSessionResponse { staged_bytes, session: Some(to_proto::view(&imported?)) })
    })
    .await
}

async fn existing(engine: &Engine, id: SessionId) -> Result<Option<SessionView>, Status> {
    match engine.view(id).await {
        Ok(view) => Ok(Some(view)),
        Err(CommandError::NoSession(_)) => Ok(None),
        Err(error) => Err(status::from_command(&error)),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Status> + Send + 'static,
) -> Result<T, Status> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_panicked| Err(status::internal("import")))
}

/// Writes a chunk where it belongs. A repeated chunk is written over itself.
fn stage(dir: &Path, file: &PathBuf, offset: u64, chunk: &[u8]) -> Result<u64, Status> {
    std::fs::create_dir_all(dir).map_err(|error| cannot_stage(&error))?;
    let mut open = std::fs::OpenOptions::new();
    open.write(true).create(true).truncate(offset == 0).mode(0o600);
    let mut file = open.open(file).map_err(|error| cannot_stage(&error))?;
    let staged = file.metadata().map_err(|error| cannot_stage(&error))?.len();
    if offset > staged {
        let problem = format!("{offset} is past the {staged} bytes that are staged");
        return Err(status::bad_field("offset", &problem, "send the chunks in order, from 0"));
    }
    file.seek(SeekFrom::Start(offset)).map_err(|error| cannot_stage(&error))?;
    file.write_all(chunk).map_err(|error| cannot_stage(&error))?;
    Ok(staged.max(offset + chunk.len() as u64))
}

fn cannot_stage(error: &std::io::Error) -> Status {
    status::error(
        ErrorKind::Unavailable,
        &format!("the import cannot be staged: {error}"),
        "check space and mode of the state directory",
        None,
    )
}
