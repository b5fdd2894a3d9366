//! Failures of what all clients share: the same errors, with exit codes.

use agentd_proto::v1;
use agentd_shared::setup::OfferError;
use agentd_shared::{
    ChooseError, ConnectorError, ContextsError, DirectoryError, Outcome, ResolveError, ServerError,
    why,
};

use super::{Exit, Failure, chain};
use crate::app::rpc_failure;

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
        Self::new(exit, error.to_string()).because(why(&error)).hint(error.hint())
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        if let ServerError::Contexts(error) = error {
            return error.into();
        }
        Self::new(Exit::Usage, error.to_string()).because(why(&error)).hint(error.hint())
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

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Self {
        let exit = match error {
            ResolveError::List(error) => return rpc_failure("cannot list sessions", error),
            ResolveError::NoSessions | ResolveError::Unknown { .. } => Exit::NotFound,
            ResolveError::TooShort { .. } | ResolveError::Ambiguous { .. } => Exit::Usage,
        };
        Self::new(exit, error.to_string())
            .because(why(&error))
            .hint(error.hint().unwrap_or_default())
    }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        let exit = match error {
            DirectoryError::Missing { .. } => Exit::NotFound,
            DirectoryError::Elsewhere { .. } | DirectoryError::NotUtf8 { .. } => Exit::Usage,
        };
        Self::new(exit, error.to_string()).because(why(&error)).hint(error.hint())
    }
}

impl From<ChooseError> for Failure {
    fn from(error: ChooseError) -> Self {
        match error {
            ChooseError::Resolve(error) => error.into(),
            ChooseError::Directory(error) => error.into(),
            ChooseError::Create(error) => rpc_failure("cannot create a session", error),
            ChooseError::Change(error) => rpc_failure("cannot change the session", error),
            ChooseError::DirectoryOfExisting(_) => Self::new(Exit::Usage, error.to_string())
                .because(why(&error))
                .hint(error.hint().unwrap_or_default()),
        }
    }
}

impl From<OfferError> for Failure {
    fn from(error: OfferError) -> Self {
        match error {
            OfferError::Status(error) => rpc_failure("cannot ask the daemon for its status", error),
            OfferError::Show(_)
            | OfferError::Read(_)
            | OfferError::Save(_)
            | OfferError::Try { .. } => Self::new(Exit::Failed, error.to_string())
                .because(why(&error))
                .hint(error.hint().unwrap_or_default()),
        }
    }
}

/// How a command ends that waited for the end of its message's turn.
impl From<&Outcome> for Exit {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Completed(completed) => match completed.end() {
                v1::TurnEnd::Refused => Self::Failed,
                v1::TurnEnd::Unspecified
                | v1::TurnEnd::Answered
                | v1::TurnEnd::OutputLimit
                | v1::TurnEnd::RoundsLimit => Self::Ok,
            },
            Outcome::Failed(_) | Outcome::Withdrawn(_) | Outcome::Expired => Self::Failed,
            Outcome::Interrupted(_) => Self::Interrupted,
            Outcome::Asked(_) | Outcome::Blocked(_) => Self::Waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_of_the_own_turn_has_its_exit_code() {
        let check = |outcome: Outcome, expect: Exit| {
            assert_eq!(Exit::from(&outcome), expect, "{outcome:?}");
        };
        let completed = |end: v1::TurnEnd| {
            Outcome::Completed(v1::TurnCompleted { end: end.into(), ..Default::default() })
        };
        check(completed(v1::TurnEnd::Answered), Exit::Ok);
        check(completed(v1::TurnEnd::OutputLimit), Exit::Ok);
        check(completed(v1::TurnEnd::Refused), Exit::Failed);
        check(Outcome::Failed(v1::ErrorReport::default()), Exit::Failed);
        check(Outcome::Interrupted(None), Exit::Interrupted);
        check(Outcome::Asked(v1::QuestionAsked::default()), Exit::Waiting);
        check(Outcome::Blocked(v1::QuestionAsked::default()), Exit::Waiting);
        check(Outcome::Withdrawn(None), Exit::Failed);
        check(Outcome::Expired, Exit::Failed);
    }

    #[test]
    fn what_names_no_session_is_wrong_usage_or_not_found() {
        let check = |error: ResolveError, expect: Exit| {
            let what = error.to_string();
            let Failure::Report(report) = Failure::from(error) else { panic!("a report") };
            assert_eq!((report.exit, &report.what), (expect, &what));
            assert!(!report.hint.is_empty(), "{what}");
        };
        let wanted = || "01JZ".to_owned();
        check(ResolveError::NoSessions, Exit::NotFound);
        check(ResolveError::Unknown { wanted: wanted() }, Exit::NotFound);
        check(ResolveError::TooShort { wanted: wanted() }, Exit::Usage);
        let source = agentd_shared::ids::Candidates { listed: vec!["01JZA a".to_owned()] };
        check(ResolveError::Ambiguous { wanted: wanted(), count: 1, source }, Exit::Usage);
    }
}
