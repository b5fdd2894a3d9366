//! What is known of the work that time does to memories.

use serde::{Deserialize, Serialize};

use crate::TimestampMs;

/// When memories were last looked after. Kept beside them, so that a clock that is wrong is seen as such.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryUpkeep {
    /// When they last aged, to within a day; none: they never have.
    pub swept_at: Option<TimestampMs>,
    /// Since when no long time has passed between two such looks.
    pub steady_since: Option<TimestampMs>,
}
