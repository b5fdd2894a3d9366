//! How the client ends when something is wrong: what, why and what to do, with the codes of `agentctl`.

use std::error::Error as _;
use std::io::{self, Write as _};

use agentd_shared::setup::OfferError;
use agentd_shared::text::sanitize;
use agentd_shared::{
    ChooseError, ConnectorError, ContextsError, ErrorKind, ServerError, chain, why,
};

/// Something went wrong.
const FAILED: u8 = 1;
/// Wrong usage.
const USAGE: u8 = 2;
/// No daemon.
const UNREACHABLE: u8 = 3;
/// No such session.
const NOT_FOUND: u8 = 4;

/// Why the client ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What went wrong.
    pub what: String,
    /// The cause, or empty.
    pub why: String,
    /// The remedy, or empty.
    pub hint: String,
}

impl Failure {
    /// There is no terminal to draw on.
    pub fn no_terminal() -> Self {
        Self {
            code: USAGE,
            what: "agent-tui needs a terminal".to_owned(),
            why: "stdin or stdout is not one".to_owned(),
            hint: "send one message with `agentctl send`, or pipe lines into `agentctl chat`"
                .to_owned(),
        }
    }

    /// The line by line client cannot be started.
    pub fn no_linear(program: &str, error: &io::Error) -> Self {
        Self {
            code: FAILED,
            what: format!("cannot start {program}"),
            why: error.to_string(),
            hint: "install agentctl beside agent-tui, or into a directory of PATH".to_owned(),
        }
    }

    /// The inert text of it.
    pub fn text(&self) -> String {
        let mut text = format!("error: {}\n", sanitize(&self.what));
        for (label, part) in [("  why:", &self.why), (" hint:", &self.hint)] {
            if !part.is_empty() {
                text.push_str(label);
                text.push(' ');
                text.push_str(&sanitize(part));
                text.push('\n');
            }
        }
        text
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self {
            code: FAILED,
            what: "the terminal cannot be used".to_owned(),
            why: chain(&error),
            hint: String::new(),
        }
    }
}

impl From<ConnectorError> for Failure {
    fn from(error: ConnectorError) -> Self {
        let code = match &error {
            ConnectorError::Server(ServerError::Contexts(ContextsError::Unknown(_))) => NOT_FOUND,
            ConnectorError::Server(_)
            | ConnectorError::Home { .. }
            | ConnectorError::Paths(_)
            | ConnectorError::Config(_) => USAGE,
            ConnectorError::Connect(_) | ConnectorError::Start(_) | ConnectorError::Held { .. } => {
                UNREACHABLE
            }
        };
        let hint = error.hint().to_string();
        Self { code, what: error.to_string(), why: why(&error), hint }
    }
}

impl From<ChooseError> for Failure {
    fn from(error: ChooseError) -> Self {
        let code = match error.kind() {
            ErrorKind::NotFound => NOT_FOUND,
            ErrorKind::Unavailable => UNREACHABLE,
            // What was typed, or what the daemon says of it.
            ErrorKind::Invalid => USAGE,
            ErrorKind::Conflict
            | ErrorKind::Busy
            | ErrorKind::Denied
            | ErrorKind::Cancelled
            | ErrorKind::Corrupt
            | ErrorKind::Internal => FAILED,
        };
        let cause = if error.source().is_some() { why(&error) } else { String::new() };
        Self { code, what: error.to_string(), why: cause, hint: error.hint().unwrap_or_default() }
    }
}

impl From<OfferError> for Failure {
    fn from(error: OfferError) -> Self {
        let code = if error.kind() == ErrorKind::Unavailable { UNREACHABLE } else { FAILED };
        let hint = error.hint().unwrap_or_default();
        Self { code, what: error.to_string(), why: why(&error), hint }
    }
}

/// Tells something on stderr. Nobody is left to tell when that fails.
pub fn tell(text: &str) {
    let mut err = io::stderr().lock();
    drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
}

#[cfg(test)]
mod tests {
    use agentd_shared::ResolveError;

    use super::*;

    #[test]
    fn a_session_that_does_not_exist_ends_as_it_does_in_agentctl() {
        let check = |error: ResolveError, code: u8| {
            let failure = Failure::from(ChooseError::from(error));
            assert_eq!(failure.code, code, "{failure:?}");
            assert!(!failure.hint.is_empty(), "{failure:?}");
        };
        check(ResolveError::NoSessions, 4);
        check(ResolveError::Unknown { wanted: "01X0".to_owned() }, 4);
        check(ResolveError::TooShort { wanted: "01".to_owned() }, 2);
    }

    #[test]
    fn a_failure_says_what_why_and_what_to_do_and_is_inert() {
        let text = Failure::no_terminal().text();
        assert!(text.starts_with("error: agent-tui needs a terminal\n  why: "), "{text}");
        assert!(text.contains(" hint: send one message with `agentctl send`"), "{text}");
        let foreign = Failure { why: "\u{1b}[2J".to_owned(), ..Failure::no_terminal() };
        assert!(!foreign.text().contains('\u{1b}'));
    }
}
