//! What it means when a provider refuses.
//!
//! Providers agree neither on statuses nor on bodies, so both are read: the code where there is one,
//! the status next, and known phrases of the message for what only they tell.

use std::time::Duration;

use serde_json::Value;

use super::error_text::ErrorText;
use super::overflow;
use crate::LlmError;

/// What a provider says about an error, in any of the known shapes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// HTTP status, or the one named in a stream; 0 when there is none.
    pub(crate) status: u16,
    /// The message as it came.
    pub(crate) message: String,
    /// Codes and types, in lower case.
    pub(crate) codes: Vec<String>,
    /// The model's window in tokens, where the error is about it and names it.
    pub(crate) limit_tokens: Option<u64>,
    /// When to try again.
    pub(crate) retry_after: Option<Duration>,
}

impl Refusal {
    /// Reads the body of an HTTP error.
    pub(crate) fn from_body(status: u16, body: &[u8], retry_after: Option<Duration>) -> Self {
        let mut refusal = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::from_json(&value),
            Err(_no_json) => {
                let text = String::from_utf8_lossy(body);
                let message = strip_tags(&text);
                let limit_tokens = overflow::limit_tokens(&Value::Null, &message);
                Self { message, limit_tokens, ..Self::default() }
            }
        };
        if refusal.message.trim().is_empty() {
            refusal.message.replace_range(.., "no message");
        }
        refusal.status = status;
        refusal.retry_after = retry_after;
        refusal
    }

    /// Reads the data of an event that holds an error.
    pub(crate) fn from_event(data: &[u8]) -> Self {
        let value = serde_json::from_slice(data).unwrap_or_else(|_odd| {
            // Escaped halves of characters, which `Value` does not take.
            Value::String(String::from_utf8_lossy(data).into_owned())
        });
        Self::from_json(&value)
    }

    /// Reads data that is nothing the API knows, if it is an error in a form of its own.
    pub(crate) fn bare(data: &[u8]) -> Option<Self> {
        let value = serde_json::from_slice::<Value>(data).ok()?;
        let says = |field: &&str| value.get(field).is_some_and(|said| !said.is_null());
        let is_error = value.get("object").and_then(Value::as_str) == Some("error")
            || MESSAGE_FIELDS.iter().any(says);
        is_error.then(|| Self::from_json(&value))
    }

    /// Reads an error object: `{"error": {...}}`, the inner object, a text, or a list of them.
    pub(crate) fn from_json(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let message = match error {
            Value::String(text) => text.clone(),
            _ => MESSAGE_FIELDS
                .iter()
                .filter_map(|field| error.get(field).or_else(|| value.get(field)))
                .map(text_of)
                .find(|text| !text.is_empty())
                .unwrap_or_else(|| error.to_string()),
        };
        let field = |name: &str| error.get(name).or_else(|| value.get(name));
        let codes = ["code", "type", "status"].iter().filter_map(|name| field(name)?.as_str());
        let number = ["code", "status"].iter().find_map(|name| match field(name)? {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        });
        Self {
            status: number
                .and_then(|code| u16::try_from(code).ok())
                .filter(|code| (400..600).contains(code))
                .unwrap_or(0),
            limit_tokens: overflow::limit_tokens(error, &message),
            message,
            codes: codes.map(str::to_ascii_lowercase).collect(),
            retry_after: None,
        }
    }

    /// Decides what it means.
    pub(crate) fn into_error(self, text: &ErrorText) -> LlmError {
        let message = text.clean(&self.message);
        let Self { status, retry_after, .. } = self;
        if self.is_overflow() {
            return LlmError::ContextOverflow { limit_tokens: self.limit_tokens, message };
        }
        if status == 402 || self.has_code(QUOTA_CODES) || self.says(QUOTA_PHRASES) {
            return LlmError::Quota { message };
        }
        if self.has_code(REFUSED_CODES)
            || (matches!(status, 400 | 403) && self.says(REFUSED_PHRASES))
        {
            return LlmError::Refused { status, message };
        }
        if matches!(status, 401 | 403) || (self.is_vague() && self.has_code(AUTH_CODES)) {
            return LlmError::Auth { status, message };
        }
        if status == 429 || (self.is_vague() && self.has_code(RATE_CODES)) {
            return LlmError::RateLimited { message, retry_after };
        }
        if matches!(status, 404 | 410) || (self.is_vague() && self.has_code(NOT_FOUND_CODES)) {
            return LlmError::NotFound { message };
        }
        if matches!(status, 408 | 409 | 425 | 500..) || self.has_code(SERVER_CODES) {
            return LlmError::Server { status, message, retry_after };
        }
        if status == 0 && !self.has_code(INVALID_CODES) {
            // An error in the stream that nobody can name: the request had been accepted.
            return LlmError::Server { status, message, retry_after };
        }
        LlmError::Invalid { status, message }
    }

    /// The status says nothing that a code could contradict.
    fn is_vague(&self) -> bool {
        matches!(self.status, 0 | 400 | 422 | 500)
    }

    fn is_overflow(&self) -> bool {
        match self.status {
            413 => true,
            0 | 400 | 422 | 500 => self.has_code(overflow::CODES) || self.says(overflow::PHRASES),
            _ => false,
        }
    }

    fn has_code(&self, known: &[&str]) -> bool {
        self.codes.iter().any(|code| known.contains(&code.as_str()))
    }

    fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }
}

/// Fields in which errors say what is wrong.
const MESSAGE_FIELDS: &[&str] = &["message", "detail", "error_msg"];
const QUOTA_CODES: &[&str] = &[
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "insufficient_balance",
    "insufficient_credits",
    "exceeded_current_quota_error",
];
/// DeepSeek; OpenAI; Anthropic.
const QUOTA_PHRASES: &[&str] =
    &["insufficient balance", "exceeded your current quota", "credit balance is too low"];
/// OpenAI and Azure, and others.
const REFUSED_CODES: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "moderation_blocked",
    "invalid_prompt",
    "data_inspection_failed",
];
/// Azure; OpenRouter; DeepSeek.
const REFUSED_PHRASES: &[&str] = &[
    "content management policy",
    "flagged by moderation",
    "requires moderation",
    "content exists risk",
];
const AUTH_CODES: &[&str] =
    &["invalid_api_key", "authentication_error", "permission_error", "unauthorized"];
const RATE_CODES: &[&str] = &[
    "rate_limit_exceeded",
    "rate_limit_error",
    "rate_limit_reached_error",
    "too_many_requests",
    "resource_exhausted",
];
const NOT_FOUND_CODES: &[&str] = &["model_not_found", "not_found_error", "not_found"];
const SERVER_CODES: &[&str] = &[
    "server_error",
    "internal_server_error",
    "internal_error",
    "api_error",
    "overloaded_error",
    "engine_overloaded_error",
    "service_unavailable",
    "timeout",
    "timeout_error",
    "unavailable",
];
const INVALID_CODES: &[&str] = &["invalid_request_error", "invalid_request", "badrequesterror"];

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The words of an HTML page, as gateways send it instead of JSON.
fn strip_tags(text: &str) -> String {
    let mut words = String::new();
    let mut is_tag = false;
    for char in text.chars() {
        match char {
            '<' => is_tag = true,
            '>' if is_tag => {
                is_tag = false;
                words.push(' ');
            }
            _ if !is_tag => words.push(char),
            _ => {}
        }
    }
    words
}

/// When the headers ask to come back. Dates are measured against the answer's own `Date`, so a wrong
/// clock on either side does no harm.
pub(crate) fn retry_after(headers: &reqwest::header::HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let now = httpdate::parse_http_date(text("date")?).ok()?;
    Some(until.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests;
