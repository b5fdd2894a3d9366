//! The one place that makes a `tonic::Status`: code, message, field, hint, retry delay.

use std::time::Duration;

use agentd_domain::{ErrorKind, floor_char_boundary};
use agentd_engine::{CommandError, ImportError};
use agentd_memory::MemoryError;
use agentd_store::BackupError;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use crate::config::ConfigError;

/// Most bytes of a message once it is percent-encoded. Above 16 KiB of headers HTTP/2 loses the
/// error altogether, and the details travel in the headers too.
const STATUS_MESSAGE_BYTES: usize = 2048;

/// When a busy daemon may be asked again.
const RETRY_DELAY: Duration = Duration::from_millis(500);

fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::Invalid => Code::InvalidArgument,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::Conflict => Code::AlreadyExists,
        ErrorKind::Precondition => Code::FailedPrecondition,
        ErrorKind::Busy => Code::ResourceExhausted,
        ErrorKind::Denied => Code::PermissionDenied,
        ErrorKind::Unavailable => Code::Unavailable,
        ErrorKind::Cancelled => Code::Cancelled,
        ErrorKind::Corrupt => Code::DataLoss,
        ErrorKind::Internal => Code::Internal,
    }
}

fn reason(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "INVALID",
        ErrorKind::NotFound => "NOT_FOUND",
        ErrorKind::Conflict => "CONFLICT",
        ErrorKind::Precondition => "PRECONDITION",
        ErrorKind::Busy => "BUSY",
        ErrorKind::Denied => "DENIED",
        ErrorKind::Unavailable => "UNAVAILABLE",
        ErrorKind::Cancelled => "CANCELLED",
        ErrorKind::Corrupt => "CORRUPT",
        ErrorKind::Internal => "INTERNAL",
    }
}

/// The daemon is stopping: a reason of its own, by which clients know that somebody wants it so.
pub(super) fn stopping() -> Status {
    let message = CommandError::Stopping.to_string();
    let hint = CommandError::Stopping.hint();
    with_reason(ErrorKind::Unavailable, "DAEMON_STOPPING", &message, hint, None)
}

/// Makes a status. `field` is the field of the request that is at fault.
pub(super) fn error(kind: ErrorKind, message: &str, hint: &str, field: Option<&str>) -> Status {
    with_reason(kind, reason(kind), message, hint, field)
}

/// Somebody who has not proved who he is.
pub(super) fn unauthenticated(message: &str, hint: &str) -> Status {
    let details = details(ErrorKind::Denied, "UNAUTHENTICATED", hint);
    Status::with_error_details(Code::Unauthenticated, message, details)
}

/// Not now, but after `delay`.
pub(super) fn wait(message: &str, hint: &str, delay: Duration) -> Status {
    let mut details = details(ErrorKind::Busy, reason(ErrorKind::Busy), hint);
    details.set_retry_info(Some(delay));
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

fn with_reason(
    kind: ErrorKind,
    reason: &str,
    message: &str,
    hint: &str,
    field: Option<&str>,
) -> Status {
    let message = cut_encoded(message, STATUS_MESSAGE_BYTES);
    let mut details = details(kind, reason, hint);
    if let Some(field) = field {
        details.set_bad_request(vec![FieldViolation::new(field, message.clone())]);
    }
    Status::with_error_details(code(kind), message, details)
}

/// Too much at once. `retry_after` says when to come back, if that is known.
pub(crate) fn busy(message: &str, hint: &str, retry_after: Option<Duration>) -> Status {
    let kind = ErrorKind::Busy;
    let mut details = details(kind, reason(kind), hint);
    details.set_retry_info(Some(retry_after.unwrap_or(RETRY_DELAY)));
    Status::with_error_details(code(kind), cut_encoded(message, STATUS_MESSAGE_BYTES), details)
}

/// A message was not taken within the time that its client, or we, would wait.
pub(crate) fn too_slow(waited: Duration) -> Status {
    let hint = "it may have been accepted all the same: send it again with the same \
                client_message_id, which is accepted once";
    let details = details(ErrorKind::Unavailable, "TOO_SLOW", hint);
    let message = format!("the session did not take the message in {} ms", waited.as_millis());
    Status::with_error_details(Code::DeadlineExceeded, message, details)
}

fn details(kind: ErrorKind, reason: &str, hint: &str) -> ErrorDetails {
    let mut details = ErrorDetails::new();
    let hint = cut_encoded(hint, STATUS_MESSAGE_BYTES);
    details.set_error_info(reason, "agentd", [("hint".to_owned(), hint)]);
    if kind == ErrorKind::Busy {
        details.set_retry_info(Some(RETRY_DELAY));
    }
    details
}

/// A fault of ours; the log has the details.
pub(super) fn internal(what: &str) -> Status {
    error(
        ErrorKind::Internal,
        &format!("{what} broke off because of a fault in agentd"),
        "the log has the details; please report it",
        None,
    )
}

pub(crate) fn from_command(failure: &CommandError) -> Status {
    if matches!(failure, CommandError::Stopping) {
        return stopping();
    }
    error(failure.kind(), &failure.to_string(), failure.hint(), failure.field())
}

pub(super) fn from_memory(failure: &MemoryError) -> Status {
    let field = match failure {
        MemoryError::Field { field, .. } => Some(*field),
        MemoryError::Secret { .. } => Some("content"),
        MemoryError::NotFound { .. }
        | MemoryError::Ambiguous { .. }
        | MemoryError::Status { .. } => Some("memory_id"),
        MemoryError::NoChange | MemoryError::ChangedSince { .. } => Some("change_id"),
        MemoryError::CriticalPinned { .. } => Some("priority"),
        MemoryError::Full { .. } | MemoryError::Read(_) | MemoryError::Commit(_) => None,
    };
    let hint = match failure.hint() {
        "" => "correct it",
        hint => hint,
    };
    error(failure.kind(), &with_source(failure), hint, field)
}

pub(super) fn from_import(failure: &ImportError) -> Status {
    match failure {
        ImportError::Command(failure) => from_command(failure),
        failure => error(failure.kind(), &with_source(failure), failure.hint(), Some("chunk")),
    }
}

pub(super) fn from_config(failure: &ConfigError) -> Status {
    error(failure.kind(), &failure.to_string(), failure.hint(), None)
}

pub(super) fn from_backup(failure: &BackupError) -> Status {
    let (kind, hint, field) = match failure {
        BackupError::Exists(_) => {
            (ErrorKind::Conflict, "name a directory that does not exist yet", Some("destination"))
        }
        BackupError::NotAbsolute(_) => {
            (ErrorKind::Invalid, "give an absolute path", Some("destination"))
        }
        BackupError::Write(failure) => (failure.kind(), failure.hint(), None),
        BackupError::Io(_) => {
            (ErrorKind::Unavailable, "check the parent directory", Some("destination"))
        }
        BackupError::Read(failure) => (failure.kind(), failure.hint(), None),
    };
    error(kind, &with_source(failure), hint, field)
}

/// A field that cannot be what it is.
pub(super) fn bad_field(field: &str, problem: &str, hint: &str) -> Status {
    error(ErrorKind::Invalid, &format!("{field}: {problem}"), hint, Some(field))
}

fn with_source(failure: &dyn std::error::Error) -> String {
    match failure.source() {
        Some(source) => format!("{failure}: {source}"),
        None => failure.to_string(),
    }
}

/// Cuts text so that its percent-encoded form fits: what is not printable ASCII takes three bytes
/// for one.
fn cut_encoded(text: &str, max: usize) -> String {
    let mut encoded = 0;
    for (at, byte) in text.bytes().enumerate() {
        encoded += if matches!(byte, b' '..=b'~') && byte != b'%' { 1 } else { 3 };
        if encoded > max {
            let end = floor_char_boundary(text, at.saturating_sub(1));
            return format!("{}…", text.get(..end).unwrap_or_default());
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gr_02_long_messages_are_cut_before_they_are_lost() {
        for text in ["a".repeat(100_000), "世".repeat(6_000), "%\n".repeat(10_000)] {
            let status = error(ErrorKind::Internal, &text, "look at the log", Some("text"));
            let encoded: usize = status
                .message()
                .bytes()
                .map(|byte| if byte.is_ascii_graphic() && byte != b'%' { 1 } else { 3 })
                .sum();
            assert!(encoded <= STATUS_MESSAGE_BYTES + 9, "{encoded}");
            assert!(status.details().len() < 8 * 1024);
            assert_eq!(status.code(), Code::Internal);
        }
    }

    #[test]
    fn a_busy_daemon_says_when_to_come_back() {
        let status = from_command(&CommandError::QueueFull { limit: 100 });
        assert_eq!(status.code(), Code::ResourceExhausted);
        let details = status.get_error_details();
        assert_eq!(details.retry_info().and_then(|info| info.retry_delay), Some(RETRY_DELAY));
        assert!(details.error_info().is_some_and(|info| info.metadata.contains_key("hint")));
    }

    #[test]
    fn a_bad_field_is_named() {
        let status = from_command(&CommandError::EmptyMessage);
        assert_eq!(status.code(), Code::InvalidArgument);
        let details = status.get_error_details();
        assert_eq!(
            details.bad_request().map(|bad| bad.field_violations[0].field.as_str()),
            Some("text")
        );
    }
}
