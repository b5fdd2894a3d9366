//! What time does to memories: they age, end, and remind.

use agentd_domain::{
    Memory, MemoryAuthor, MemoryCategory, MemoryChangeKind, MemoryId, MemoryStatus, TimestampMs,
};

use crate::book::{Book, Draft, Drafting, holds};
use crate::decay::{aged, used};

impl Book {
    /// Drafts what aged until now.
    pub(crate) fn age(&self, drafting: &Drafting<'_>) -> Draft<usize> {
        let Drafting { now, config, .. } = drafting;
        let aging = self.shelf.records();
        let aging = aging.filter_map(|(_place, memory)| aged(memory, *now, &config.decay));
        let mut aged: Vec<Memory> = aging.collect();
        aged.sort_by_key(|memory| memory.id);
        let (kind, author) = (MemoryChangeKind::Decayed, MemoryAuthor::Daemon);
        let count = aged.len();
        drafting.draft(self, kind, author, aged, count)
    }

    /// Drafts the end of what held until now. Reminders end when they were shown, not before.
    pub(crate) fn expire(&self, drafting: &Drafting<'_>) -> Draft<usize> {
        let Drafting { now, config, .. } = drafting;
        let over = self
            .shelf
            .records()
            .map(|(_place, memory)| memory)
            .filter(|memory| memory.category != MemoryCategory::Reminder)
            .filter(|memory| memory.is_active() && is_over(memory, *now));
        let mut expired: Vec<Memory> = over
            .map(|memory| {
                // As it was when its time was over.
                let ended_at = memory.expires_at.unwrap_or(*now);
                let last = aged(memory, ended_at, &config.decay);
                let last = last.unwrap_or_else(|| memory.clone());
                // What had faded before then stays so.
                let status = if last.is_active() { MemoryStatus::Expired } else { last.status };
                Memory { status, ..last }
            })
            .collect();
        expired.sort_by_key(|memory| memory.id);
        let (kind, author) = (MemoryChangeKind::Expired, MemoryAuthor::Daemon);
        let count = expired.len();
        drafting.draft(self, kind, author, expired, count)
    }

    /// Reminders whose time has come, the earliest first.
    pub(crate) fn due(&self, now: TimestampMs) -> Vec<&Memory> {
        let mut due: Vec<&Memory> = self
            .all()
            .filter(|memory| memory.category == MemoryCategory::Reminder)
            .filter(|memory| memory.is_active() && is_over(memory, now))
            .collect();
        due.sort_by_key(|memory| (memory.expires_at, memory.id));
        due
    }

    /// Drafts the end of a reminder that was shown.
    pub(crate) fn reminded(&self, drafting: &Drafting<'_>, id: MemoryId) -> Draft<()> {
        let shown = self.get(id).filter(|memory| memory.is_active());
        let shown = shown.map(|it| Memory { status: MemoryStatus::Expired, ..it.clone() });
        let (kind, author) = (MemoryChangeKind::Expired, MemoryAuthor::Daemon);
        drafting.draft(self, kind, author, shown.into_iter().collect(), ())
    }

    /// Records with the uses that just happened. What has aged was drafted before.
    pub(crate) fn used(&self, drafting: &Drafting<'_>, ids: &[MemoryId]) -> Vec<Memory> {
        let known =
            ids.iter().filter_map(|id| self.get(*id)).filter(|memory| holds(memory, drafting.now));
        known
            .map(|memory| {
                let usage = used(memory, drafting.now, &drafting.config.decay);
                Memory { usage, ..memory.clone() }
            })
            .collect()
    }

    /// Records that were just told.
    pub(crate) fn told(&self, now: TimestampMs, ids: &[MemoryId]) -> Vec<Memory> {
        let known = ids.iter().filter_map(|id| self.get(*id));
        known
            .map(|memory| {
                let mut memory = memory.clone();
                memory.usage.last_told_at = Some(now);
                memory
            })
            .collect()
    }
}

fn is_over(memory: &Memory, now: TimestampMs) -> bool {
    memory.expires_at.is_some_and(|at| at <= now)
}
