//! All memories, and what changes of them mean.
//!
//! A change is drafted from the book as it is, made durable by the owner, and then applied. Drafting
//! changes nothing, so that a change that cannot be written has not happened.

mod add;
mod change;
mod consolidate;
mod find;
mod history;
mod meaning;
mod shelf;
mod sweep;

use std::collections::BTreeSet;

use agentd_domain::{
    IdSource, Memory, MemoryAuthor, MemoryCategory, MemoryChange, MemoryChangeId, MemoryChangeKind,
    MemoryEdit, MemoryId, MemoryScope, MemoryStatus, MemoryUpkeep, TimestampMs,
};
use agentd_search::{Document, Index};

use self::shelf::Shelf;
use crate::config::MemoryConfig;
use crate::vectors::Vectors;

pub use add::Added;
pub(crate) use consolidate::{Alike, is_by_user};
pub use find::Filter;
pub(crate) use meaning::{Meaning, Missing};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Book {
    shelf: Shelf,
    /// By place, those that hold or may come to hold again: everything but what became part of another.
    index: Index<u32>,
    /// When memories were last looked after.
    pub(crate) upkeep: MemoryUpkeep,
    /// By place, as far as a model has made them.
    vectors: Vectors,
    /// The newest change, which the next one has to come after.
    last_change: Option<MemoryChangeId>,
}

/// What a change needs from outside.
#[derive(Debug)]
pub(crate) struct Drafting<'a> {
    pub(crate) now: TimestampMs,
    pub(crate) ids: &'a dyn IdSource,
    pub(crate) config: &'a MemoryConfig,
}

/// A change that has not happened yet, and what it comes to.
#[derive(Debug)]
pub(crate) struct Draft<T> {
    /// None when nothing is to be changed.
    pub(crate) change: Option<MemoryChange>,
    pub(crate) outcome: T,
}

impl Book {
    /// Puts in what was stored.
    pub(crate) fn restore(&mut self, memory: Memory) {
        self.put(memory);
    }

    /// Puts in what change was the last.
    pub(crate) fn restore_last_change(&mut self, id: MemoryChangeId) {
        self.last_change = self.last_change.max(Some(id));
    }

    /// The memory with this id.
    pub(crate) fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.shelf.get(id)
    }

    /// All of them by age.
    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = &Memory> {
        self.shelf.all()
    }

    /// All of them after this one, by age.
    pub(crate) fn after(&self, after: Option<MemoryId>) -> impl Iterator<Item = &Memory> {
        self.shelf.after(after)
    }

    /// Those that hold in one of these scopes.
    pub(crate) fn active_in<'a>(
        &'a self,
        scopes: &'a [MemoryScope],
    ) -> impl Iterator<Item = &'a Memory> {
        self.all().filter(|memory| memory.is_active() && scopes.contains(&memory.scope))
    }

    /// How many those are.
    pub(crate) fn count_active_in(&self, scopes: &[MemoryScope]) -> usize {
        self.shelf.cards(scopes).count()
    }

    /// A memory with all that became part of it or that it took the place of, and so on, and what the
    /// daemon made of these: it may say the same. Empty when there is none.
    pub(crate) fn with_forerunners(&self, id: MemoryId) -> BTreeSet<MemoryId> {
        let mut found: BTreeSet<MemoryId> =
            self.get(id).map(|memory| memory.id).into_iter().collect();
        // Forerunners may be younger than what they became part of, so that one look is not enough.
        loop {
            let before = found.len();
            let of_one = |memory: &&Memory| match &memory.status {
                _ if is_made_of(memory, &found) => true,
                MemoryStatus::Merged { into: of } | MemoryStatus::Superseded { by: of } => {
                    found.contains(of)
                }
                _ => false,
            };
            let more: Vec<MemoryId> = self.all().filter(of_one).map(|memory| memory.id).collect();
            found.extend(more);
            if found.len() == before {
                return found;
            }
        }
    }

    /// Makes a durable change visible.
    pub(crate) fn apply(&mut self, change: &MemoryChange) {
        self.restore_last_change(change.id);
        for edit in &change.edits {
            match &edit.after {
                Some(after) => self.put(after.clone()),
                None => self.remove(edit.id()),
            }
        }
    }

    /// Replaces the usage of memories, which is no change.
    pub(crate) fn put(&mut self, memory: Memory) {
        let old = self.shelf.get(memory.id);
        let text_changed = old.is_none_or(|old| {
            old.content != memory.content || old.tags != memory.tags || !is_indexed(old)
        });
        let says_something_else = old.is_some_and(|old| old.content != memory.content);
        let id = memory.id;
        let Some(place) = self.shelf.put(memory) else { return };
        if says_something_else {
            self.vectors.clear(place);
        }
        let Some(memory) = self.shelf.get(id) else { return };
        if !is_indexed(memory) {
            self.index.remove(place);
        } else if text_changed {
            let tags: Vec<&str> = memory.tags.iter().map(String::as_str).collect();
            let parts = &[memory.content.as_str()];
            self.index.insert(place, Document { parts, labels: &tags, date: &date_of(memory) });
        }
    }

    /// Forgets a record for good.
    pub(crate) fn remove(&mut self, id: Option<MemoryId>) {
        if let Some(place) = id.and_then(|id| self.shelf.remove(id)) {
            self.index.remove(place);
            self.vectors.clear(place);
        }
    }
}

/// True for a summary or a proposal that was made of one of these. What a user has confirmed says so
/// itself.
fn is_made_of(memory: &Memory, sources: &BTreeSet<MemoryId>) -> bool {
    let is_own = memory.is_active() && memory.category != MemoryCategory::Reflection;
    !is_own && memory.sources.iter().any(|id| sources.contains(id))
}

/// True for what is active and not over. Reminders hold until they were shown.
pub(crate) fn holds(memory: &Memory, now: TimestampMs) -> bool {
    let is_over = memory.expires_at.is_some_and(|at| at <= now);
    memory.is_active() && (!is_over || memory.category == MemoryCategory::Reminder)
}

fn is_indexed(memory: &Memory) -> bool {
    !matches!(memory.status, MemoryStatus::Merged { .. })
}

/// When it was made, in words, so that it is found by "in may".
fn date_of(memory: &Memory) -> String {
    agentd_domain::Day::of(memory.created_at).in_words()
}

impl Drafting<'_> {
    /// An id that sorts after all changes before it, also of the same millisecond, and when the clock was
    /// set back: the journal is read in this order.
    fn change_id(&self, book: &Book) -> MemoryChangeId {
        let id = self.ids.memory_change_id(self.now);
        match book.last_change {
            Some(last) if id <= last => {
                let next = u128::from_be_bytes(last.to_bytes()).saturating_add(1);
                MemoryChangeId::from_bytes(next.to_be_bytes())
            }
            Some(_) | None => id,
        }
    }

    /// A draft out of records as they should become. Revisions are counted here.
    fn draft<T>(
        &self,
        book: &Book,
        kind: MemoryChangeKind,
        author: MemoryAuthor,
        become_: Vec<Memory>,
        outcome: T,
    ) -> Draft<T> {
        let edits: Vec<MemoryEdit> = become_
            .into_iter()
            .map(|mut after| {
                let before = book.get(after.id).cloned();
                after.revision = before.as_ref().map_or(1, |before| before.revision + 1);
                // Moving to another tier is no new statement: `tier_since` tells of it, and what was
                // compared with others before is not compared with them again.
                let is_moved =
                    matches!(kind, MemoryChangeKind::Decayed | MemoryChangeKind::Adjusted);
                after.changed_at = match &before {
                    Some(before) if is_moved && before.status == after.status => before.changed_at,
                    _ => self.now,
                };
                MemoryEdit { before, after: Some(after) }
            })
            .collect();
        let change = (!edits.is_empty()).then(|| MemoryChange {
            id: self.change_id(book),
            at: self.now,
            kind,
            author,
            edits,
            undone_by: None,
        });
        Draft { change, outcome }
    }
}

#[cfg(test)]
mod tests;
