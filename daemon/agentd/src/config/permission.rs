//! `[permission]`: what agents may do without asking.

use agentd_domain::PermissionMode;
use serde::{Deserialize, Serialize};

/// `[permission]`: what agents may do without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionConfig {
    /// How much, where a session does not say so itself.
    pub mode: PermissionMode,
}
