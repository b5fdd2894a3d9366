//! `agentctl memory forget`.

use agentd_proto::v1;
use clap::Args;

use super::show::fetch;
use super::table::line;
use crate::app::{App, rpc_failure};
use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::json::ForgottenView;

/// Columns of the text in what is said about it.
const TEXT_WIDTH: usize = 70;

/// Options of `memory forget`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ForgetArgs {
    /// Memories by id, or by the end of it that lists show
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Remove them with their history, for good
    #[arg(long)]
    erase: bool,
    /// Do not ask
    #[arg(long, short, requires = "erase")]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Takes memories back. All ids are looked up before the first is touched.
pub(super) async fn run(args: &ForgetArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let mut memories: Vec<v1::Memory> = Vec::new();
    for id in &args.ids {
        let memory = fetch(&client, id).await?.memory.unwrap_or_default();
        if memories.iter().all(|known| known.memory_id != memory.memory_id) {
            app.output.note(&format!("  {}", line(&memory, TEXT_WIDTH)));
            memories.push(memory);
        }
    }
    if args.erase && !args.yes {
        let noun = if memories.len() == 1 { "this memory" } else { "these memories" };
        if !confirm(app, "erasing", &format!("Erase {noun} for good?")).await? {
            app.output.note("nothing was erased");
            return Ok(Exit::Failed);
        }
    }
    let done = if args.erase { "erased" } else { "forgotten" };
    for memory in &memories {
        let request = v1::ForgetMemoryRequest {
            memory_id: memory.memory_id.clone(),
            erase: args.erase,
            author: Some(app.author()),
        };
        let answer = client.memory().forget_memory(request).await;
        answer.map_err(|status| rpc_failure("cannot forget the memory", status))?;
        app.output.note(&format!("{done}: {}", memory.memory_id));
    }
    if args.json {
        let memory_ids = memories.iter().map(|memory| memory.memory_id.as_str()).collect();
        app.output.json(&ForgottenView { memory_ids, erased: args.erase })?;
    }
    if !args.erase {
        app.output.note("`agentctl memory undo` brings the last one back");
    }
    Ok(Exit::Ok)
}
