//! `agentctl sessions import`.

use std::io::Read as _;
use std::path::Path;
use std::path::PathBuf;

use agentd_proto::v1;
use agentd_shared::client_ids::new_ulid;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::SessionView;
use crate::progress::{Progress, Unit};

/// Options of `sessions import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// File that `sessions export` wrote, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Bytes of a chunk; the daemon takes up to 1 MiB.
const CHUNK_BYTES: usize = 512 * 1024;

/// Creates a session from a file, chunk by chunk.
pub(super) async fn run(args: &ImportArgs, app: &App) -> Result<Exit, Failure> {
    let Source { mut reader, bytes } = open(&args.file)?;
    let client = app.client().await?;
    let session_id = new_ulid();
    let mut offset = 0_u64;
    let mut chunk = read_chunk(&mut reader, &args.file)?;
    if chunk.is_empty() {
        return Err(Failure::new(Exit::Failed, format!("{} is empty", args.file.display()))
            .hint("give a file that `agentctl sessions export` wrote"));
    }
    let progress = match bytes {
        Some(bytes) => Progress::bar(&app.output, "importing", Unit::Bytes, bytes),
        None => Progress::count(&app.output, "importing", Unit::Bytes),
    };
    let session = loop {
        let next = read_chunk(&mut reader, &args.file)?;
        let length = chunk.len();
        let request = v1::ImportSessionRequest {
            session_id: session_id.clone(),
            offset,
            chunk,
            last: next.is_empty(),
            author: Some(app.author()),
        };
        let answer = client.session().import_session(request).await;
        let answer = answer.map_err(|status| rpc_failure("cannot import the session", status))?;
        if next.is_empty() {
            break answer.into_inner().session.unwrap_or_default();
        }
        offset += u64::try_from(length).unwrap_or(0);
        progress.reached(offset);
        chunk = next;
    };
    drop(progress);
    if args.json {
        app.output.json(&SessionView::from(&session))?;
    } else {
        app.output.line(&session.session_id)?;
    }
    Ok(Exit::Ok)
}

/// What is read, and how long it is where that is known.
struct Source {
    reader: Box<dyn std::io::Read + Send>,
    bytes: Option<u64>,
}

fn open(file: &Path) -> Result<Source, Failure> {
    if file == Path::new("-") {
        return Ok(Source { reader: Box::new(std::io::stdin()), bytes: None });
    }
    match std::fs::File::open(file) {
        Ok(opened) => {
            let found = opened.metadata().ok().filter(std::fs::Metadata::is_file);
            Ok(Source { bytes: found.map(|found| found.len()), reader: Box::new(opened) })
        }
        Err(error) => {
            let exit = if error.kind() == std::io::ErrorKind::NotFound {
                Exit::NotFound
            } else {
                Exit::Failed
            };
            Err(Failure::new(exit, format!("cannot open {}", file.display())).because(error))
        }
    }
}

fn read_chunk(source: &mut dyn std::io::Read, file: &Path) -> Result<Vec<u8>, Failure> {
    let mut chunk = Vec::new();
    let limit = u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX);
    match source.take(limit).read_to_end(&mut chunk) {
        Ok(_) => Ok(chunk),
        Err(error) => {
            let what = format!("cannot read {}", file.display());
            Err(Failure::new(Exit::Failed, what).because(error))
        }
    }
}
