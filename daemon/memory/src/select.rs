//! Which memories are told when a turn begins (spec b.2).
//!
//! The whole pool is scored, so that no tier starves behind another (W0-2). What was told before does
//! not count: only a use, or being made, makes a memory recent (W0-3).

use agentd_domain::{Memory, MemoryId, TimestampMs};

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

/// A memory that may be told, and how much it has to do with what was said: 0.1 to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    /// The memory.
    pub(crate) memory: &'a Memory,
    /// [`UNRELATED`] to 1.
    pub(crate) relevance: f32,
}

/// relevance × importance × recency × priority (spec b.2.2).
pub(crate) fn score(candidate: Candidate<'_>, now: TimestampMs) -> f32 {
    let Candidate { memory, relevance } = candidate;
    let importance = f32::from(memory.importance) / 5.0;
    let priority = f32::from(4_u8.saturating_sub(memory.priority.level())) / 4.0;
    relevance * importance * recency(memory, now) * priority
}

/// By the last use, or by when it was made (spec b.2.4, whose originals punish what is new).
fn recency(memory: &Memory, now: TimestampMs) -> f32 {
    const DAY_MS: u64 = 86_400_000;
    let last = memory.usage.last_used_at.map_or(memory.created_at, |at| at.max(memory.created_at));
    match now.since(last) {
        age if age <= DAY_MS => 1.0,
        age if age <= 7 * DAY_MS => 0.9,
        age if age <= 30 * DAY_MS => 0.7,
        age if age <= 90 * DAY_MS => 0.5,
        _older => 0.3,
    }
}

/// Chooses from the whole pool: the newest critical ones, then what each tier is sure of, then by score.
/// The order is that in which they are told.
pub(crate) fn select<'a>(
    pool: impl Iterator<Item = Candidate<'a>>,
    now: TimestampMs,
    config: &SelectConfig,
) -> Vec<Chosen> {
    let mut tiers: [Vec<(f32, Candidate<'a>)>; 4] = Default::default();
    for candidate in pool {
        if let Some(tier) = tiers.get_mut(usize::from(candidate.memory.priority.level())) {
            tier.push((score(candidate, now), candidate));
        }
    }
    let [mut critical, mut high, mut medium, mut low] = tiers;
    critical.sort_by_key(|(_score, it)| std::cmp::Reverse((it.memory.tier_since, it.memory.id)));
    let mut places = Places { left: config.max, bytes: config.max_bytes, chosen: Vec::new() };
    places.take(critical.into_iter().take(config.max_critical), usize::MAX, Because::Critical);
    let mut rest = Vec::new();
    for (tier, quota) in
        [(&mut high, config.min_high), (&mut medium, config.min_medium), (&mut low, config.min_low)]
    {
        best_first(tier);
        let left = places.take(tier.drain(..), quota, Because::Quota);
        rest.extend(left);
    }
    best_first(&mut rest);
    places.take(rest.into_iter(), usize::MAX, Because::Score);
    places.chosen
}

fn best_first(scored: &mut [(f32, Candidate<'_>)]) {
    // Of equals the newer comes first, so that the order is always the same.
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(y.memory.id.cmp(&x.memory.id)));
}

/// What is left to give away.
struct Places {
    left: usize,
    bytes: usize,
    chosen: Vec<Chosen>,
}

impl Places {
    /// Gives places to at most `most`; returns those that got none.
    fn take<'a>(
        &mut self,
        from: impl Iterator<Item = (f32, Candidate<'a>)>,
        most: usize,
        because: Because,
    ) -> Vec<(f32, Candidate<'a>)> {
        let mut given = 0;
        let mut others = Vec::new();
        for (score, candidate) in from {
            let bytes = candidate.memory.content.len();
            if given < most && self.left > 0 && bytes <= self.bytes {
                given += 1;
                self.left -= 1;
                self.bytes -= bytes;
                let is_related = candidate.relevance > UNRELATED;
                self.chosen.push(Chosen { id: candidate.memory.id, score, is_related, because });
            } else {
                others.push((score, candidate));
            }
        }
        others
    }
}

#[cfg(test)]
mod tests;
