//! How important a message is (spec i.9).

use serde::{Deserialize, Serialize};

/// How important a message is. Among waiting ones the more important run first, and among equals the
/// older.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Background work.
    Low,
    /// What users type.
    #[default]
    Normal,
    /// Before what users type.
    High,
    /// Before what is high.
    Urgent,
    /// Before everything else.
    Critical,
}

impl Priority {
    /// True for what is meant when nothing is said.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(crate) fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}
