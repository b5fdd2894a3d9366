//! `agentctl memory show`.

use agentd_proto::v1;
use agentd_shared::Client;
use agentd_shared::format::memory::{kind, scope, short};
use agentd_shared::text::one_line;

use super::OneArgs;
use super::table::date;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::MemoryView;

/// Columns of the tags.
const TAGS_WIDTH: usize = 100;

/// Shows a memory whole.
pub(super) async fn run(args: &OneArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let memory = fetch(&client, &args.id).await?.memory.unwrap_or_default();
    if args.json {
        app.output.json(&MemoryView::from(&memory))?;
        return Ok(Exit::Ok);
    }
    app.output.foreign_line(&memory.content)?;
    app.output.line("")?;
    app.output.line(&format!("id          {}", memory.memory_id))?;
    for line in about(&memory) {
        app.output.line(&line)?;
    }
    app.output.note(&format!("`agentctl memory why {}` shows its history", args.id));
    Ok(Exit::Ok)
}

/// A memory with its history.
///
/// # Errors
/// When there is none.
pub(super) async fn fetch(client: &Client, id: &str) -> Result<v1::GetMemoryResponse, Failure> {
    let request = v1::GetMemoryRequest { memory_id: id.to_owned() };
    let answer = client.memory().get_memory(request).await;
    Ok(answer.map_err(|status| rpc_failure("cannot show the memory", status))?.into_inner())
}

/// What a memory is, without its text.
pub(super) fn about(memory: &v1::Memory) -> Vec<String> {
    let mut lines = vec![
        format!("what        {}, importance {} of 5", kind(memory), memory.importance),
        format!("told        {}", scope(memory.scope.as_ref())),
    ];
    if !memory.tags.is_empty() {
        lines.push(format!("tags        {}", one_line(&memory.tags.join(", "), TAGS_WIDTH)));
    }
    if memory.expires_at_ms != 0 {
        let what = if memory.category() == v1::MemoryCategory::Reminder { "due" } else { "until" };
        lines.push(format!("{what:<11} {}", date(memory.expires_at_ms)));
    }
    if !memory.replaced_by.is_empty() {
        lines.push(format!("now in      {}", one_line(&memory.replaced_by, TAGS_WIDTH)));
    }
    if !memory.source_ids.is_empty() {
        let waits = memory.status() == v1::MemoryStatus::Quarantined;
        let what = if waits { "replaces" } else { "made of" };
        let ids: Vec<&str> = memory.source_ids.iter().map(|id| short(id)).collect();
        lines.push(format!("{what:<11} {}", one_line(&ids.join(", "), TAGS_WIDTH)));
    }
    lines
}
