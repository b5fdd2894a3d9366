//! Takes in memories that were written elsewhere, line by line. A line that cannot be taken in is told,
//! and the others come in all the same.

use agentd_domain::{ErrorKind, TimestampMs, cut_line};
use agentd_memory::{Added, Memories, MemoryError};
use agentd_proto::v1;
use tonic::Status;

use super::import_line::{self, Line};
use crate::grpc::detached::detached;
use crate::grpc::{Context, from_proto, status, to_proto};

/// Most lines of a request.
const MAX_LINES: usize = 1000;
/// Most bytes of a request's lines.
const MAX_BYTES: usize = 1024 * 1024;
/// Most characters of what is told of a line.
const MAX_PROBLEM: usize = 300;
/// Most characters of a program's name.
const MAX_FROM: usize = 40;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::ImportMemoriesRequest,
) -> Result<v1::ImportMemoriesResponse, Status> {
    let v1::ImportMemoriesRequest { lines, from, author, dry_run } = request;
    let by = from_proto::author("author", author.as_ref())?;
    let text = check(lines)?;
    let from = cut_line(&from, MAX_FROM);
    let from = if from.is_empty() { "a file".to_owned() } else { from };
    let memories = if dry_run {
        ctx.memories.scratch().await.map_err(|error| status::from_memory(&error))?
    } else {
        ctx.memories.clone()
    };
    let now = ctx.clock.now();
    let lines = detached(ctx.engine.tasks(), "import-memories", async move {
        take_in(&memories, &text, &from, now).await
    })
    .await?;
    tracing::info!(lines = lines.len(), dry_run, by = by.name, "memories were imported");
    Ok(v1::ImportMemoriesResponse { lines })
}

fn check(lines: Vec<u8>) -> Result<String, Status> {
    let bad = |problem: String| status::bad_field("lines", &problem, "send fewer lines at once");
    if lines.len() > MAX_BYTES {
        return Err(bad(format!("they have {} bytes; at most {MAX_BYTES} are taken", lines.len())));
    }
    let text = String::from_utf8(lines)
        .map_err(|_not_text| status::bad_field("lines", "they are not UTF-8", "send JSON Lines"))?;
    let count = text.lines().count();
    if count > MAX_LINES {
        return Err(bad(format!("there are {count}; at most {MAX_LINES} are taken")));
    }
    Ok(text)
}

async fn take_in(
    memories: &Memories,
    text: &str,
    from: &str,
    now: TimestampMs,
) -> Result<Vec<v1::ImportedMemory>, Status> {
    let mut told = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_at, line)| !line.trim().is_empty()) {
        let added: Result<Added, String> = match import_line::read(line, from, now) {
            Ok(Line::Record(record)) => problem(memories.take_in(*record).await)?,
            Ok(Line::New(new)) => problem(memories.add(*new).await)?,
            Ok(Line::Dated(new, id, at)) => problem(memories.add_dated(*new, id, at).await)?,
            Err(problem) => Err(problem),
        };
        let line = to_proto::small(at + 1);
        told.push(match added {
            Ok(added) => v1::ImportedMemory {
                line,
                outcome: to_proto::added_memory(added).into(),
                memory_id: added.id().to_string(),
                problem: String::new(),
            },
            Err(problem) => v1::ImportedMemory {
                line,
                problem: cut_line(&problem, MAX_PROBLEM),
                ..Default::default()
            },
        });
    }
    Ok(told)
}

/// What is wrong with a line is told; what is wrong with the store ends the import.
fn problem(added: Result<Added, MemoryError>) -> Result<Result<Added, String>, Status> {
    match added {
        Ok(added) => Ok(Ok(added)),
        Err(error) => match error.kind() {
            ErrorKind::Invalid
            | ErrorKind::NotFound
            | ErrorKind::Precondition
            | ErrorKind::Busy => Ok(Err(error.to_string())),
            _ => Err(status::from_memory(&error)),
        },
    }
}
