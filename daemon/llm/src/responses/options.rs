//! How to reach an endpoint of the Responses API.

use crate::{Secret, Timeouts};

/// How to reach an endpoint.
#[derive(Debug, Clone)]
pub struct ResponsesOptions {
    /// Such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as a bearer token. Local servers need none.
    pub api_key: Option<Secret>,
    /// Limits of waiting.
    pub timeouts: Timeouts,
    /// Most bytes of text, reasoning and tool arguments in one answer.
    pub max_answer_bytes: usize,
}

impl ResponsesOptions {
    /// Where OpenAI's own API is.
    pub const BASE_URL: &str = "https://api.openai.com/v1";
    /// Most bytes of an answer unless configured: 16 MiB.
    pub const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

    /// The usual options for an endpoint.
    pub fn new(base_url: &str, api_key: Option<Secret>) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key,
            timeouts: Timeouts::default(),
            max_answer_bytes: Self::MAX_ANSWER_BYTES,
        }
    }
}
