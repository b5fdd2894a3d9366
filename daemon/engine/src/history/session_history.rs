//! What was said, as the calls of a session search it.

use std::sync::Arc;

use agentd_domain::{ErrorKind, HistoryAnswer, HistoryQuery, SessionId};
use agentd_tools::{History, HistoryError};
use async_trait::async_trait;

use crate::error::CommandError;
use crate::session::SessionDeps;

/// See the page.
#[derive(Debug)]
pub(crate) struct SessionHistory {
    pub(crate) deps: Arc<SessionDeps>,
    /// The session whose turn asks, and is not asked about; none: a person asks.
    pub(crate) asking: Option<SessionId>,
}

#[async_trait]
impl History for SessionHistory {
    async fn search(&self, query: HistoryQuery) -> Result<HistoryAnswer, HistoryError> {
        let query = HistoryQuery { without_turn_of: self.asking, ..query };
        super::search(&self.deps, query).await.map_err(|error| told(&error))
    }
}

/// An error as a model reads it.
fn told(error: &CommandError) -> HistoryError {
    let code = match error {
        CommandError::EmptyQuestion | CommandError::QuestionTooLong { .. } => {
            "TOOL_ARGUMENT_VALIDATION_FAILED"
        }
        CommandError::NoSession(_) => "NO_SUCH_SESSION",
        _ => "HISTORY_UNAVAILABLE",
    };
    let may_pass = matches!(error.kind(), ErrorKind::Unavailable);
    HistoryError { code, message: format!("{error}; {}.", error.hint()), may_pass }
}
