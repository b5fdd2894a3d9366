//! What failures cost a turn (spec d.5, d.7): failures that may pass by themselves, and changes of the
//! model's way. When both budgets are used up, the model answers with what it has.
//!
//! Pure: it is told of results in their order, and says what the model is told.

use agentd_domain::{ResultSource, ToolCallFinished, ToolStatus};

/// The budgets of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureLimits {
    /// Calls that may fail for a passing reason, or for how they were written (spec d.7: 3).
    pub retries: u32,
    /// Answers of which nothing may come, so that the model has to go another way (spec d.7: 5).
    pub replans: u32,
}

impl Default for FailureLimits {
    fn default() -> Self {
        Self { retries: 3, replans: 5 }
    }
}

/// What follows from the results of one answer's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Go on.
    Continue,
    /// Nothing came of it: the model has to go another way, for the given time.
    Replan(u32),
    /// Too often: the model answers without tools.
    Answer,
}

/// Counts the failures of a turn.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    retries: u32,
    replans: u32,
    is_used_up: bool,
    batch: Batch,
}

/// What the calls of one answer have come to so far.
#[derive(Debug, Default)]
struct Batch {
    came_to_something: bool,
    has_barrier: bool,
    /// One of them asks for another way.
    asks: bool,
    /// And it failed, rather than found nothing.
    failed: bool,
}

impl Failures {
    /// True when the model may call no more tools in this turn.
    pub(crate) const fn are_used_up(&self) -> bool {
        self.is_used_up
    }

    /// Notes the result of a call.
    pub(crate) fn note(
        &mut self,
        finished: &ToolCallFinished,
        is_barrier: bool,
        limits: FailureLimits,
    ) {
        self.batch.has_barrier |= is_barrier;
        // An equal call of the same answer has been charged for both.
        if finished.metrics.source == ResultSource::Shared {
            return;
        }
        match finished.status {
            ToolStatus::Success | ToolStatus::Partial => self.batch.came_to_something = true,
            // Nothing is known of the one, and nothing was tried with the other.
            ToolStatus::Interrupted | ToolStatus::Skipped => {}
            _ if is_mended_by_asking_again(finished) && self.retries < limits.retries => {
                self.retries += 1;
            }
            status => {
                self.batch.asks = true;
                self.batch.failed |= status != ToolStatus::Empty;
            }
        }
    }

    /// Decides once the answer's last call has its result. Calls without effects say only together
    /// that nothing came of them; one with effects, or that kept those from running, says so alone.
    pub(crate) fn decide(&mut self, limits: FailureLimits) -> Decision {
        let batch = std::mem::take(&mut self.batch);
        let counts = !batch.came_to_something || (batch.has_barrier && batch.failed);
        if !(batch.asks && counts) {
            return Decision::Continue;
        }
        if self.replans < limits.replans {
            self.replans += 1;
            return Decision::Replan(self.replans);
        }
        self.is_used_up = true;
        Decision::Answer
    }
}

/// Whether the same call may work another time, or with its arguments put right (weakness W2-6).
fn is_mended_by_asking_again(finished: &ToolCallFinished) -> bool {
    finished.status == ToolStatus::RetryableError
        || (finished.status == ToolStatus::FatalError
            && matches!(
                finished.error_code.as_str(),
                "TOOL_ARGUMENT_VALIDATION_FAILED" | "UNKNOWN_TOOL" | "TOOL_CALL_CUT"
            ))
}

impl Decision {
    /// What the model reads after the result of the answer's last call; empty: nothing.
    pub(crate) fn note(self, limits: FailureLimits) -> String {
        let of = limits.replans;
        match self {
            Self::Continue => String::new(),
            Self::Replan(replans) => format!(
                "\n[nothing came of this, {replans} of {of} times that a turn may have. Go another way: \
                 other tools, other arguments, or answer with what you know]"
            ),
            Self::Answer => "\n[too much has come to nothing in this turn: no tools can be called any \
                             more. Answer now: what is done, what is not, and what stood in the way]"
                .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
