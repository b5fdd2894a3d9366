//! `agentctl memory add`.

use std::io::Read as _;
use std::path::PathBuf;

use agentd_proto::v1;
use agentd_proto::v1::memory_scope::Scope;
use agentd_shared::directory;
use agentd_shared::format::memory::short;
use clap::Args;

use super::table::line;
use super::{CategoryArg, PriorityArg, when};
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::MemoryView;

/// Columns of the text in what is said about it.
const TEXT_WIDTH: usize = 70;
/// Most bytes that are read from stdin: more than any memory may have.
const MAX_STDIN: u64 = 64 * 1024;

/// Options of `memory add`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AddArgs {
    /// What to remember; `-` for stdin
    #[arg(value_name = "TEXT", required = true)]
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
    /// Word to find it by; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only in the sessions of this directory
    #[arg(long, value_name = "DIR", conflicts_with = "agent")]
    workspace: Option<PathBuf>,
    /// Only in the sessions of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// It does not age
    #[arg(long)]
    pin: bool,
    /// When it ends to hold: 30d, 2026-12-24 or "2026-12-24 18:00"
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    expires: Option<i64>,
    /// Remind of it then
    #[arg(long, value_name = "WHEN", value_parser = when::parse, conflicts_with_all = ["expires", "category"])]
    remind: Option<i64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Remembers a text.
pub(super) async fn run(args: &AddArgs, app: &App) -> Result<Exit, Failure> {
    let content = text(&args.text)?;
    let client = app.client().await?;
    let scope = match (&args.workspace, &args.agent) {
        (Some(path), _) => Some(Scope::Workspace(directory::named(client.endpoint(), path)?)),
        (None, Some(name)) => Some(Scope::Agent(name.clone())),
        (None, None) => None,
    };
    let category = match args.remind {
        Some(_) => v1::MemoryCategory::Reminder,
        None => args.category.map_or(v1::MemoryCategory::Unspecified, Into::into),
    };
    let request = v1::AddMemoryRequest {
        content,
        priority: args.priority.map_or(0, |it| v1::MemoryPriority::from(it).into()),
        importance: args.importance.unwrap_or(0),
        category: category.into(),
        tags: args.tag.clone(),
        scope: Some(v1::MemoryScope { scope }),
        pinned: args.pin,
        expires_at_ms: args.remind.or(args.expires).unwrap_or(0),
        author: Some(app.author()),
        session_id: String::new(),
    };
    let answer = client.memory().add_memory(request).await;
    let answer = answer.map_err(|status| rpc_failure("cannot remember that", status))?;
    let answer = answer.into_inner();
    let outcome = answer.outcome();
    let memory = answer.memory.unwrap_or_default();
    if args.json {
        app.output.json(&MemoryView::from(&memory))?;
        return Ok(Exit::Ok);
    }
    match outcome {
        v1::AddedMemory::Merged => app.output.note("it became part of a memory that was there"),
        v1::AddedMemory::Known => app.output.note("that was known already"),
        v1::AddedMemory::Quarantined => app
            .output
            .note(&format!("it waits: `agentctl memory confirm {}`", short(&memory.memory_id))),
        v1::AddedMemory::New | v1::AddedMemory::Unspecified => {}
    }
    app.output.line(&line(&memory, TEXT_WIDTH))?;
    Ok(Exit::Ok)
}

/// The text of the command line, or of stdin.
///
/// # Errors
/// When stdin cannot be read.
pub(super) fn text(words: &[String]) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_STDIN).read_to_string(&mut text);
    read.map_err(|error| Failure::new(Exit::Failed, "cannot read stdin").because(error))?;
    Ok(text)
}
