//! `agentctl memory export`.

use std::path::PathBuf;

use agentd_proto::v1;
use clap::Args;

use crate::app::{App, rpc_failure};
use crate::command::sessions::export::Sink;
use crate::exit::{Exit, Failure};

/// Options of `memory export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// File to write; without it: stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also those that hold no longer; `memory import` leaves them out
    #[arg(long)]
    all: bool,
}

/// Writes memories as lines of JSON.
pub(super) async fn run(args: &ExportArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let mut sink = match &args.output {
        Some(file) => Sink::file(file)?,
        None => Sink::Stdout(app.output.clone()),
    };
    let mut page_token = String::new();
    loop {
        let request = v1::ExportMemoriesRequest { all: args.all, page_token: page_token.clone() };
        let page = client.memory().export_memories(request).await;
        let page = page.map_err(|status| rpc_failure("cannot export the memories", status))?;
        let v1::ExportMemoriesResponse { lines, next_page_token } = page.into_inner();
        sink.write(&String::from_utf8_lossy(&lines))?;
        // A daemon that stands still must not keep us here for ever.
        if next_page_token.is_empty() || next_page_token == page_token {
            break;
        }
        page_token = next_page_token;
    }
    sink.finish()?;
    if let Some(file) = &args.output {
        app.output.note(&format!("wrote {}", file.display()));
    }
    Ok(Exit::Ok)
}
