//! Which memories are told when a turn begins (spec b.2).
//!
//! The whole pool is scored, so that no tier starves behind another (W0-2). What was told before does
//! not count: only a use, or being made, makes a memory recent (W0-3).

use agentd_domain::{Memory, MemoryCategory, MemoryId, MemoryPriority, TimestampMs};

use crate::config::SelectConfig;

/// Relevance when the conversation has said nothing yet (spec b.2.3).
pub(crate) const NOTHING_SAID: f32 = 0.5;
/// The least relevance of a memory.
pub(crate) const UNRELATED: f32 = 0.1;

/// Why a memory was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// It is critical.
    Critical,
    /// Its tier has places of its own.
    Quota,
    /// Its score.
    Score,
}

/// A memory that is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Which.
    pub id: MemoryId,
    /// Its score (spec b.2.2).
    pub score: f32,
    /// Whether it has to do with what was said.
    pub is_related: bool,
    /// Why.
    pub because: Because,
}

/// What selection looks at in a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Card {
    id: MemoryId,
    priority: MemoryPriority,
    importance: u8,
    /// When it was last used, or made.
    last_seen: TimestampMs,
    tier_since: TimestampMs,
    /// When it ends to hold.
    ends_at: Option<TimestampMs>,
    bytes: usize,
}

impl Card {
    pub(crate) fn of(memory: &Memory) -> Self {
        let used = memory.usage.last_used_at;
        Self {
            id: memory.id,
            priority: memory.priority,
            importance: memory.importance,
            last_seen: used.map_or(memory.created_at, |at| at.max(memory.created_at)),
            tier_since: memory.tier_since,
            // Reminders hold until they were shown.
            ends_at: memory.expires_at.filter(|_| memory.category != MemoryCategory::Reminder),
            bytes: memory.content.len(),
        }
    }

    /// True while it holds.
    pub(crate) fn holds(&self, now: TimestampMs) -> bool {
        self.ends_at.is_none_or(|at| at > now)
    }
}

/// A memory that may be told, and how much it has to do with what was said: 0.1 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    /// The memory.
    pub(crate) card: Card,
    /// [`UNRELATED`] to 1.
    pub(crate) relevance: f32,
}

/// relevance × importance × recency × priority (spec b.2.2).
pub(crate) fn score(candidate: Candidate, now: TimestampMs) -> f32 {
    let Candidate { card, relevance } = candidate;
    let importance = f32::from(card.importance) / 5.0;
    let priority = f32::from(4_u8.saturating_sub(card.priority.level())) / 4.0;
    relevance * importance * recency(card, now) * priority
}

/// By the last use, or by when it was made (spec b.2.4, whose originals punish what is new).
fn recency(card: Card, now: TimestampMs) -> f32 {
    const DAY_MS: u64 = 86_400_000;
    match now.since(card.last_seen) {
        age if age <= DAY_MS => 1.0,
        age if age <= 7 * DAY_MS => 0.9,
        age if age <= 30 * DAY_MS => 0.7,
        age if age <= 90 * DAY_MS => 0.5,
        _older => 0.3,
    }
}

/// Chooses from the whole pool: the newest critical ones, then what each tier is sure of, then by score.
/// The order is that in which they are told.
pub(crate) fn select(
    pool: impl Iterator<Item = Candidate>,
    now: TimestampMs,
    config: &SelectConfig,
) -> Vec<Chosen> {
    let mut tiers: [Vec<(f32, Candidate)>; 4] = Default::default();
    for candidate in pool {
        if let Some(tier) = tiers.get_mut(usize::from(candidate.card.priority.level())) {
            tier.push((score(candidate, now), candidate));
        }
    }
    let [mut critical, mut high, mut medium, mut low] = tiers;
    critical.sort_by_key(|(_score, it)| std::cmp::Reverse((it.card.tier_since, it.card.id)));
    // Half of the room at most, so that long rules leave some to the other tiers; those for which there
    // is none compete for what is left.
    let kept_back = config.max_bytes / 2;
    let bytes = config.max_bytes - kept_back;
    let mut places = Places { left: config.max, bytes, chosen: Vec::new() };
    let newest = critical.into_iter().take(config.max_critical);
    let mut rest = places.take(newest, usize::MAX, Because::Critical);
    places.bytes += kept_back;
    for (tier, quota) in
        [(&mut high, config.min_high), (&mut medium, config.min_medium), (&mut low, config.min_low)]
    {
        best_first(tier, config.max);
        let left = places.take(tier.drain(..), quota, Because::Quota);
        rest.extend(left);
    }
    best_first(&mut rest, config.max);
    places.take(rest.into_iter(), usize::MAX, Because::Score);
    places.chosen
}

/// Sorts those that may get one of `max` places, with some to spare for those whose texts are too long.
fn best_first(scored: &mut Vec<(f32, Candidate)>, max: usize) {
    const SPARE: usize = 200;
    // Of equals the newer comes first, so that the order is always the same.
    let order = |(a, x): &(f32, Candidate), (b, y): &(f32, Candidate)| {
        b.total_cmp(a).then(y.card.id.cmp(&x.card.id))
    };
    let kept = max.saturating_add(SPARE);
    if scored.len() > kept {
        scored.select_nth_unstable_by(kept, order);
        scored.truncate(kept);
    }
    scored.sort_unstable_by(order);
}

/// What is left to give away.
struct Places {
    left: usize,
    bytes: usize,
    chosen: Vec<Chosen>,
}

impl Places {
    /// Gives places to at most `most`; returns those that got none.
    fn take(
        &mut self,
        from: impl Iterator<Item = (f32, Candidate)>,
        most: usize,
        because: Because,
    ) -> Vec<(f32, Candidate)> {
        let mut given = 0;
        let mut others = Vec::new();
        for (score, candidate) in from {
            let bytes = candidate.card.bytes;
            if given < most && self.left > 0 && bytes <= self.bytes {
                given += 1;
                self.left -= 1;
                self.bytes -= bytes;
                let is_related = candidate.relevance > UNRELATED;
                self.chosen.push(Chosen { id: candidate.card.id, score, is_related, because });
            } else {
                others.push((score, candidate));
            }
        }
        others
    }
}

#[cfg(test)]
mod tests;
