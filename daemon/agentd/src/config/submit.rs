//! `[submit]`: how messages come in.

use serde::{Deserialize, Serialize};

/// `[submit]`: how messages come in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubmitConfig {
    /// Messages a second from one client, in the long run; 0: no limit.
    pub per_client_per_second: u32,
    /// Messages that a client may send at once.
    pub per_client_burst: u32,
    /// Messages that may be on their way to their sessions at once; more are refused.
    pub in_flight: u32,
    /// Longest wait for a session to take a message.
    pub timeout_ms: u64,
    /// How long a message of low priority waits that does not say so itself; 0: for ever.
    pub default_ttl_ms: u64,
}

impl Default for SubmitConfig {
    fn default() -> Self {
        Self {
            per_client_per_second: 10,
            per_client_burst: 20,
            in_flight: 256,
            timeout_ms: 30_000,
            // Spec i.9.
            default_ttl_ms: 3_600_000,
        }
    }
}
