//! Views of memories.

use agentd_proto::v1;
use agentd_proto::v1::memory_author::By;
use agentd_proto::v1::memory_scope::Scope;
use serde::Serialize;

use super::event::{AuthorView, view};
use super::memory_consolidation::ConsolidationView;

/// A memory.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryView<'a> {
    memory_id: &'a str,
    revision: u32,
    content: &'a str,
    priority: String,
    importance: u32,
    category: String,
    tags: &'a [String],
    workspace: &'a str,
    agent: &'a str,
    status: String,
    replaced_by: &'a str,
    pinned: bool,
    expires_at_ms: i64,
    created_at_ms: i64,
    changed_at_ms: i64,
    tier_since_ms: i64,
    uses: u32,
    last_used_at_ms: i64,
    last_told_at_ms: i64,
    stability_days: f64,
    author: MemoryAuthorView<'a>,
    session_id: &'a str,
    seq: u64,
    source_ids: &'a [String],
}

impl<'a> From<&'a v1::Memory> for MemoryView<'a> {
    fn from(memory: &'a v1::Memory) -> Self {
        let v1::Memory {
            memory_id,
            revision,
            content,
            priority,
            importance,
            category,
            tags,
            scope,
            status,
            replaced_by,
            pinned,
            expires_at_ms,
            created_at_ms,
            changed_at_ms,
            tier_since_ms,
            uses,
            last_used_at_ms,
            last_told_at_ms,
            stability_days,
            author,
            session_id,
            seq,
            source_ids,
        } = memory;
        let (workspace, agent) = match scope.as_ref().and_then(|scope| scope.scope.as_ref()) {
            None => ("", ""),
            Some(Scope::Workspace(root)) => (root.as_str(), ""),
            Some(Scope::Agent(name)) => ("", name.as_str()),
        };
        Self {
            memory_id,
            revision: *revision,
            content,
            priority: super::memory_priority(*priority),
            importance: *importance,
            category: super::memory_category(*category),
            tags,
            workspace,
            agent,
            status: super::memory_status(*status),
            replaced_by,
            pinned: *pinned,
            expires_at_ms: *expires_at_ms,
            created_at_ms: *created_at_ms,
            changed_at_ms: *changed_at_ms,
            tier_since_ms: *tier_since_ms,
            uses: *uses,
            last_used_at_ms: *last_used_at_ms,
            last_told_at_ms: *last_told_at_ms,
            stability_days: *stability_days,
            author: MemoryAuthorView::of(author.as_ref()),
            session_id,
            seq: *seq,
            source_ids,
        }
    }
}

/// Who brought or changed a memory.
#[derive(Debug, Serialize)]
struct MemoryAuthorView<'a> {
    by: &'static str,
    user: Option<AuthorView<'a>>,
    import_from: &'a str,
}

impl<'a> MemoryAuthorView<'a> {
    fn of(author: Option<&'a v1::MemoryAuthor>) -> Self {
        let plain = |by| Self { by, user: None, import_from: "" };
        match author.and_then(|author| author.by.as_ref()) {
            None => plain("daemon"),
            Some(By::User(user)) => Self { user: Some(user.into()), ..plain("user") },
            Some(By::Model(_)) => plain("model"),
            Some(By::Extraction(_)) => plain("extraction"),
            Some(By::ImportFrom(from)) => Self { import_from: from, ..plain("import") },
        }
    }
}

/// A memory that was found.
#[derive(Debug, Serialize)]
pub(crate) struct FoundMemoryView<'a> {
    memory: Option<MemoryView<'a>>,
    score: f32,
}

impl<'a> From<&'a v1::FoundMemory> for FoundMemoryView<'a> {
    fn from(found: &'a v1::FoundMemory) -> Self {
        let v1::FoundMemory { memory, score } = found;
        Self { memory: view(memory.as_ref()), score: *score }
    }
}

/// A memory with its history.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryDetailView<'a> {
    memory: Option<MemoryView<'a>>,
    retention: f64,
    forecast: Vec<StepView>,
    changes: Vec<MemoryChangeView<'a>>,
}

impl<'a> From<&'a v1::GetMemoryResponse> for MemoryDetailView<'a> {
    fn from(detail: &'a v1::GetMemoryResponse) -> Self {
        let v1::GetMemoryResponse { memory, retention, forecast, changes } = detail;
        Self {
            memory: view(memory.as_ref()),
            retention: *retention,
            forecast: forecast.iter().map(StepView::from).collect(),
            changes: changes.iter().map(MemoryChangeView::from).collect(),
        }
    }
}

/// What becomes of a memory; `falls_to` is null when it fades.
#[derive(Debug, Serialize)]
struct StepView {
    at_ms: i64,
    falls_to: Option<String>,
}

impl From<&v1::MemoryStep> for StepView {
    fn from(step: &v1::MemoryStep) -> Self {
        let v1::MemoryStep { at_ms, falls_to } = step;
        let falls_to = (*falls_to != 0).then(|| super::memory_priority(*falls_to));
        Self { at_ms: *at_ms, falls_to }
    }
}

/// A change of memories.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryChangeView<'a> {
    change_id: &'a str,
    at_ms: i64,
    kind: String,
    author: MemoryAuthorView<'a>,
    undone_by: &'a str,
    edits: Vec<MemoryEditView<'a>>,
    edit_count: u32,
}

impl<'a> From<&'a v1::MemoryChange> for MemoryChangeView<'a> {
    fn from(change: &'a v1::MemoryChange) -> Self {
        let v1::MemoryChange { change_id, at_ms, kind, author, undone_by, edits, edit_count } =
            change;
        Self {
            change_id,
            at_ms: *at_ms,
            kind: super::memory_change_kind(*kind),
            author: MemoryAuthorView::of(author.as_ref()),
            undone_by,
            edits: edits.iter().map(MemoryEditView::from).collect(),
            edit_count: *edit_count,
        }
    }
}

/// A memory before and after a change.
#[derive(Debug, Serialize)]
struct MemoryEditView<'a> {
    before: Option<MemoryView<'a>>,
    after: Option<MemoryView<'a>>,
}

impl<'a> From<&'a v1::MemoryEdit> for MemoryEditView<'a> {
    fn from(edit: &'a v1::MemoryEdit) -> Self {
        let v1::MemoryEdit { before, after } = edit;
        Self { before: view(before.as_ref()), after: view(after.as_ref()) }
    }
}

/// How many memories there are.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryStatsView<'a> {
    counts: Vec<CountView>,
    max_active: u32,
    search: &'a str,
    due_reminders: u32,
    undoable: Option<MemoryChangeView<'a>>,
    last_consolidation: Option<ConsolidationView<'a>>,
}

impl<'a> From<&'a v1::GetMemoryStatsResponse> for MemoryStatsView<'a> {
    fn from(stats: &'a v1::GetMemoryStatsResponse) -> Self {
        let v1::GetMemoryStatsResponse {
            counts,
            max_active,
            search,
            due_reminders,
            undoable,
            last_consolidation,
        } = stats;
        Self {
            counts: counts.iter().map(CountView::from).collect(),
            max_active: *max_active,
            search,
            due_reminders: *due_reminders,
            undoable: view(undoable.as_ref()),
            last_consolidation: view(last_consolidation.as_ref()),
        }
    }
}

#[derive(Debug, Serialize)]
struct CountView {
    status: String,
    priority: String,
    count: u32,
}

impl From<&v1::MemoryCount> for CountView {
    fn from(count: &v1::MemoryCount) -> Self {
        let v1::MemoryCount { status, priority, count } = count;
        Self {
            status: super::memory_status(*status),
            priority: super::memory_priority(*priority),
            count: *count,
        }
    }
}

/// What time did, or would do.
#[derive(Debug, Serialize)]
pub(crate) struct SweepView<'a> {
    aged: u32,
    expired: u32,
    removed: u32,
    would_age: Vec<MemoryEditView<'a>>,
}

impl<'a> From<&'a v1::SweepMemoriesResponse> for SweepView<'a> {
    fn from(sweep: &'a v1::SweepMemoriesResponse) -> Self {
        let v1::SweepMemoriesResponse { aged, expired, removed, would_age } = sweep;
        Self {
            aged: *aged,
            expired: *expired,
            removed: *removed,
            would_age: would_age.iter().map(MemoryEditView::from).collect(),
        }
    }
}
