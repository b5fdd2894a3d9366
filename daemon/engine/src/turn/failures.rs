//! What failures cost a turn (spec d.5, d.7): failures that may pass by themselves, and changes of the
//! model's way. When both budgets are used up, the model answers with what it has; so it does when it
//! goes round in circles, and when people have said no too often.
//!
//! Pure: it is told of results in their order, and says what the model is told.

mod end;

use agentd_domain::{ResultSource, ToolCallFinished, ToolStatus};

pub(crate) use end::End;

/// What a call has as its error when one of the session's users said no to it.
pub(crate) const DENIED_BY_USER: &str = "DENIED_BY_USER";

/// Calls of a turn that people may deny before they are asked no more. A no shows the way and costs
/// none of the budgets of failures; but each one has kept somebody from other work.
const MAX_DENIALS: u32 = 8;

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
    /// Enough, as [`Failures::end`] says why: the model answers without tools.
    Answer,
}

/// Counts the failures of a turn.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    retries: u32,
    replans: u32,
    denials: u32,
    end: Option<End>,
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
    /// One of them went round in circles.
    looped: Option<End>,
}

impl Failures {
    /// Why the model may call no more tools in this turn; none: it may.
    pub(crate) const fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Notes that a call has had the same result so often that it leads nowhere.
    pub(crate) fn note_loop(&mut self, tool: &str, times: u32) {
        let looped = End::Loop { tool: tool.to_owned(), times };
        self.batch.looped.get_or_insert(looped);
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
        if finished.error_code == DENIED_BY_USER {
            self.denials += 1;
            // Asked again and again it is the model that fails.
            if finished.status != ToolStatus::Repeated {
                return;
            }
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
        let denied = (self.denials >= MAX_DENIALS).then_some(End::Denials(self.denials));
        if let Some(end) = batch.looped.or(denied) {
            self.end = Some(end);
            return Decision::Answer;
        }
        let counts = !batch.came_to_something || (batch.has_barrier && batch.failed);
        if !(batch.asks && counts) {
            return Decision::Continue;
        }
        if self.replans < limits.replans {
            self.replans += 1;
            return Decision::Replan(self.replans);
        }
        self.end = Some(End::Failures);
        Decision::Answer
    }

    /// What the model reads after the result of the answer's last call; empty: nothing.
    pub(crate) fn told(&self, decision: Decision, limits: FailureLimits) -> String {
        let of = limits.replans;
        match decision {
            Decision::Continue => String::new(),
            Decision::Replan(replans) => format!(
                "\n[nothing came of this, {replans} of {of} times that a turn may have. Go another way: \
                 other tools, other arguments, or answer with what you know]"
            ),
            Decision::Answer => self.end.as_ref().map(End::note).unwrap_or_default(),
        }
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

#[cfg(test)]
mod tests;
