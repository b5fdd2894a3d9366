//! What holds no longer: how long it is kept, and what ends although nobody decided about it.

use std::collections::BTreeSet;

use agentd_domain::{Memory, MemoryAuthor, MemoryChangeKind, MemoryId, MemoryStatus, TimestampMs};

use crate::book::{Book, Draft, Drafting};
use crate::decay::days_after;

impl Book {
    /// Drafts the end of what has waited for a user for too long.
    pub(crate) fn end_waiting(&self, drafting: &Drafting<'_>) -> Draft<usize> {
        let Drafting { now, config, .. } = drafting;
        let waits_too_long = |it: &&Memory| {
            it.status == MemoryStatus::Quarantined
                && config.quarantine_days > 0
                && days_after(it.changed_at, config.quarantine_days) <= *now
        };
        let ended: Vec<Memory> = self
            .all()
            .filter(waits_too_long)
            .map(|it| Memory {
                status: MemoryStatus::Expired,
                // Dated when it was due, as all that time does.
                tier_since: days_after(it.changed_at, config.quarantine_days),
                ..it.clone()
            })
            .collect();
        let count = ended.len();
        drafting.draft(self, MemoryChangeKind::Expired, MemoryAuthor::Daemon, ended, count)
    }

    /// Records that were kept as history for long enough, at most `limit`, the oldest first.
    pub(crate) fn outlived(&self, now: TimestampMs, keep_days: u32, limit: usize) -> Vec<MemoryId> {
        if keep_days == 0 {
            return Vec::new();
        }
        let is_over = |at: TimestampMs| days_after(at, keep_days) <= now;
        // What a summary of lately is made of can be looked up as long as that is of lately.
        let summed_up: BTreeSet<MemoryId> = self
            .all()
            .filter(|it| it.is_active() && !is_over(it.created_at))
            .flat_map(|it| it.sources.iter().copied())
            .collect();
        let ended = self
            .all()
            .filter(|it| !it.is_active() && it.status != MemoryStatus::Quarantined)
            .filter(|it| is_over(ended_at(it)) && is_over(self.last_link(it)))
            .filter(|it| !summed_up.contains(&it.id));
        ended.map(|it| it.id).take(limit).collect()
    }

    /// When the newest of those ceased to hold that a record became part of or was replaced by, one after
    /// the other: as long as one of them is kept, it is told how that came about.
    fn last_link(&self, memory: &Memory) -> TimestampMs {
        let mut seen = BTreeSet::from([memory.id]);
        let (mut at, mut newest) = (memory, ended_at(memory));
        while let MemoryStatus::Merged { into: next } | MemoryStatus::Superseded { by: next } =
            &at.status
            && let Some(next) = self.get(*next)
            && seen.insert(next.id)
            && !next.is_active()
        {
            newest = newest.max(ended_at(next));
            at = next;
        }
        newest
    }
}

/// When a record ceased to hold, whenever that was seen.
fn ended_at(memory: &Memory) -> TimestampMs {
    match (&memory.status, memory.expires_at) {
        (MemoryStatus::Faded, _) | (MemoryStatus::Expired, None) => memory.tier_since,
        (MemoryStatus::Expired, Some(at)) => memory.changed_at.min(at.max(memory.created_at)),
        _ => memory.changed_at,
    }
}
