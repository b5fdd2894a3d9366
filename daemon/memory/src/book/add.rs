//! Adding a memory: what says the same becomes one, and critical ones are few.

use agentd_domain::{
    Memory, MemoryAuthor, MemoryChangeKind, MemoryId, MemoryPriority, MemoryScope, MemoryStatus,
    TimestampMs,
};

use agentd_search::Question;

use crate::book::meaning::may_be_one;
use crate::book::{Book, Draft, Drafting, holds};
use crate::merge::{may_merge, merged, normal, similarity};
use crate::new_memory::check_record;
use crate::vectors::Direction;
use crate::{MemoryError, NewMemory};

/// Texts that are looked at as possibly the same, the most alike by their words first.
const LOOKED_AT: usize = 20;

/// What has come of a text that was to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is a memory of its own.
    New(MemoryId),
    /// It waits until a user confirms it.
    Quarantined(MemoryId),
    /// It is part of a memory that was there.
    MergedInto(MemoryId),
    /// That is known already, word for word.
    Known(MemoryId),
}

impl Added {
    /// The memory that says it now.
    pub fn id(self) -> MemoryId {
        match self {
            Self::New(id) | Self::Quarantined(id) | Self::MergedInto(id) | Self::Known(id) => id,
        }
    }
}

impl Book {
    /// Drafts a new memory, or its place in one that says the same.
    pub(crate) fn add(
        &self,
        drafting: &Drafting<'_>,
        new: NewMemory,
        direction: Option<&Direction>,
    ) -> Result<Draft<Added>, MemoryError> {
        let author = new.origin.author.clone();
        let id = drafting.ids.memory_id(drafting.now);
        let stability_days = drafting.config.decay.stability_days;
        let new = new.check(id, drafting.now, stability_days)?;
        self.place(drafting, new, author, direction)
    }

    /// Drafts a memory that was made elsewhere at a time: as a new one, but with its id and age. It enters
    /// its tier now, since nobody knows when it did.
    pub(crate) fn add_dated(
        &self,
        drafting: &Drafting<'_>,
        new: NewMemory,
        id: MemoryId,
        created_at: TimestampMs,
    ) -> Result<Draft<Added>, MemoryError> {
        if self.get(id).is_some() {
            return Ok(Draft { change: None, outcome: Added::Known(id) });
        }
        let author = new.origin.author.clone();
        let mut new = new.check(id, drafting.now, drafting.config.decay.stability_days)?;
        new.created_at = created_at.min(drafting.now);
        self.place(drafting, new, author, None)
    }

    /// Drafts a record that was written elsewhere: as a new one, but with its id, age and uses.
    pub(crate) fn take_in(
        &self,
        drafting: &Drafting<'_>,
        record: Memory,
    ) -> Result<Draft<Added>, MemoryError> {
        if self.get(record.id).is_some() {
            return Ok(Draft { change: None, outcome: Added::Known(record.id) });
        }
        let author = record.origin.author.clone();
        let record = check_record(record, drafting.now, &drafting.config.decay)?;
        self.place(drafting, record, author, None)
    }

    /// Drafts the place of a memory: its own, or in one that says the same.
    fn place(
        &self,
        drafting: &Drafting<'_>,
        new: Memory,
        author: MemoryAuthor,
        direction: Option<&Direction>,
    ) -> Result<Draft<Added>, MemoryError> {
        let id = new.id;
        let text = normal(&new.content);
        let alike = self.alike(&new, drafting.now);
        let same = |old: &&&Memory| old.status == new.status && normal(&old.content) == text;
        let is_said = |known: &Memory| {
            // Reminders of one thing at two times are two.
            (known.category == new.category && known.expires_at == new.expires_at)
                && merged(known, &new).is_some_and(|merged| merged == *known)
        };
        if let Some(known) = alike.iter().find(|old| same(old) && is_said(old)) {
            return Ok(Draft { change: None, outcome: Added::Known(known.id) });
        }
        let mut similar: Vec<_> = alike
            .iter()
            // What waits for a user is neither changed nor added to.
            .filter(|old| old.is_active() && new.is_active() && may_merge(old, &new))
            .map(|old| (similarity(old, &new), *old))
            .filter(|(similarity, _old)| *similarity >= drafting.config.merge_similarity)
            .collect();
        let near = direction.map(|it| self.near(&new, it, drafting.config.merge_nearness));
        similar.extend(near.into_iter().flatten().filter(|(_nearness, old)| {
            new.is_active() && may_merge(old, &new) && may_be_one(&old.content, &new.content)
        }));
        similar.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.id.cmp(&y.id)));
        if let Some((_similarity, old)) = similar.first()
            && let Some(mut merged) = merged(old, &new)
        {
            if merged.priority != old.priority {
                merged.tier_since = drafting.now;
            }
            let status = MemoryStatus::Merged { into: old.id };
            let mut become_ = vec![merged.clone(), Memory { status, ..new }];
            become_.extend(self.displaced(drafting, &merged)?);
            let outcome = Added::MergedInto(old.id);
            return Ok(drafting.draft(self, MemoryChangeKind::Merged, author, become_, outcome));
        }
        self.check_room(drafting, &new)?;
        let outcome = if new.is_active() { Added::New(id) } else { Added::Quarantined(id) };
        let mut become_ = vec![new.clone()];
        become_.extend(self.displaced(drafting, &new)?);
        Ok(drafting.draft(self, MemoryChangeKind::Added, author, become_, outcome))
    }

    /// Memories of the scope that share words with a new one, the most first.
    fn alike(&self, new: &Memory, now: TimestampMs) -> Vec<&Memory> {
        let is_wanted = |place| {
            self.shelf.at(place).is_some_and(|old| {
                let waits = old.status == MemoryStatus::Quarantined;
                old.scope == new.scope && (holds(old, now) || waits)
            })
        };
        let tags = new.tags.join(" ");
        let hits =
            self.index.search(Question(&[(1.0, &new.content), (1.0, &tags)]), is_wanted, LOOKED_AT);
        hits.into_iter().filter_map(|hit| self.shelf.at(hit.key)).collect()
    }

    /// An error when there is no place for one more.
    pub(super) fn check_room(
        &self,
        drafting: &Drafting<'_>,
        new: &Memory,
    ) -> Result<(), MemoryError> {
        let max = drafting.config.max_active;
        // What waits takes a place too, or a hostile page could fill the disk.
        let waiting = |memory: &&Memory| memory.status == MemoryStatus::Quarantined;
        let taken =
            if new.is_active() { self.shelf.active() } else { self.all().filter(waiting).count() };
        if taken < max {
            return Ok(());
        }
        let least = self
            .all()
            .filter(|memory| memory.status == new.status && !memory.pinned)
            .max_by_key(|memory| (memory.priority, std::cmp::Reverse(memory.importance)));
        Err(MemoryError::Full { max, least: least.map_or(new.id, |memory| memory.id) })
    }

    /// The critical memories that have to go for `new` to come: the oldest in their tier that are not
    /// pinned, never `new` itself (spec b.7, W0-4).
    pub(super) fn displaced(
        &self,
        drafting: &Drafting<'_>,
        new: &Memory,
    ) -> Result<Vec<Memory>, MemoryError> {
        if !new.is_active() || new.priority != MemoryPriority::Critical {
            return Ok(Vec::new());
        }
        let max = drafting.config.max_critical.max(1);
        let scope: &[MemoryScope] = std::slice::from_ref(&new.scope);
        let others: Vec<&Memory> = self
            .active_in(scope)
            .filter(|old| old.priority == MemoryPriority::Critical && old.id != new.id)
            .collect();
        let excess = (others.len() + 1).saturating_sub(max);
        let mut oldest: Vec<&Memory> = others.into_iter().filter(|old| !old.pinned).collect();
        oldest.sort_by_key(|old| (old.tier_since, old.id));
        if oldest.len() < excess {
            return Err(MemoryError::CriticalPinned { max });
        }
        let out = oldest.into_iter().take(excess);
        Ok(out.map(|old| Memory { status: MemoryStatus::Displaced, ..old.clone() }).collect())
    }
}
