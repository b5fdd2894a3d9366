//! `agentctl memory list` and `search`.

use std::path::PathBuf;

use agentd_proto::v1;
use agentd_shared::format::memory::{scope, short};
use agentd_shared::text::one_line;
use agentd_shared::{Client, directory};
use clap::{Args, ValueEnum};

use super::table::columns;
use super::{CategoryArg, PriorityArg};
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::FoundMemoryView;

/// Columns of a text where nobody says how wide the terminal is.
const TEXT_WIDTH: usize = 100;
/// Columns of a path.
const SCOPE_WIDTH: usize = 30;
/// Rows that the daemon gives at once.
const PAGE: u32 = 200;

/// Which memories.
#[derive(Debug, Clone, Args)]
pub(crate) struct WhichArgs {
    /// Those that are told in this directory's sessions
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Those in this state; may be repeated (default: those that hold)
    #[arg(long, value_name = "STATUS", value_enum, hide_possible_values = false)]
    status: Vec<StatusArg>,
    /// Those of this kind
    #[arg(long, value_name = "KIND", value_enum, hide_possible_values = false)]
    category: Option<CategoryArg>,
    /// Those of this priority
    #[arg(long, value_name = "PRIORITY", value_enum, hide_possible_values = false)]
    priority: Option<PriorityArg>,
    /// Those with this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Those that are at least this important, 1 to 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
    min_importance: Option<u32>,
    /// Most rows
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 50)]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Options of `memory list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Options of `memory search`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SearchArgs {
    /// Words to find
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    #[command(flatten)]
    which: WhichArgs,
}

/// What has become of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusArg {
    /// It holds.
    Active,
    /// It waits until you confirm it.
    Quarantined,
    /// Somebody took it back.
    Forgotten,
    /// It is part of another one.
    Merged,
    /// A newer one contradicts it.
    Superseded,
    /// Its time is over.
    Expired,
    /// There were too many critical ones.
    Displaced,
    /// It lay unused for too long.
    Faded,
}

impl From<StatusArg> for v1::MemoryStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Active => Self::Active,
            StatusArg::Quarantined => Self::Quarantined,
            StatusArg::Forgotten => Self::Forgotten,
            StatusArg::Merged => Self::Merged,
            StatusArg::Superseded => Self::Superseded,
            StatusArg::Expired => Self::Expired,
            StatusArg::Displaced => Self::Displaced,
            StatusArg::Faded => Self::Faded,
        }
    }
}

/// Lists memories.
pub(super) async fn run(args: &ListArgs, app: &App) -> Result<Exit, Failure> {
    listed(String::new(), &args.which, app).await
}

/// Finds memories.
pub(super) async fn search(args: &SearchArgs, app: &App) -> Result<Exit, Failure> {
    listed(args.words.join(" "), &args.which, app).await
}

async fn listed(text: String, which: &WhichArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let WhichArgs { workspace, status, category, priority, tag, min_importance, limit, json } =
        which;
    let scopes = match workspace {
        None => Vec::new(),
        Some(path) => scopes_of(directory::named(client.endpoint(), path)?),
    };
    let filter = v1::MemoryFilter {
        text,
        scopes,
        statuses: status.iter().map(|it| v1::MemoryStatus::from(*it).into()).collect(),
        category: category.map_or(0, |it| v1::MemoryCategory::from(it).into()),
        priority: priority.map_or(0, |it| v1::MemoryPriority::from(it).into()),
        tags: tag.clone(),
        min_importance: min_importance.unwrap_or(0),
    };
    let (found, total) = fetch(&client, filter, *limit).await?;
    if *json {
        app.output.json(&found.iter().map(FoundMemoryView::from).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if found.is_empty() {
        app.output.note("no such memories");
        return Ok(Exit::Ok);
    }
    for line in table(&found, TEXT_WIDTH) {
        app.output.line(&line)?;
    }
    let shown = u32::try_from(found.len()).unwrap_or(u32::MAX);
    if shown < total {
        app.output.note(&format!("{shown} of {total}; --limit shows more"));
    }
    Ok(Exit::Ok)
}

/// Where memories are told that a session of this workspace is told.
pub(crate) fn scopes_of(workspace: String) -> Vec<v1::MemoryScope> {
    let here = v1::memory_scope::Scope::Workspace(workspace);
    vec![v1::MemoryScope::default(), v1::MemoryScope { scope: Some(here) }]
}

/// Memories that are wanted, at most `limit`, and how many there are in all.
///
/// # Errors
/// When the daemon cannot list them.
pub(crate) async fn fetch(
    client: &Client,
    filter: v1::MemoryFilter,
    limit: u32,
) -> Result<(Vec<v1::FoundMemory>, u32), Failure> {
    let mut found: Vec<v1::FoundMemory> = Vec::new();
    let mut page_token = String::new();
    loop {
        let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        let request = v1::ListMemoriesRequest {
            filter: Some(filter.clone()),
            page_size: left.clamp(1, PAGE),
            page_token,
        };
        let page = client.memory().list_memories(request).await;
        let page = page.map_err(|status| rpc_failure("cannot list the memories", status))?;
        let v1::ListMemoriesResponse { memories, next_page_token, total } = page.into_inner();
        let is_last = memories.is_empty() || next_page_token.is_empty();
        found.extend(memories);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        if is_last || found.len() >= limit {
            found.truncate(limit);
            return Ok((found, total));
        }
        page_token = next_page_token;
    }
}

/// Memories in columns.
pub(crate) fn table(found: &[v1::FoundMemory], text_width: usize) -> Vec<String> {
    let heading = ["ID", "PRIORITY", "IMP", "KIND", "WHERE", "TEXT"].map(str::to_owned);
    let mut rows = vec![heading];
    for memory in found.iter().filter_map(|found| found.memory.as_ref()) {
        let mut text = one_line(&memory.content, text_width);
        if memory.status() != v1::MemoryStatus::Active {
            text = format!("({}) {text}", crate::json::memory_status(memory.status));
        }
        let pinned = if memory.pinned { "*" } else { "" };
        rows.push([
            short(&memory.memory_id).to_owned(),
            format!("{}{pinned}", crate::json::memory_priority(memory.priority)),
            memory.importance.to_string(),
            crate::json::memory_category(memory.category),
            one_line(&scope(memory.scope.as_ref()), SCOPE_WIDTH),
            text,
        ]);
    }
    columns(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_inert_and_says_what_sets_memories_apart() {
        let found = |memory| v1::FoundMemory { memory: Some(memory), score: 1.0 };
        let plain = v1::Memory {
            memory_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
            content: "likes\ntea \u{1b}[2J".to_owned(),
            priority: v1::MemoryPriority::High.into(),
            importance: 3,
            category: v1::MemoryCategory::Preference.into(),
            status: v1::MemoryStatus::Active.into(),
            ..Default::default()
        };
        let waiting = v1::Memory {
            status: v1::MemoryStatus::Quarantined.into(),
            pinned: true,
            content: "x".to_owned(),
            scope: scopes_of("/w".to_owned()).pop(),
            ..plain.clone()
        };
        assert_eq!(
            table(&[found(plain), found(waiting)], 40),
            [
                "ID        PRIORITY  IMP  KIND        WHERE       TEXT",
                "69G5FAV   high      3    preference  everywhere  likes tea \\u{1b}[2J",
                "69G5FAV   high*     3    preference  /w          (quarantined) x",
            ]
            .map(|line| line.replace("69G5FAV ", "Q69G5FAV"))
        );
    }
}
