//! How memories age: a ladder of tiers, measured from when a memory came into its tier, and slower for
//! those that help (spec b.3, b.13).
//!
//! A use makes a memory more stable, the more the nearer it was to being forgotten (the spacing effect;
//! retention as Ebbinghaus measured it, `e^(-t/S)`). A memory stays as much longer in each tier as it is
//! more stable than one that was never used. What a memory has come to at a time does not depend on how
//! often anybody looked: steps are dated when they were due.

use agentd_domain::{Memory, MemoryCategory, MemoryPriority, MemoryStatus, MemoryUse, TimestampMs};

use crate::config::DecayConfig;

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 86_400_000;
const DAY: f64 = 86_400_000.0;

/// What becomes of a memory next if nobody uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It falls to this tier.
    Falls(MemoryPriority),
    /// It is no longer told.
    Fades,
}

/// How much is left of a memory, 0 to 1: `e^(-t/S)` since it was last used, or made.
pub fn retention(memory: &Memory, now: TimestampMs) -> f64 {
    let since = memory.usage.last_used_at.unwrap_or(memory.created_at);
    (-days(since, now) / memory.usage.stability_days.max(f64::MIN_POSITIVE)).exp()
}

/// The usage of a memory that was just used.
pub(crate) fn used(memory: &Memory, now: TimestampMs, config: &DecayConfig) -> MemoryUse {
    let MemoryUse { uses, last_used_at, last_told_at, stability_days } = memory.usage;
    let forgotten = 1.0 - retention(memory, now);
    let grown = stability_days * (1.0 + config.use_gain * forgotten);
    MemoryUse {
        uses: uses.saturating_add(1),
        last_used_at: Some(last_used_at.map_or(now, |last| last.max(now))),
        last_told_at,
        stability_days: grown.min(config.max_stability_days.max(stability_days)),
    }
}

/// What becomes of a memory next, and when; none when it does not age.
pub fn next_step(memory: &Memory, config: &DecayConfig) -> Option<(TimestampMs, Fate)> {
    // Reminders wait for their time.
    let ages = !memory.pinned && memory.category != MemoryCategory::Reminder;
    if !ages || !memory.is_active() {
        return None;
    }
    let (stay_days, fate) = match memory.priority {
        MemoryPriority::Critical => (config.critical_days, Fate::Falls(MemoryPriority::High)),
        MemoryPriority::High => (config.high_days, Fate::Falls(MemoryPriority::Medium)),
        MemoryPriority::Medium => (config.medium_days, Fate::Falls(MemoryPriority::Low)),
        MemoryPriority::Low if config.low_days > 0.0 => (config.low_days, Fate::Fades),
        MemoryPriority::Low => return None,
    };
    let stretch = (memory.usage.stability_days / config.stability_days).max(1.0);
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds; a cast of floats saturates")]
    let stay_ms = (stay_days * stretch * DAY) as i64;
    Some((TimestampMs(memory.tier_since.0.saturating_add(stay_ms)), fate))
}

/// What a memory has come to by now; none when that is what it is.
pub(crate) fn aged(memory: &Memory, now: TimestampMs, config: &DecayConfig) -> Option<Memory> {
    let mut aged = memory.clone();
    let mut is_changed = false;
    while let Some((due, fate)) = next_step(&aged, config).filter(|(due, _fate)| *due <= now) {
        match fate {
            Fate::Falls(priority) => aged.priority = priority,
            Fate::Fades => aged.status = MemoryStatus::Faded,
        }
        aged.tier_since = due;
        is_changed = true;
    }
    is_changed.then_some(aged)
}

/// All that becomes of a memory if nobody uses it again.
pub fn forecast(memory: &Memory, config: &DecayConfig) -> Vec<(TimestampMs, Fate)> {
    let mut steps = Vec::new();
    let mut memory = memory.clone();
    while let Some((due, fate)) = next_step(&memory, config) {
        steps.push((due, fate));
        match fate {
            Fate::Falls(priority) => memory.priority = priority,
            Fate::Fades => break,
        }
        memory.tier_since = due;
    }
    steps
}

/// The time so many days later.
pub(crate) fn days_after(from: TimestampMs, days: u32) -> TimestampMs {
    TimestampMs(from.0.saturating_add(i64::from(days) * DAY_MS))
}

fn days(from: TimestampMs, to: TimestampMs) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a span of time in days")]
    let ms = to.since(from) as f64;
    ms / DAY
}

#[cfg(test)]
mod tests;
