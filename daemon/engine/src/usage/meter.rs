//! Who is asked before each request and told after it.

use std::sync::{Arc, Mutex, PoisonError};

use agentd_domain::{Usage, UsagePurpose};
use agentd_llm::{Attempt, LlmError, Meter, Spent, cost_of};

use super::budget::Needed;
use super::{Account, Used};

/// Tokens of an answer for which there must be room, when the request allows as many, and what is set
/// aside when its length is not limited. Providers' own limits are 10 to 30 times what answers have; if
/// there had to be room for all of that, the last part of a budget could never be used. Where there is
/// room, all that a limited answer may have is set aside, so that turns at once do not pass a limit
/// together. An answer that is longer passes a limit by what it is longer, once.
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

    /// What an attempt may use, nothing of it from a cache: what there must be room for, and the most.
    fn needed(attempt: &Attempt) -> Needed {
        let most = attempt.max_output_tokens.map_or(ANSWER_TOKENS, u64::from);
        let least = most.min(ANSWER_TOKENS);
        Needed { least: Self::with_answer(attempt, least), most: Self::with_answer(attempt, most) }
    }

    fn with_answer(attempt: &Attempt, answer: u64) -> Used {
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
        let set_aside = self.account.reserve(self.purpose, attempt, Self::needed(attempt))?;
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.push((attempt.clone(), set_aside));
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
