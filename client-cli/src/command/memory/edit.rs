//! `agentctl memory edit`.

use agentd_proto::v1;
use clap::Args;

use super::table::line;
use super::{CategoryArg, PriorityArg, add, when};
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::MemoryView;

/// Columns of the text in what is said about it.
const TEXT_WIDTH: usize = 70;

/// Options of `memory edit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct EditArgs {
    /// Memory by id, or by the end of it that lists show
    #[arg(value_name = "ID")]
    id: String,
    /// New text; `-` for stdin
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// How much depends on it
    #[arg(long, value_name = "PRIORITY", value_enum, hide_possible_values = false)]
    priority: Option<PriorityArg>,
    /// What kind of thing it is
    #[arg(long, value_name = "KIND", value_enum, hide_possible_values = false)]
    category: Option<CategoryArg>,
    /// How important it is, 1 to 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
    importance: Option<u32>,
    /// Word to find it by; may be repeated, and replaces those that it has
    #[arg(long, value_name = "TAG", conflicts_with = "no_tags")]
    tag: Vec<String>,
    /// Take its tags away
    #[arg(long)]
    no_tags: bool,
    /// When it ends to hold, or is due: 30d, 2026-12-24 or "2026-12-24 18:00"
    #[arg(long, value_name = "WHEN", value_parser = when::parse, conflicts_with = "no_expiry")]
    expires: Option<i64>,
    /// It holds until it is forgotten
    #[arg(long)]
    no_expiry: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Changes a memory.
pub(super) async fn run(args: &EditArgs, app: &App) -> Result<Exit, Failure> {
    let content = if args.text.is_empty() { None } else { Some(add::text(&args.text)?) };
    let tags =
        (args.no_tags || !args.tag.is_empty()).then(|| v1::MemoryTags { tags: args.tag.clone() });
    let expires_at_ms = if args.no_expiry { Some(0) } else { args.expires };
    let request = v1::UpdateMemoryRequest {
        memory_id: args.id.clone(),
        content,
        priority: args.priority.map(|it| v1::MemoryPriority::from(it).into()),
        importance: args.importance,
        category: args.category.map(|it| v1::MemoryCategory::from(it).into()),
        tags,
        pinned: None,
        expires_at_ms,
        author: Some(app.author()),
    };
    let changes_nothing = v1::UpdateMemoryRequest {
        memory_id: args.id.clone(),
        author: Some(app.author()),
        ..Default::default()
    };
    if request == changes_nothing {
        return Err(Failure::new(Exit::Usage, "there is nothing to change")
            .hint("give a text, or an option such as --priority high"));
    }
    let client = app.client().await?;
    let answer = client.memory().update_memory(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot change the memory", status))?;
    let memory = answer.into_inner().memory.unwrap_or_default();
    if args.json {
        app.output.json(&MemoryView::from(&memory))?;
    } else {
        app.output.line(&line(&memory, TEXT_WIDTH))?;
    }
    Ok(Exit::Ok)
}
