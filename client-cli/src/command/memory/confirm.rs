//! `agentctl memory confirm`.

use agentd_proto::v1;

use super::ManyArgs;
use super::table::line;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::MemoryView;

/// Columns of the text in what is said about it.
const TEXT_WIDTH: usize = 70;

/// Stands behind memories.
pub(super) async fn run(args: &ManyArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let mut confirmed = Vec::new();
    for id in &args.ids {
        let request =
            v1::ConfirmMemoryRequest { memory_id: id.clone(), author: Some(app.author()) };
        let answer = client.memory().confirm_memory(request).await;
        let answer = answer.map_err(|status| rpc_failure("cannot confirm the memory", status))?;
        let memory = answer.into_inner().memory.unwrap_or_default();
        if !args.json {
            app.output.line(&line(&memory, TEXT_WIDTH))?;
        }
        confirmed.push(memory);
    }
    if args.json {
        app.output.json(&confirmed.iter().map(MemoryView::from).collect::<Vec<_>>())?;
    }
    Ok(Exit::Ok)
}
