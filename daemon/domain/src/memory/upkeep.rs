//! What is known of the work that time does to memories.

use serde::{Deserialize, Serialize};

use crate::{MemoryId, TimestampMs};

/// When memories were last looked after. Kept beside them, so that a clock that is wrong is seen as such.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryUpkeep {
    /// When they last aged, to within a day; none: they never have.
    pub swept_at: Option<TimestampMs>,
    /// Since when no long time has passed between two such looks.
    pub steady_since: Option<TimestampMs>,
    /// How far memories were searched for those that say the same.
    pub merged_through: Option<MemoryMark>,
    /// How far they were searched for those that a model takes for the same.
    pub nearness_through: Option<MemoryMark>,
    /// How far they were compared with those that are about the same.
    pub compared_through: Option<MemoryMark>,
    /// What the last run did that brought order into them; none: there was none.
    pub consolidated: Option<Consolidation>,
}

/// A place in the order in which memories were last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemoryMark {
    /// When the last one was changed.
    pub changed_at: TimestampMs,
    /// Which one that was.
    pub id: MemoryId,
}

/// What a run that brought order into memories did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Consolidation {
    /// When it ended.
    pub at: TimestampMs,
    /// Memories that became part of others.
    pub merged: u32,
    /// Pairs that a model was asked about.
    pub compared: u32,
    /// Memories that gave way to newer ones.
    pub superseded: u32,
    /// Memories that would, and wait for a user to say so.
    pub proposed: u32,
    /// Memories that a model moved to other tiers.
    pub adjusted: u32,
    /// Summaries that are new.
    pub reflected: u32,
    /// Why something was left out; empty when nothing was.
    pub skipped: String,
}
