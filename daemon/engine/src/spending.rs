//! What model requests used, attempt by attempt, on its way into the log.

use std::sync::{Mutex, PoisonError};

use agentd_domain::{Cost, EventBody, UsagePurpose, UsageRecorded};
use agentd_llm::{Attempt, LlmError, Meter, Spent};

/// The providers' kind whose answers cost nothing.
const OFFLINE: &str = "offline";

/// A meter that lets everything pass and keeps what was used until it is taken.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    spent: Mutex<Vec<Spent>>,
}

impl Collector {
    /// What was used since the last time, as events for the log. Attempts that came to nothing used
    /// nothing.
    pub(crate) fn take(&self, purpose: UsagePurpose) -> Vec<EventBody> {
        let spent = std::mem::take(&mut *self.spent.lock().unwrap_or_else(PoisonError::into_inner));
        spent.into_iter().filter_map(|spent| recorded(spent, purpose)).collect()
    }
}

impl Meter for Collector {
    fn admit(&self, _attempt: &Attempt) -> Result<(), LlmError> {
        Ok(())
    }

    fn record(&self, spent: Spent) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).push(spent);
    }
}

fn recorded(spent: Spent, purpose: UsagePurpose) -> Option<EventBody> {
    let Spent { attempt, usage, first_byte_ms, elapsed_ms, error_code: _ } = spent;
    let is_nothing = usage.prompt_tokens == 0 && usage.completion_tokens == 0;
    if is_nothing || attempt.provider == OFFLINE {
        return None;
    }
    let recorded = UsageRecorded {
        cost: Cost::default(),
        purpose,
        provider: attempt.provider.to_owned(),
        model: attempt.model,
        usage,
        first_byte_ms,
        elapsed_ms,
    };
    Some(recorded.into())
}
