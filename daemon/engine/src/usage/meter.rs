//! Who is asked before each request and told after it.

use std::sync::{Arc, Mutex, PoisonError};

use agentd_domain::{Usage, UsagePurpose};
use agentd_llm::{Attempt, LlmError, Meter, Spent, cost_of};

use super::{Account, Used};

/// Tokens of an answer that are set aside while it is written, when the request allows as many.
/// Providers' own limits are 10 to 30 times what answers have; with all of that set aside, most of a
/// budget could never be used. A longer answer passes a limit by what it is longer, once.
const ANSWER_TOKENS: u64 = 4_096;

/// The kind of the built-in engine, which costs nothing.
const OFFLINE: &str = "offline";

/// Watches the attempts of one request.
#[derive(Debug)]
pub(super) struct RequestMeter {
    account: Arc<Account>,
    purpose: UsagePurpose,
    /// What was set aside for the attempts that have not ended.
    reserved: Mutex<Vec<(Attempt, Used)>>,
}

impl RequestMeter {
    pub(super) fn new(account: Arc<Account>, purpose: UsagePurpose) -> Self {
        Self { account, purpose, reserved: Mutex::default() }
    }

    /// The most that an attempt is expected to use, nothing of it from a cache.
    fn needed(attempt: &Attempt) -> Used {
        let answer = attempt.max_output_tokens.map_or(ANSWER_TOKENS, u64::from).min(ANSWER_TOKENS);
        let usage = Usage {
            prompt_tokens: attempt.prompt_tokens,
            completion_tokens: answer,
            estimated: true,
            ..Usage::default()
        };
        Used::of(&usage, &cost_of(&usage, attempt.prices.as_ref()))
    }

    fn take(&self, attempt: &Attempt) -> Option<Used> {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let at = reserved.iter().position(|(admitted, _)| admitted == attempt)?;
        Some(reserved.swap_remove(at).1)
    }
}

impl Meter for RequestMeter {
    fn admit(&self, attempt: &Attempt) -> Result<(), LlmError> {
        if attempt.provider == OFFLINE {
            return Ok(());
        }
        let needed = Self::needed(attempt);
        self.account.reserve(self.purpose, attempt, needed)?;
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.push((attempt.clone(), needed));
        Ok(())
    }

    fn record(&self, spent: Spent) {
        if spent.attempt.provider == OFFLINE {
            return;
        }
        let reserved = self.take(&spent.attempt);
        // Added before it is released, so that nobody sees less in between than there is.
        self.account.record(self.purpose, spent);
        if let Some(reserved) = reserved {
            self.account.release(self.purpose, reserved);
        }
    }
}

impl Drop for RequestMeter {
    fn drop(&mut self) {
        let reserved = self.reserved.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_attempt, needed) in reserved.drain(..) {
            self.account.release(self.purpose, needed);
        }
    }
}
