//! Editing, forgetting, confirming, replacing, and taking changes back.

use std::collections::BTreeSet;

use agentd_domain::{
    Memory, MemoryAuthor, MemoryCategory, MemoryChange, MemoryChangeKind, MemoryEdit, MemoryId,
    MemoryOrigin, MemoryPriority, MemoryStatus,
};

use crate::book::{Book, Draft, Drafting, is_by_user};
use crate::{MemoryError, MemoryPatch};

/// Most tiers a model may move a memory by, and most memories at once (spec b.4).
const MAX_ADJUSTED: usize = 3;

impl Book {
    /// The memory with this id, or with an id that ends so.
    pub(crate) fn resolve(&self, text: &str) -> Result<&Memory, MemoryError> {
        /// Fewer characters name too much.
        const MIN_END: usize = 4;
        let wanted = text.trim().to_ascii_uppercase();
        if let Ok(id) = wanted.parse::<MemoryId>() {
            return self.get(id).ok_or_else(|| not_found(text));
        }
        if wanted.len() < MIN_END {
            return Err(not_found(text));
        }
        let mut fitting =
            self.all().filter(|memory| memory.id.to_string().ends_with(wanted.as_str()));
        match (fitting.next(), fitting.next()) {
            (Some(memory), None) => Ok(memory),
            (Some(_one), Some(_other)) => {
                Err(MemoryError::Ambiguous { id: agentd_domain::cut_line(text, 40) })
            }
            (None, _) => Err(not_found(text)),
        }
    }

    /// Drafts changes of one memory.
    pub(crate) fn edit(
        &self,
        drafting: &Drafting<'_>,
        id: MemoryId,
        patch: MemoryPatch,
        author: MemoryAuthor,
    ) -> Result<Draft<()>, MemoryError> {
        let old = self.known(id)?;
        let new = patch.apply(old, drafting.now)?;
        if new == *old {
            return Ok(Draft { change: None, outcome: () });
        }
        let is_raised = old.priority != new.priority;
        let displaced = if is_raised { self.displaced(drafting, &new)? } else { Vec::new() };
        let mut become_ = vec![new];
        become_.extend(displaced);
        Ok(drafting.draft(self, MemoryChangeKind::Edited, author, become_, ()))
    }

    /// Drafts a new text in place of an older one, which is kept as history.
    pub(crate) fn supersede(
        &self,
        drafting: &Drafting<'_>,
        id: MemoryId,
        patch: MemoryPatch,
        origin: MemoryOrigin,
    ) -> Result<Draft<MemoryId>, MemoryError> {
        let old = self.known(id)?;
        if !old.is_active() {
            return Err(MemoryError::Status { id, status: old.status.name() });
        }
        let author = origin.author.clone();
        let new_id = drafting.ids.memory_id(drafting.now);
        let new = patch.apply(old, drafting.now)?;
        let new = Memory { id: new_id, created_at: drafting.now, origin, ..new };
        let status = MemoryStatus::Superseded { by: new_id };
        let mut become_ = vec![new.clone(), Memory { status, ..old.clone() }];
        let displaced = self.displaced(drafting, &new)?;
        // The old one makes room itself.
        let needed = displaced.len().saturating_sub(usize::from(old.priority == new.priority));
        become_.extend(displaced.into_iter().filter(|it| it.id != id).take(needed));
        Ok(drafting.draft(self, MemoryChangeKind::Superseded, author, become_, new_id))
    }

    /// Drafts that a memory no longer holds. It can be taken back.
    pub(crate) fn forget(
        &self,
        drafting: &Drafting<'_>,
        id: MemoryId,
        author: MemoryAuthor,
    ) -> Result<Draft<()>, MemoryError> {
        let old = self.known(id)?;
        if old.status == MemoryStatus::Forgotten {
            return Ok(Draft { change: None, outcome: () });
        }
        let new = Memory { status: MemoryStatus::Forgotten, ..old.clone() };
        Ok(drafting.draft(self, MemoryChangeKind::Forgotten, author, vec![new], ()))
    }

    /// Drafts that a user stands behind a memory that waited.
    pub(crate) fn confirm(
        &self,
        drafting: &Drafting<'_>,
        id: MemoryId,
        author: MemoryAuthor,
    ) -> Result<Draft<()>, MemoryError> {
        let old = self.known(id)?;
        if old.status != MemoryStatus::Quarantined {
            return Err(MemoryError::Status { id, status: old.status.name() });
        }
        let new = Memory { status: MemoryStatus::Active, tier_since: drafting.now, ..old.clone() };
        // A proposal takes the place of what it was made of.
        let replaced: Vec<Memory> = old
            .sources
            .iter()
            .filter_map(|id| self.get(*id).filter(|it| it.is_active()))
            .map(|it| Memory { status: MemoryStatus::Superseded { by: id }, ..it.clone() })
            .collect();
        if replaced.is_empty() {
            self.check_room(drafting, &new)?;
        }
        let is_replaced = |it: &Memory| replaced.iter().any(|replaced| replaced.id == it.id);
        let makes_room =
            replaced.iter().filter(|it| (it.priority, &it.scope) == (new.priority, &new.scope));
        let makes_room = makes_room.count();
        let mut displaced = self.displaced(drafting, &new)?;
        let needed = displaced.len().saturating_sub(makes_room);
        displaced.retain(|it| !is_replaced(it));
        displaced.truncate(needed);
        let mut become_ = vec![new];
        become_.extend(displaced);
        become_.extend(replaced);
        Ok(drafting.draft(self, MemoryChangeKind::Confirmed, author, become_, ()))
    }

    /// Drafts what a model makes of priorities: three memories at most, one tier at most, never
    /// pinned ones; no summary becomes critical, and no rule of a person ceases to be (spec b.13). The
    /// rest of what it asks for is left out (spec b.4, W0-6).
    pub(crate) fn adjust(
        &self,
        drafting: &Drafting<'_>,
        wanted: &[(MemoryId, MemoryPriority)],
    ) -> Result<Draft<usize>, MemoryError> {
        let mut become_: Vec<Memory> = Vec::new();
        for (id, priority) in wanted {
            let Some(old) = self.get(*id).filter(|old| old.is_active() && !old.pinned) else {
                continue;
            };
            let is_near = old.priority.level().abs_diff(priority.level()) == 1;
            let is_first = become_.iter().all(|it| it.id != *id);
            let is_critical = |priority| priority == MemoryPriority::Critical;
            let is_kept = is_critical(old.priority) && is_by_user(old)
                || is_critical(*priority) && old.category == MemoryCategory::Reflection;
            if !is_near || !is_first || is_kept || become_.len() == MAX_ADJUSTED {
                continue;
            }
            become_.push(Memory { priority: *priority, tier_since: drafting.now, ..old.clone() });
        }
        // One at a time comes into the highest tier, so that each sees who has to go.
        let raised = become_.iter().find(|it| it.priority == MemoryPriority::Critical).cloned();
        let mut displaced = Vec::new();
        if let Some(raised) = raised {
            become_.retain(|it| it.priority != MemoryPriority::Critical || it.id == raised.id);
            displaced = self.displaced(drafting, &raised)?;
            become_.retain(|it| displaced.iter().all(|out| out.id != it.id));
        }
        let adjusted = become_.len();
        become_.extend(displaced);
        let (kind, author) = (MemoryChangeKind::Adjusted, MemoryAuthor::Daemon);
        Ok(drafting.draft(self, kind, author, become_, adjusted))
    }

    /// Drafts that everything becomes as it was before `change`. `moved` are the memories that somebody
    /// has moved to another tier since.
    pub(crate) fn undo(
        &self,
        drafting: &Drafting<'_>,
        change: &MemoryChange,
        moved: &BTreeSet<MemoryId>,
        author: MemoryAuthor,
    ) -> Result<Draft<()>, MemoryError> {
        let mut become_ = Vec::new();
        for MemoryEdit { before, after } in &change.edits {
            let after = after.as_ref().ok_or(MemoryError::NoChange)?;
            let now = self.get(after.id).ok_or(MemoryError::NoChange)?;
            if !is_as_left(now, after, moved.contains(&now.id)) {
                return Err(MemoryError::ChangedSince { id: now.id, revision: now.revision });
            }
            // What a change made is not removed but forgotten, so that this can be undone as well.
            become_.push(match before {
                Some(before) => {
                    let is_back = before.is_active() && !now.is_active();
                    let is_raised = before.priority < now.priority;
                    // It comes into its tier now, or the next look would age it again.
                    let restarts = is_back || is_raised;
                    let tier_since = if restarts { drafting.now } else { before.tier_since };
                    Memory { usage: now.usage, tier_since, ..before.clone() }
                }
                None => Memory { status: MemoryStatus::Forgotten, ..now.clone() },
            });
        }
        let out = self.make_room(drafting, &become_)?;
        become_.extend(out);
        Ok(drafting.draft(self, MemoryChangeKind::Undone, author, become_, ()))
    }

    /// What has to go for several memories to become so at once.
    fn make_room(
        &self,
        drafting: &Drafting<'_>,
        become_: &[Memory],
    ) -> Result<Vec<Memory>, MemoryError> {
        let is_one = |memory: &Memory| become_.iter().any(|it| it.id == memory.id);
        let others: Vec<&Memory> = self.all().filter(|it| it.is_active() && !is_one(it)).collect();
        let new: Vec<&Memory> = become_.iter().filter(|it| it.is_active()).collect();
        let max = drafting.config.max_active;
        if others.len() + new.len() > max.max(self.shelf.active())
            && let Some(one) = new.first()
        {
            return Err(MemoryError::Full { max, least: one.id });
        }
        let mut out = Vec::new();
        let is_critical = |it: &&&Memory| it.priority == MemoryPriority::Critical;
        let scopes: BTreeSet<_> = new.iter().filter(is_critical).map(|it| &it.scope).collect();
        for scope in scopes {
            let max = drafting.config.max_critical.max(1);
            let is_in =
                |it: &&&Memory| it.scope == *scope && it.priority == MemoryPriority::Critical;
            let mut oldest: Vec<&Memory> = others.iter().filter(is_in).copied().collect();
            let excess = (oldest.len() + new.iter().filter(is_in).count()).saturating_sub(max);
            oldest.retain(|it| !it.pinned);
            oldest.sort_by_key(|it| (it.tier_since, it.id));
            if oldest.len() < excess {
                return Err(MemoryError::CriticalPinned { max });
            }
            let displaced = oldest.into_iter().take(excess);
            out.extend(
                displaced.map(|it| Memory { status: MemoryStatus::Displaced, ..it.clone() }),
            );
        }
        Ok(out)
    }

    fn known(&self, id: MemoryId) -> Result<&Memory, MemoryError> {
        self.get(id).ok_or_else(|| not_found(&id.to_string()))
    }
}

/// True when only time and uses have touched a memory since a change left it so.
fn is_as_left(now: &Memory, after: &Memory, is_moved: bool) -> bool {
    let is_lower = now.priority > after.priority && !is_moved;
    let aged = (is_lower || now.priority == after.priority) && now.status == after.status;
    let faded = after.is_active() && now.status == MemoryStatus::Faded;
    let Memory { content, category, tags, importance, pinned, expires_at, scope, .. } = now;
    (aged || faded)
        && (content, category, tags, importance, pinned, expires_at, scope)
            == (
                &after.content,
                &after.category,
                &after.tags,
                &after.importance,
                &after.pinned,
                &after.expires_at,
                &after.scope,
            )
}

fn not_found(text: &str) -> MemoryError {
    MemoryError::NotFound { id: agentd_domain::cut_line(text, 40) }
}
