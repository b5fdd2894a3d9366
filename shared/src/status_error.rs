//! A refused call as a user reads it: what went wrong, why, and what to do.

use std::fmt;
use std::time::Duration;

use tonic::{Code, Status, TimeoutExpired};
use tonic_types::StatusExt as _;

use crate::connect::ConnectError;
use crate::remote::RemoteProblem;
use crate::text::{human_duration, sanitize};
use crate::{ErrorKind, start::StartError};

/// Domain of the error details that the daemon sends.
const DOMAIN: &str = "agentd";
/// Reason of a daemon that cannot be started.
const START_FAILED: &str = "DAEMON_START";
/// Reason that the daemon gives when it ends in good order.
const STOPPING: &str = "DAEMON_STOPPING";

/// What a call or a stream failed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The gRPC code.
    pub code: Code,
    /// Machine-readable cause, such as "SESSION_NOT_FOUND"; empty when the daemon gave none.
    pub reason: String,
    /// What went wrong.
    pub message: String,
    /// Fields of the request that were refused.
    pub violations: Vec<FieldViolation>,
    /// What to do about it.
    pub hint: Option<String>,
    /// How long to wait before trying again.
    pub retry_after: Option<Duration>,
}

/// A field that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldViolation {
    /// Path of the field, such as "author.client_id".
    pub field: String,
    /// What is wrong with it.
    pub problem: String,
}

impl RpcError {
    /// What sort of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self.code {
            Code::InvalidArgument | Code::OutOfRange | Code::Unimplemented => ErrorKind::Invalid,
            Code::NotFound => ErrorKind::NotFound,
            Code::AlreadyExists | Code::FailedPrecondition | Code::Aborted => ErrorKind::Conflict,
            Code::ResourceExhausted => ErrorKind::Busy,
            Code::PermissionDenied | Code::Unauthenticated => ErrorKind::Denied,
            Code::Unavailable | Code::DeadlineExceeded => ErrorKind::Unavailable,
            Code::Cancelled => ErrorKind::Cancelled,
            Code::DataLoss => ErrorKind::Corrupt,
            Code::Ok | Code::Unknown | Code::Internal => ErrorKind::Internal,
        }
    }

    /// Tells whether a stream that ended with this is worth opening again.
    pub fn ends_attachment(&self) -> bool {
        match self.code {
            Code::NotFound
            | Code::PermissionDenied
            | Code::InvalidArgument
            | Code::Unauthenticated
            | Code::AlreadyExists
            | Code::FailedPrecondition
            // A message over the size limit comes again each time.
            | Code::OutOfRange
            | Code::Unimplemented
            // A damaged log does not mend itself.
            | Code::DataLoss => true,
            Code::Ok
            | Code::Cancelled
            | Code::Unknown
            | Code::DeadlineExceeded
            | Code::ResourceExhausted
            | Code::Aborted
            | Code::Internal
            | Code::Unavailable => false,
        }
    }

    /// Tells whether the daemon is only gone, so that there is nothing to say but to wait for it.
    pub fn is_outage(&self) -> bool {
        self.code == Code::Unavailable && self.reason != START_FAILED
    }

    /// Tells whether the daemon said that somebody stops it. One that was killed says nothing.
    pub fn is_stopping(&self) -> bool {
        self.code == Code::Unavailable && self.reason == STOPPING
    }

    /// What went wrong, in one line, with the fields that were refused. What it quotes is foreign.
    pub fn why(&self) -> String {
        let violations = self
            .violations
            .iter()
            // A single violation is often the message itself.
            .filter(|found| !self.message.contains(&found.problem))
            .map(|found| format!("; {}: {}", found.field, found.problem));
        std::iter::once(self.message.clone()).chain(violations).collect()
    }

    /// What to do about it, when that is known.
    pub fn remedy(&self) -> Option<String> {
        let later = || {
            let delay = human_duration(self.retry_after?);
            Some(format!("try again in {delay}"))
        };
        self.hint.clone().or_else(later)
    }

    /// What a user is told when a stream is lost with this and is being made anew.
    pub fn loss(&self) -> String {
        if self.is_stopping() {
            return "the daemon was stopped; waiting for it to come back ...".to_owned();
        }
        if self.is_outage() {
            return "connection lost; waiting for the daemon ...".to_owned();
        }
        let hint = self.hint.as_ref().map_or(String::new(), |hint| format!("\n  hint: {hint}"));
        format!("{}{hint}\ntrying again ...", self.message)
    }

    pub(crate) fn stream_ended() -> Self {
        Self::plain(Code::Unavailable, "STREAM_ENDED", "the daemon ended the stream".to_owned())
    }

    pub(crate) fn no_answer() -> Self {
        Self::plain(
            Code::DeadlineExceeded,
            "NO_ANSWER",
            "the daemon does not answer in time".to_owned(),
        )
    }

    fn plain(code: Code, reason: &str, message: String) -> Self {
        Self {
            code,
            reason: reason.to_owned(),
            message,
            violations: Vec::new(),
            hint: None,
            retry_after: None,
        }
    }
}

impl From<Status> for RpcError {
    fn from(status: Status) -> Self {
        if is_expired(&status) {
            return Self::no_answer();
        }
        if is_broken_connection(&status) {
            let message = format!("the connection to the daemon broke: {}", status.message());
            return Self::plain(Code::Unavailable, "CONNECTION_LOST", message);
        }
        let mut error = Self::plain(status.code(), "", status.message().to_owned());
        let details = status.get_error_details();
        if let Some(info) = details.error_info() {
            error.reason.clone_from(&info.reason);
            if info.domain == DOMAIN {
                error.hint = info.metadata.get("hint").cloned();
            }
        }
        if let Some(help) = details.help()
            && let Some(link) = help.links.first()
            && error.hint.is_none()
        {
            error.hint = Some(format!("{} {}", link.description, link.url).trim().to_owned());
        }
        if let Some(request) = details.bad_request() {
            error.violations = request
                .field_violations
                .iter()
                .map(|violation| FieldViolation {
                    field: violation.field.clone(),
                    problem: violation.description.clone(),
                })
                .collect();
        }
        error.retry_after = details.retry_info().and_then(|info| info.retry_delay);
        if error.message.is_empty() {
            status.code().description().clone_into(&mut error.message);
        }
        error
    }
}

/// A deadline that passes here comes as CANCELLED, with nothing but its text to know it by.
fn is_expired(status: &Status) -> bool {
    status.code() == Code::Cancelled && status.message() == TimeoutExpired(()).to_string()
}

/// What the transport made of a broken connection has an arbitrary code; only it has a source.
fn is_broken_connection(status: &Status) -> bool {
    let vague = matches!(
        status.code(),
        Code::Unknown | Code::Internal | Code::Cancelled | Code::Unavailable
    );
    vague && std::error::Error::source(status).is_some()
}

impl From<&ConnectError> for RpcError {
    fn from(error: &ConnectError) -> Self {
        let (code, reason) = match error {
            ConnectError::NotRunning { .. } => (Code::Unavailable, "DAEMON_NOT_RUNNING"),
            ConnectError::Denied { .. } => (Code::PermissionDenied, "DAEMON_DENIED"),
            ConnectError::Timeout { .. } => (Code::Unavailable, "DAEMON_TIMEOUT"),
            ConnectError::Stopping { .. } => (Code::Unavailable, "DAEMON_STOPPING"),
            ConnectError::PathTooLong { .. } => (Code::InvalidArgument, "SOCKET_PATH_TOO_LONG"),
            ConnectError::Transport { .. } => (Code::Unavailable, "DAEMON_TRANSPORT"),
            // A wrong certificate does not become right by waiting.
            ConnectError::Remote { problem: RemoteProblem::Tls(_), .. } => {
                (Code::FailedPrecondition, "DAEMON_TLS")
            }
            ConnectError::Remote { .. } => (Code::Unavailable, "DAEMON_UNREACHABLE"),
        };
        let hint = Some(error.hint().to_owned());
        Self { hint, ..Self::plain(code, reason, error.to_string()) }
    }
}

impl From<ConnectError> for RpcError {
    fn from(error: ConnectError) -> Self {
        Self::from(&error)
    }
}

impl From<&StartError> for RpcError {
    /// A start that fails may work later, so none of these ends an attachment.
    fn from(error: &StartError) -> Self {
        let hint = Some(error.hint().into_owned());
        Self { hint, ..Self::plain(Code::Unavailable, START_FAILED, error.to_string()) }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Messages may quote models, tools and file names.
        write!(formatter, "{}", sanitize(&self.message))?;
        for FieldViolation { field, problem } in &self.violations {
            write!(formatter, "\n  {}", sanitize(field))?;
            // Often the violation is the whole message again.
            if *problem != self.message {
                write!(formatter, ": {}", sanitize(problem))?;
            }
        }
        if let Some(hint) = &self.hint {
            write!(formatter, "\n  hint: {}", sanitize(hint))?;
        }
        if let Some(delay) = self.retry_after {
            write!(formatter, "\n  try again in {}", human_duration(delay))?;
        }
        Ok(())
    }
}

impl std::error::Error for RpcError {}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tonic_types::{ErrorDetails, FieldViolation as WireViolation};

    use super::*;

    #[test]
    fn the_details_of_the_daemon_are_read() {
        let mut details = ErrorDetails::new();
        let hint = HashMap::from([("hint".to_owned(), "wait for a turn to end".to_owned())]);
        details.set_error_info("QUEUE_FULL", "agentd", hint);
        details.set_retry_info(Some(Duration::from_millis(1_500)));
        details.set_bad_request(vec![WireViolation::new("text", "longer than 1 MiB")]);
        let status =
            Status::with_error_details(Code::ResourceExhausted, "the queue is full", details);
        let error = RpcError::from(status);
        assert_eq!(error.reason, "QUEUE_FULL");
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert_eq!(error.retry_after, Some(Duration::from_millis(1_500)));
        assert_eq!(
            error.to_string(),
            "the queue is full\n  text: longer than 1 MiB\n  hint: wait for a turn to end\n  try again in 1.5 s"
        );
    }

    #[test]
    fn a_hint_of_another_domain_is_not_taken_for_ours() {
        let mut details = ErrorDetails::new();
        let hint = HashMap::from([("hint".to_owned(), "run this".to_owned())]);
        details.set_error_info("X", "elsewhere", hint);
        let error = RpcError::from(Status::with_error_details(Code::Internal, "m", details));
        assert_eq!((error.hint, error.reason.as_str()), (None, "X"));
    }

    #[test]
    fn a_status_without_details_or_message_still_says_something() {
        let error = RpcError::from(Status::new(Code::NotFound, ""));
        assert_eq!((error.message.is_empty(), error.hint), (false, None));
    }

    #[test]
    fn what_an_error_quotes_cannot_steer_the_terminal() {
        let error = RpcError::from(Status::new(Code::NotFound, "no \u{1b}[2J here"));
        assert_eq!(error.to_string(), "no \\u{1b}[2J here");
    }

    #[test]
    fn a_broken_connection_is_unavailable_whatever_the_transport_calls_it() {
        let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let error = RpcError::from(Status::from_error(Box::new(broken)));
        assert_eq!(
            (error.kind(), error.reason.as_str()),
            (ErrorKind::Unavailable, "CONNECTION_LOST")
        );
        let from_the_daemon = RpcError::from(Status::unknown("odd"));
        assert_eq!(from_the_daemon.kind(), ErrorKind::Internal);
    }

    #[test]
    fn a_deadline_that_passed_is_told_apart_from_a_broken_connection() {
        let error = RpcError::from(Status::from_error(Box::new(TimeoutExpired(()))));
        assert_eq!((error.code, error.reason.as_str()), (Code::DeadlineExceeded, "NO_ANSWER"));
        let cancelled = RpcError::from(Status::cancelled("the turn was interrupted"));
        assert_eq!(cancelled.code, Code::Cancelled);
    }

    #[test]
    fn only_an_outage_goes_without_a_reason() {
        let check = |error: RpcError, expect: bool| {
            assert_eq!(error.is_outage(), expect, "{error:?}");
        };
        check(RpcError::stream_ended(), true);
        check(RpcError::from(Status::unavailable("stopping")), true);
        check(RpcError::from(&ConnectError::NotRunning { socket: "/s".into() }), true);
        check(RpcError::from(Status::internal("broke off")), false);
        check(RpcError::from(Status::resource_exhausted("too many terminals")), false);
        check(RpcError::from(&StartError::Announcement { line: "hello".into() }), false);
    }

    #[test]
    fn only_what_stays_wrong_ends_an_attachment() {
        let check = |code: Code, expect| {
            assert_eq!(RpcError::from(Status::new(code, "")).ends_attachment(), expect, "{code:?}");
        };
        for code in [Code::NotFound, Code::PermissionDenied, Code::InvalidArgument] {
            check(code, true);
        }
        for code in [Code::Unauthenticated, Code::FailedPrecondition, Code::AlreadyExists] {
            check(code, true);
        }
        check(Code::DataLoss, true);
        for code in [Code::Unavailable, Code::ResourceExhausted, Code::Internal, Code::Unknown] {
            check(code, false);
        }
    }

    #[test]
    fn a_lost_stream_tells_its_reason_unless_the_daemon_is_only_gone() {
        let check = |error: RpcError, expect: &str| assert_eq!(error.loss(), expect);
        let gone = RpcError::from(Status::new(Code::Unavailable, "stopping"));
        check(gone, "connection lost; waiting for the daemon ...");
        let mut stopped = RpcError::from(Status::new(Code::Unavailable, "stopping"));
        stopped.reason = "DAEMON_STOPPING".to_owned();
        check(stopped, "the daemon was stopped; waiting for it to come back ...");
        let mut full = RpcError::from(Status::new(Code::ResourceExhausted, "too many terminals"));
        check(full.clone(), "too many terminals\ntrying again ...");
        full.hint = Some("detach one".to_owned());
        check(full, "too many terminals\n  hint: detach one\ntrying again ...");
    }

    #[test]
    fn a_refusal_says_why_and_what_to_do() {
        let mut error = RpcError::from(Status::new(Code::InvalidArgument, "title: too long"));
        assert_eq!((error.why(), error.remedy()), ("title: too long".to_owned(), None));
        let violation = |field: &str, problem: &str| FieldViolation {
            field: field.to_owned(),
            problem: problem.to_owned(),
        };
        error.violations = vec![violation("title", "too long"), violation("model", "unknown")];
        assert_eq!(error.why(), "title: too long; model: unknown");
        error.retry_after = Some(Duration::from_secs(2));
        assert_eq!(error.remedy().as_deref(), Some("try again in 2.0 s"));
        error.hint = Some("shorten it".to_owned());
        assert_eq!(error.remedy().as_deref(), Some("shorten it"));
    }
}
