//! Memories in columns, and the words for what they are.

use agentd_proto::v1;
use agentd_proto::v1::memory_author::By;
use agentd_proto::v1::memory_scope::Scope;
use agentd_shared::text::one_line;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

/// Characters of an id's end, by which a memory may be named.
const SHOWN: usize = 8;
/// Columns of a name or a path.
const NAME_WIDTH: usize = 60;

/// The end of an id, as lists show it and commands take it.
pub(crate) fn short(id: &str) -> &str {
    id.len().checked_sub(SHOWN).and_then(|at| id.get(at..)).unwrap_or(id)
}

/// Rows in columns as wide as they must be; the last one is as it is.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let padded = |row: &[String; N]| {
        let cells = row.iter().zip(widths);
        let cells =
            cells.map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(padded).collect()
}

/// Where a memory is told.
pub(super) fn scope(scope: Option<&v1::MemoryScope>) -> String {
    match scope.and_then(|scope| scope.scope.as_ref()) {
        None => "everywhere".to_owned(),
        Some(Scope::Workspace(root)) => one_line(root, NAME_WIDTH),
        Some(Scope::Agent(name)) => format!("agent {}", one_line(name, NAME_WIDTH)),
    }
}

/// Who brought or changed a memory.
pub(super) fn author(author: Option<&v1::MemoryAuthor>) -> String {
    match author.and_then(|author| author.by.as_ref()) {
        None => "the daemon".to_owned(),
        Some(By::User(user)) => one_line(&user.name, NAME_WIDTH),
        Some(By::Model(_)) => "the model".to_owned(),
        Some(By::Extraction(_)) => "what was said in a conversation".to_owned(),
        Some(By::ImportFrom(from)) => format!("an import of {}", one_line(from, NAME_WIDTH)),
    }
}

/// A day and a time here.
pub(super) fn date(at_ms: i64) -> String {
    match Timestamp::from_millisecond(at_ms) {
        Ok(at) => at.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_out_of_range) => format!("{at_ms} ms"),
    }
}

/// Priority, kind and what else sets a memory apart, in a few words.
pub(super) fn kind(memory: &v1::Memory) -> String {
    let mut words = vec![
        crate::json::memory_priority(memory.priority),
        crate::json::memory_category(memory.category),
    ];
    if memory.pinned {
        words.push("pinned".to_owned());
    }
    if memory.status() != v1::MemoryStatus::Active {
        words.push(crate::json::memory_status(memory.status));
    }
    words.join(", ")
}

/// A memory in one line: the end of its id, and its text.
pub(super) fn line(memory: &v1::Memory, width: usize) -> String {
    format!("{}  {}", short(&memory.memory_id), one_line(&memory.content, width))
}
