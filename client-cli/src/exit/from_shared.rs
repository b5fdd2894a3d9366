//! Failures of what all clients share: the same errors, with exit codes.

use std::error::Error as _;

use agentd_shared::{ConnectorError, ContextsError, ServerError};

use super::{Exit, Failure, chain};

impl From<ConnectorError> for Failure {
    fn from(error: ConnectorError) -> Self {
        let exit = match error {
            ConnectorError::Server(error) => return error.into(),
            ConnectorError::Home { .. } | ConnectorError::Paths(_) | ConnectorError::Config(_) => {
                Exit::Usage
            }
            ConnectorError::Connect(_) | ConnectorError::Start(_) | ConnectorError::Held { .. } => {
                Exit::Unreachable
            }
        };
        let why = error.source().map(chain).unwrap_or_default();
        Self::new(exit, error.to_string()).because(why).hint(error.hint())
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        if let ServerError::Contexts(error) = error {
            return error.into();
        }
        let why = error.source().map(chain).unwrap_or_default();
        Self::new(Exit::Usage, error.to_string()).because(why).hint(error.hint())
    }
}

impl From<ContextsError> for Failure {
    fn from(error: ContextsError) -> Self {
        let exit = match error {
            ContextsError::Unknown(_) => Exit::NotFound,
            ContextsError::Name(_) => Exit::Usage,
            ContextsError::Io { .. }
            | ContextsError::Dir(_)
            | ContextsError::Damaged { .. }
            | ContextsError::Exists(_) => Exit::Failed,
        };
        Self::new(exit, chain(&error)).hint(error.hint())
    }
}
