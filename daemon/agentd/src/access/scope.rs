//! What a token allows.

use serde::{Deserialize, Serialize};

/// What somebody may do; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Looking at sessions.
    Read,
    /// Looking, and talking in sessions.
    Chat,
    /// Everything.
    Admin,
}

impl Scope {
    /// Its name, as command lines have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Chat => "chat",
            Self::Admin => "admin",
        }
    }
}
