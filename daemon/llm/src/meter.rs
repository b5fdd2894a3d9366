//! Who is asked before a request leaves, and told what it used.

use std::fmt::Debug;

use agentd_domain::Usage;

use crate::{LlmError, Prices};

/// Watches what requests use. Each attempt of a request is asked for and told of by itself, because
/// each costs by itself.
pub trait Meter: Debug + Send + Sync + 'static {
    /// May this attempt be made? Called before anything is sent.
    ///
    /// # Errors
    /// [`LlmError::Budget`] when a limit would be passed. The request then ends with it.
    fn admit(&self, attempt: &Attempt) -> Result<(), LlmError>;

    /// An attempt that was admitted has ended, however it did. Called exactly once for each, also when
    /// the caller has dropped the stream.
    fn record(&self, spent: Spent);
}

/// An attempt that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The provider's kind.
    pub provider: &'static str,
    /// The model that is asked.
    pub model: String,
    /// Our estimate of the request's tokens.
    pub prompt_tokens: u64,
    /// Most tokens of the answer, when limited.
    pub max_output_tokens: Option<u32>,
    /// What the model's tokens cost, where that is known.
    pub prices: Option<Prices>,
}

/// What an attempt used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// The attempt.
    pub attempt: Attempt,
    /// What the provider counted, or our estimate, marked as such. All zero when it never
    /// left or was refused; the prompt alone when it left and nothing came back.
    pub usage: Usage,
    /// Milliseconds to the first part of the answer; 0 when none came.
    pub first_byte_ms: u64,
    /// Milliseconds to the end.
    pub elapsed_ms: u64,
    /// Code of the error that it ended with; none when the answer is whole or the caller left.
    pub error_code: Option<&'static str>,
}
