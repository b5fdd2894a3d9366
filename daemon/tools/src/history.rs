//! What was said in sessions, as a call searches it. Somebody else keeps it.

use std::fmt::Debug;

use agentd_domain::{HistoryAnswer, HistoryQuery};
use async_trait::async_trait;

/// Why nothing became of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryError {
    /// Machine-readable, such as `HISTORY_UNAVAILABLE`.
    pub code: &'static str,
    /// What is wrong and what to do, in sentences.
    pub message: String,
    /// It may work when tried again.
    pub may_pass: bool,
}

/// What was said in all sessions. The turn that asks is not among it.
#[async_trait]
pub trait History: Debug + Send + Sync + 'static {
    /// Finds messages, the best first.
    async fn search(&self, query: HistoryQuery) -> Result<HistoryAnswer, HistoryError>;
}

/// Nobody keeps any.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHistory;

#[async_trait]
impl History for NoHistory {
    async fn search(&self, _query: HistoryQuery) -> Result<HistoryAnswer, HistoryError> {
        Err(HistoryError {
            code: "NO_HISTORY_HERE",
            message: "Nothing keeps what was said where this call runs.".to_owned(),
            may_pass: false,
        })
    }
}
