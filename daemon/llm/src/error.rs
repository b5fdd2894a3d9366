//! Why a model request failed.

use std::time::Duration;

use agentd_domain::ErrorReport;

/// A wait that is too long to be called a moment.
const A_MOMENT: Duration = Duration::from_secs(60);

/// Why a model request failed. Texts never hold a key.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// No connection.
    #[error("cannot connect to {base_url}: {detail}")]
    Connect {
        /// Where to.
        base_url: String,
        /// What the system says.
        detail: String,
    },
    /// The answer did not begin in time.
    #[error("no answer from {base_url} within {} ms", .after.as_millis())]
    FirstByteTimeout {
        /// Where from.
        base_url: String,
        /// How long we waited.
        after: Duration,
    },
    /// The stream stayed open and silent.
    #[error("the answer stopped arriving for {} ms", .after.as_millis())]
    IdleTimeout {
        /// How long we waited.
        after: Duration,
    },
    /// The stream ended before the answer did.
    #[error("the answer was cut off before its end")]
    Cut,
    /// The stream ended without any content.
    #[error("the provider sent an empty answer")]
    Empty,
    /// A key is needed and there is none, or it cannot be read.
    #[error("no usable API key: {message}")]
    NoKey {
        /// Where one was looked for and what to do.
        message: String,
    },
    /// The key is wrong or not allowed.
    #[error("the provider refused the API key{}: {message}", shown(*.status))]
    Auth {
        /// HTTP status.
        status: u16,
        /// What the provider says, cut and masked.
        message: String,
    },
    /// The account has no credit left.
    #[error("the account's quota is used up: {message}")]
    Quota {
        /// What the provider says, cut and masked.
        message: String,
    },
    /// Too many requests.
    #[error("the provider limits the rate: {message}")]
    RateLimited {
        /// What the provider says, cut and masked.
        message: String,
        /// When to try again, if the provider said so.
        retry_after: Option<Duration>,
    },
    /// The provider has trouble (HTTP 5xx, 408, or "overloaded" in the stream).
    #[error("the provider has trouble{}: {message}", shown(*.status))]
    Server {
        /// HTTP status, or 0 when it came in the stream.
        status: u16,
        /// What the provider says, cut and masked.
        message: String,
        /// When to try again, if the provider said so.
        retry_after: Option<Duration>,
    },
    /// A limit of one's own is reached.
    #[error("a limit is reached: {message}")]
    Budget {
        /// Which limit, what was used, and the key that raises it.
        message: String,
    },
    /// The endpoint failed too often and is left alone for a while.
    #[error("{base_url} has failed too often and is left alone for {} ms", .retry_after.as_millis())]
    CircuitOpen {
        /// Where.
        base_url: String,
        /// When it is tried again.
        retry_after: Duration,
    },
    /// Too many requests of our own wait for the endpoint.
    #[error("{base_url} is busy with our other requests: {detail}")]
    Busy {
        /// Where.
        base_url: String,
        /// Which limit is reached.
        detail: String,
    },
    /// The conversation is longer than the model's window.
    #[error("the conversation is too long for the model: {message}")]
    ContextOverflow {
        /// What the provider says, cut and masked.
        message: String,
        /// The window in tokens, when the provider names it.
        limit_tokens: Option<u64>,
    },
    /// There is no such model or endpoint.
    #[error("the provider does not know the model or the address: {message}")]
    NotFound {
        /// What the provider says, cut and masked.
        message: String,
    },
    /// The request is not acceptable and will not be when repeated.
    #[error("the provider refused the request{}: {message}", shown(*.status))]
    Invalid {
        /// HTTP status, or 0 when it came in the stream.
        status: u16,
        /// What the provider says, cut and masked.
        message: String,
    },
    /// The provider's content policy refuses the request.
    #[error("the provider's content policy refuses the request{}: {message}", shown(*.status))]
    Refused {
        /// HTTP status, or 0 when it came in the stream.
        status: u16,
        /// What the provider says, cut and masked.
        message: String,
    },
    /// The answer is not what the protocol says.
    #[error("the provider's answer is not understandable: {detail}")]
    Protocol {
        /// What was wrong, cut and masked.
        detail: String,
    },
    /// The answer is larger than we take.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// A status as it stands in a text; an error in the stream may have none.
fn shown(status: u16) -> String {
    if status == 0 { String::new() } else { format!(" ({status})") }
}

/// What can be done about an error; layers that try again decide by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The same request may succeed later or elsewhere: trouble of the network or the provider, rate
    /// limits, answers that were cut.
    Retryable,
    /// A shorter conversation may succeed, here or with a model of a larger window.
    Overflow,
    /// Nothing succeeds at this endpoint until somebody pays; another endpoint may answer.
    Quota,
    /// The same request fails again here; another model may take it.
    Invalid,
    /// Nothing succeeds at this endpoint until the key is mended; another endpoint may answer.
    Auth,
    /// The provider's content policy refuses the request. Asking again, or somebody else, would work
    /// around it, so nobody does.
    Refused,
    /// We did not send it: a limit of one's own, no key, or an endpoint that is left alone.
    Local,
}

impl LlmError {
    /// What can be done about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Connect { .. }
            | Self::FirstByteTimeout { .. }
            | Self::IdleTimeout { .. }
            | Self::Cut
            | Self::Empty
            | Self::RateLimited { .. }
            | Self::Server { .. } => ErrorClass::Retryable,
            Self::ContextOverflow { .. } => ErrorClass::Overflow,
            Self::Quota { .. } => ErrorClass::Quota,
            Self::NotFound { .. }
            | Self::Invalid { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. } => ErrorClass::Invalid,
            Self::Auth { .. } => ErrorClass::Auth,
            Self::Refused { .. } => ErrorClass::Refused,
            Self::NoKey { .. }
            | Self::Budget { .. }
            | Self::CircuitOpen { .. }
            | Self::Busy { .. } => ErrorClass::Local,
        }
    }

    /// True when the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.class() == ErrorClass::Retryable
    }

    /// When the provider wants to be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Machine-readable code for the log and for clients.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "PROVIDER_UNREACHABLE",
            Self::FirstByteTimeout { .. } => "PROVIDER_FIRST_BYTE_TIMEOUT",
            Self::IdleTimeout { .. } => "PROVIDER_IDLE_TIMEOUT",
            Self::Cut => "PROVIDER_STREAM_CUT",
            Self::Empty => "PROVIDER_EMPTY_ANSWER",
            Self::NoKey { .. } => "PROVIDER_NO_KEY",
            Self::Auth { .. } => "PROVIDER_AUTH",
            Self::Quota { .. } => "PROVIDER_QUOTA",
            Self::RateLimited { .. } => "PROVIDER_RATE_LIMITED",
            Self::Server { .. } => "PROVIDER_ERROR",
            Self::Budget { .. } => "BUDGET_EXCEEDED",
            Self::CircuitOpen { .. } => "PROVIDER_CIRCUIT_OPEN",
            Self::Busy { .. } => "PROVIDER_BUSY",
            Self::ContextOverflow { .. } => "CONTEXT_OVERFLOW",
            Self::NotFound { .. } => "PROVIDER_NOT_FOUND",
            Self::Invalid { .. } => "PROVIDER_REFUSED_REQUEST",
            Self::Refused { .. } => "PROVIDER_CONTENT_REFUSED",
            Self::Protocol { .. } => "PROVIDER_PROTOCOL",
            Self::TooLarge { .. } => "PROVIDER_ANSWER_TOO_LARGE",
        }
    }

    /// What a user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Connect { .. } => {
                "check provider.base_url and that the server runs; `agentctl status` shows it"
            }
            Self::FirstByteTimeout { .. } => {
                "send it again, or raise provider.first_byte_timeout_ms for a slow model"
            }
            Self::IdleTimeout { .. } => {
                "send it again, or raise provider.idle_timeout_ms for a slow model"
            }
            Self::RateLimited { retry_after: Some(wait), .. } if *wait > A_MOMENT => {
                "wait, or use another model; `agentctl reload` forgets the pause"
            }
            Self::Cut | Self::Empty | Self::RateLimited { .. } | Self::Server { .. } => {
                "send it again in a moment"
            }
            Self::NoKey { .. } | Self::Auth { .. } => {
                "put the key into the file of provider.api_key_file, then `agentctl reload`; or export it, then `agentctl shutdown`: the next command starts the daemon with it"
            }
            Self::Quota { .. } => "check billing at the provider, or use another model",
            Self::Budget { .. } => "raise the limit under [budget], then `agentctl reload`",
            Self::CircuitOpen { .. } => "wait, or configure a fallback model",
            Self::Busy { .. } => {
                "send it again in a moment, or raise provider.max_concurrent_requests"
            }
            Self::ContextOverflow { .. } => {
                "start a new session, or set provider.context_tokens to the model's real window"
            }
            Self::NotFound { .. } => "check the model name (/model) and provider.base_url",
            Self::Invalid { .. } => {
                "the message says what the provider wants; another model may take it"
            }
            Self::Refused { .. } => "say it differently; the message says what is refused",
            Self::Protocol { .. } => {
                "check that provider.base_url is an endpoint of the API that provider.kind names"
            }
            Self::TooLarge { .. } => "ask for a shorter answer",
        }
    }

    /// The error as the log keeps it.
    pub fn report(&self) -> ErrorReport {
        ErrorReport {
            code: self.code().to_owned(),
            message: self.to_string(),
            hint: self.hint().to_owned(),
            retryable: self.is_retryable(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_nobody_named_is_not_shown() {
        let check = |status: u16, expect: &str| {
            let message = || "m".to_owned();
            let server = LlmError::Server { status, message: message(), retry_after: None };
            assert_eq!(server.to_string(), format!("the provider has trouble{expect}: m"));
            let invalid = LlmError::Invalid { status, message: message() };
            assert_eq!(invalid.to_string(), format!("the provider refused the request{expect}: m"));
            let auth = LlmError::Auth { status, message: message() };
            assert_eq!(auth.to_string(), format!("the provider refused the API key{expect}: m"));
        };
        check(0, "");
        check(503, " (503)");
    }

    #[test]
    fn a_long_pause_comes_with_a_way_out() {
        let hint = |seconds| {
            let retry_after = Some(Duration::from_secs(seconds));
            LlmError::RateLimited { message: "m".to_owned(), retry_after }.hint()
        };
        assert_eq!(hint(5), "send it again in a moment");
        assert!(hint(3600).contains("agentctl reload"), "{}", hint(3600));
    }

    #[test]
    fn every_error_says_whether_to_try_again_and_what_to_do() {
        use ErrorClass::{Auth, Invalid, Local, Overflow, Quota, Refused, Retryable};

        let text = || "m".to_owned();
        let second = Duration::from_secs(1);
        let table = [
            (LlmError::Connect { base_url: text(), detail: text() }, Retryable),
            (LlmError::FirstByteTimeout { base_url: text(), after: second }, Retryable),
            (LlmError::IdleTimeout { after: second }, Retryable),
            (LlmError::Cut, Retryable),
            (LlmError::Empty, Retryable),
            (LlmError::NoKey { message: text() }, Local),
            (LlmError::Auth { status: 401, message: text() }, Auth),
            (LlmError::Quota { message: text() }, Quota),
            (LlmError::RateLimited { message: text(), retry_after: Some(second) }, Retryable),
            (
                LlmError::Server { status: 503, message: text(), retry_after: Some(second) },
                Retryable,
            ),
            (LlmError::Budget { message: text() }, Local),
            (LlmError::CircuitOpen { base_url: text(), retry_after: second }, Local),
            (LlmError::Busy { base_url: text(), detail: text() }, Local),
            (LlmError::ContextOverflow { message: text(), limit_tokens: None }, Overflow),
            (LlmError::NotFound { message: text() }, Invalid),
            (LlmError::Invalid { status: 400, message: text() }, Invalid),
            (LlmError::Refused { status: 400, message: text() }, Refused),
            (LlmError::Protocol { detail: text() }, Invalid),
            (LlmError::TooLarge { limit: 1 }, Invalid),
        ];
        let mut codes = std::collections::HashSet::new();
        for (error, class) in &table {
            assert_eq!(error.class(), *class, "{error:?}");
            let is_retryable = *class == Retryable;
            assert_eq!(error.is_retryable(), is_retryable, "{error:?}");
            let waits = matches!(error, LlmError::RateLimited { .. } | LlmError::Server { .. });
            assert_eq!(error.retry_after(), waits.then_some(second), "{error:?}");
            assert!(codes.insert(error.code()), "{error:?}: a code used twice");
            assert!(!error.hint().is_empty());
            let report = error.report();
            assert_eq!((report.code.as_str(), report.retryable), (error.code(), is_retryable));
        }
        // A new variant needs a row: the match in `code` names all of them.
        assert_eq!(codes.len(), 19);
    }
}
