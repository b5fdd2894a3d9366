//! `agentctl memory pin` and `unpin`.

use agentd_proto::v1;

use super::ManyArgs;
use super::table::line;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::MemoryView;

/// Columns of the text in what is said about it.
const TEXT_WIDTH: usize = 70;

/// Keeps memories from ageing, or lets them age again.
pub(super) async fn run(args: &ManyArgs, pinned: bool, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let mut changed = Vec::new();
    for id in &args.ids {
        let request = v1::UpdateMemoryRequest {
            memory_id: id.clone(),
            pinned: Some(pinned),
            author: Some(app.author()),
            ..Default::default()
        };
        let answer = client.memory().update_memory(request).await;
        let answer = answer.map_err(|status| rpc_failure("cannot change the memory", status))?;
        let memory = answer.into_inner().memory.unwrap_or_default();
        if !args.json {
            app.output.line(&line(&memory, TEXT_WIDTH))?;
        }
        changed.push(memory);
    }
    if args.json {
        app.output.json(&changed.iter().map(MemoryView::from).collect::<Vec<_>>())?;
    }
    Ok(Exit::Ok)
}
