//! What is remembered.

use agentd_proto::v1;
use agentd_shared::format::memory::{author, scope};
use agentd_shared::format::names::memory_priority;
use agentd_shared::text::{one_line, relative_time};
use crossterm::event::KeyCode;

use super::{Asker, Detail, Ink, PaneRow};
use crate::conn::Command;

/// Memories that are listed.
const PAGE: u32 = 200;
/// Columns of a memory in a list.
const SHOWN: usize = 400;

/// What a key does.
pub(super) enum Act {
    Nothing,
    Send(Box<Command>),
    /// Only when it is confirmed.
    Ask(String, Box<Command>),
}

pub(super) fn list(words: &str) -> Command {
    // Those that wait are listed too: nobody else tells of them.
    let statuses = [v1::MemoryStatus::Active, v1::MemoryStatus::Quarantined].map(i32::from);
    let filter = v1::MemoryFilter {
        text: words.to_owned(),
        statuses: statuses.to_vec(),
        ..v1::MemoryFilter::default()
    };
    let request =
        v1::ListMemoriesRequest { filter: Some(filter), page_size: PAGE, ..Default::default() };
    Command::ListMemories(request)
}

/// A text that everybody is told from now on.
pub(super) fn add(content: String, asker: Asker<'_>) -> Command {
    let author = Some(asker.author.clone());
    let scope = Some(v1::MemoryScope::default());
    Command::AddMemory(v1::AddMemoryRequest { content, scope, author, ..Default::default() })
}

pub(super) fn added(added: &v1::AddMemoryResponse) -> &'static str {
    match added.outcome() {
        v1::AddedMemory::Unspecified | v1::AddedMemory::New => "remembered; u takes it back",
        v1::AddedMemory::Quarantined => "it waits until somebody confirms it",
        v1::AddedMemory::Merged => "it became part of a memory that was there",
        v1::AddedMemory::Known => "that is remembered already",
    }
}

pub(super) fn heading(page: &v1::ListMemoriesResponse) -> String {
    let shown = page.memories.len();
    match page.total {
        1 => "1 memory".to_owned(),
        total if usize::try_from(total).is_ok_and(|total| total > shown) => {
            format!("{shown} of {total} memories; / narrows them down")
        }
        total => format!("{total} memories"),
    }
}

pub(super) fn rows(page: &v1::ListMemoriesResponse, now_ms: i64) -> Vec<PaneRow> {
    let memories = page.memories.iter().filter_map(|found| found.memory.as_ref());
    memories.map(|memory| row(memory, now_ms)).collect()
}

fn row(memory: &v1::Memory, now_ms: i64) -> PaneRow {
    let waits = memory.status() == v1::MemoryStatus::Quarantined;
    let (mark, ink) = match memory.priority() {
        _ if waits => ("waits", Ink::Warn),
        v1::MemoryPriority::Critical => ("critical", Ink::Bad),
        v1::MemoryPriority::High => ("high", Ink::Plain),
        v1::MemoryPriority::Unspecified | v1::MemoryPriority::Medium => ("medium", Ink::Plain),
        v1::MemoryPriority::Low => ("low", Ink::Dim),
    };
    let pinned = if memory.pinned { "pinned · " } else { "" };
    PaneRow {
        mark: mark.to_owned(),
        ink,
        text: one_line(&memory.content, SHOWN),
        side: format!("{pinned}{}", relative_time(memory.changed_at_ms, now_ms)),
    }
}

pub(super) fn act(
    page: &v1::ListMemoriesResponse,
    selected: usize,
    code: KeyCode,
    asker: Asker<'_>,
) -> Act {
    if code == KeyCode::Char('u') {
        return Act::Send(Box::new(Command::GetMemoryStats));
    }
    let chosen = page.memories.get(selected).and_then(|found| found.memory.as_ref());
    let Some(memory) = chosen else { return Act::Nothing };
    let memory_id = memory.memory_id.clone();
    let author = Some(asker.author.clone());
    let command = match code {
        KeyCode::Enter => Command::GetMemory(v1::GetMemoryRequest { memory_id }),
        KeyCode::Char('p') => Command::UpdateMemory(v1::UpdateMemoryRequest {
            memory_id,
            pinned: Some(!memory.pinned),
            author,
            ..v1::UpdateMemoryRequest::default()
        }),
        KeyCode::Char('c') if memory.status() == v1::MemoryStatus::Quarantined => {
            let request = v1::ConfirmMemoryRequest { memory_id, author };
            let question = format!("stand behind \"{}\"? y/n", one_line(&memory.content, 60));
            return Act::Ask(question, Box::new(Command::ConfirmMemory(request)));
        }
        KeyCode::Char('f') => {
            let request = v1::ForgetMemoryRequest { memory_id, erase: false, author };
            let question = format!("forget \"{}\"? y/n", one_line(&memory.content, 60));
            return Act::Ask(question, Box::new(Command::ForgetMemory(request)));
        }
        _ => return Act::Nothing,
    };
    Act::Send(Box::new(command))
}

/// What the next undo would take back, to be confirmed.
pub(super) fn undo_question(stats: &v1::GetMemoryStatsResponse) -> Option<(String, Command)> {
    let change = stats.undoable.as_ref()?;
    let request = v1::UndoMemoryChangeRequest { change_id: change.change_id.clone(), author: None };
    let question = format!("take back: {}? y/n", changed(change));
    Some((question, Command::UndoMemoryChange(request)))
}

pub(super) fn undone(undone: &v1::UndoMemoryChangeResponse) -> String {
    undone
        .change
        .as_ref()
        .map_or("taken back".to_owned(), |change| format!("taken back: {}", changed(change)))
}

/// A change in a few words.
fn changed(change: &v1::MemoryChange) -> String {
    let what = match change.kind() {
        v1::MemoryChangeKind::Unspecified => "changed",
        v1::MemoryChangeKind::Added => "added",
        v1::MemoryChangeKind::Merged => "made part of another",
        v1::MemoryChangeKind::Edited => "edited",
        v1::MemoryChangeKind::Superseded => "replaced by a newer one",
        v1::MemoryChangeKind::Confirmed => "confirmed",
        v1::MemoryChangeKind::Forgotten => "forgotten",
        v1::MemoryChangeKind::Decayed => "aged",
        v1::MemoryChangeKind::Expired => "ended",
        v1::MemoryChangeKind::Adjusted => "moved to another priority",
        v1::MemoryChangeKind::Undone => "undone",
    };
    let memory = change.edits.first().and_then(|edit| edit.after.as_ref().or(edit.before.as_ref()));
    let which =
        memory.map_or(String::new(), |memory| format!(" \"{}\"", one_line(&memory.content, 60)));
    match change.edit_count {
        0 | 1 => format!("{what}{which}"),
        count => format!("{what}: {count} memories"),
    }
}

/// A memory: what it says, where it is from, what becomes of it and what was changed of it.
pub(super) fn detail(found: &v1::GetMemoryResponse, now_ms: i64) -> Detail {
    let memory = found.memory.clone().unwrap_or_default();
    let mut detail = Detail::new(format!("memory {}", one_line(&memory.memory_id, 30)));
    detail.add(Ink::Plain, &memory.content);
    detail.gap();
    detail.add(Ink::Dim, &format!("where it is told: {}", scope(memory.scope.as_ref())));
    detail.add(Ink::Dim, &format!("who brought it: {}", author(memory.author.as_ref())));
    if !memory.session_id.is_empty() {
        detail.add(Ink::Dim, &format!("where it came up: session {}", memory.session_id));
    }
    if !memory.tags.is_empty() {
        detail.add(Ink::Dim, &format!("found by: {}", memory.tags.join(", ")));
    }
    detail.add(Ink::Dim, &format!("known since: {}", relative_time(memory.created_at_ms, now_ms)));
    let used = match memory.uses {
        0 => "it has not helped yet".to_owned(),
        uses => format!(
            "it has helped {uses} times, last {}",
            relative_time(memory.last_used_at_ms, now_ms)
        ),
    };
    detail.add(Ink::Dim, &used);
    detail.gap();
    let left = format!("{:.0} % of it is left", (found.retention * 100.0).clamp(0.0, 100.0));
    detail.add(Ink::Heading, "what becomes of it");
    if memory.pinned {
        detail.add(Ink::Plain, "it is pinned and does not age");
    } else {
        detail.add(Ink::Plain, &left);
    }
    for step in &found.forecast {
        let falls = match step.falls_to() {
            v1::MemoryPriority::Unspecified => "it fades".to_owned(),
            priority => format!("it falls to {}", memory_priority(priority)),
        };
        let when = relative_time(step.at_ms, now_ms);
        detail.add(Ink::Plain, &format!("{when} {falls} if nobody uses it"));
    }
    detail.gap();
    detail.add(Ink::Heading, "what was changed of it");
    for change in &found.changes {
        let when = relative_time(change.at_ms, now_ms);
        let by = author(change.author.as_ref());
        let undone = if change.undone_by.is_empty() { "" } else { " (taken back)" };
        detail.add(Ink::Plain, &format!("{when}: {} by {by}{undone}", changed(change)));
    }
    detail
}
