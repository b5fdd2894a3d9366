//! `[permission]`: what agents may do without asking.

use agentd_domain::PermissionMode;
use serde::{Deserialize, Serialize};

/// `[permission]`: what agents may do without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionConfig {
    /// How much, in sessions that are created without saying so.
    pub mode: PermissionMode,
    /// How long a call waits until somebody says whether it may run.
    pub approval_timeout_ms: u64,
}

impl Default for PermissionConfig {
    fn default() -> Self {
        Self { mode: PermissionMode::Ask, approval_timeout_ms: 600_000 }
    }
}
