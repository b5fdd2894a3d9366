//! Memories in words.

use agentd_proto::v1;
use agentd_proto::v1::memory_author::By;
use agentd_proto::v1::memory_scope::Scope;

use super::names;
use crate::text::one_line;

/// Characters of an id's end, by which a memory may be named.
const SHOWN: usize = 8;
/// Columns of a name or a path.
const NAME_WIDTH: usize = 60;

/// The end of an id, as lists show it and commands take it.
pub fn short(id: &str) -> &str {
    id.len().checked_sub(SHOWN).and_then(|at| id.get(at..)).unwrap_or(id)
}

/// Where a memory is told.
pub fn scope(scope: Option<&v1::MemoryScope>) -> String {
    match scope.and_then(|scope| scope.scope.as_ref()) {
        None => "everywhere".to_owned(),
        Some(Scope::Workspace(root)) => one_line(root, NAME_WIDTH),
        Some(Scope::Agent(name)) => format!("agent {}", one_line(name, NAME_WIDTH)),
    }
}

/// Who brought or changed a memory.
pub fn author(author: Option<&v1::MemoryAuthor>) -> String {
    match author.and_then(|author| author.by.as_ref()) {
        None => "the daemon".to_owned(),
        Some(By::User(user)) => one_line(&user.name, NAME_WIDTH),
        Some(By::Model(_)) => "the model".to_owned(),
        Some(By::Extraction(_)) => "what was said in a conversation".to_owned(),
        Some(By::ImportFrom(from)) => format!("an import of {}", one_line(from, NAME_WIDTH)),
    }
}

/// Priority, kind and what else sets a memory apart, in a few words.
pub fn kind(memory: &v1::Memory) -> String {
    let mut words =
        vec![names::memory_priority(memory.priority()), names::memory_category(memory.category())];
    if memory.pinned {
        words.push("pinned".to_owned());
    }
    if memory.status() != v1::MemoryStatus::Active {
        words.push(names::memory_status(memory.status()));
    }
    words.join(", ")
}

/// What is told below a list that is not all; none when it is.
pub fn more(shown: usize, total: u32) -> Option<String> {
    let is_part = u32::try_from(shown).is_ok_and(|shown| shown < total);
    is_part.then(|| format!("{shown} of {total}; `agentctl memory list` shows all"))
}

/// What is told in place of an empty list.
pub const NOTHING: &str = "no memories found";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_told_in_words() {
        let memory = v1::Memory {
            priority: v1::MemoryPriority::High.into(),
            category: v1::MemoryCategory::Preference.into(),
            status: v1::MemoryStatus::Quarantined.into(),
            pinned: true,
            ..Default::default()
        };
        assert_eq!(kind(&memory), "high, preference, pinned, quarantined");
        assert_eq!(short("01ARZ3NDEKTSV4RRFFQ69G5FAV"), "Q69G5FAV");
        assert_eq!(short("01M"), "01M");
        assert_eq!(more(3, 3), None);
        assert_eq!(more(3, 4).unwrap(), "3 of 4; `agentctl memory list` shows all");
        let from = v1::MemoryAuthor { by: Some(By::ImportFrom("x\u{1b}".into())) };
        assert_eq!(author(Some(&from)), "an import of x\\u{1b}");
        let here = v1::MemoryScope { scope: Some(Scope::Workspace("/w".into())) };
        assert_eq!((&*scope(Some(&here)), &*scope(None)), ("/w", "everywhere"));
    }
}
