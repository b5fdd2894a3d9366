//! What a turn remembers of tools that keep failing for passing reasons (spec d.7): the next call of
//! such a tool waits, longer each time, and is tried once.

use std::collections::HashMap;
use std::time::Duration;

use agentd_domain::{Action, ActionTarget, ToolResult};
use tokio::time::Instant;

use crate::PreparedCall;

/// The wait after the first call that failed however often it was tried; doubled with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(16);

/// What fails together: a tool, and the host that it asks, if it asks one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    tool: String,
    host: String,
}

impl Place {
    /// None for calls that are not tried again: the next one is another call.
    pub(super) fn of(call: &PreparedCall, action: &Action) -> Option<Self> {
        let host = action.targets.iter().find_map(|target| match target {
            ActionTarget::Request { host, .. } => Some(host.clone()),
            _ => None,
        });
        call.capabilities
            .retry_same_args
            .then(|| Self { tool: call.tool.spec().name.clone(), host: host.unwrap_or_default() })
    }
}

/// How a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tries {
    /// When it may begin; none: now.
    pub(super) not_before: Option<Instant>,
    /// How often.
    pub(super) limit: u32,
}

/// The places that fail.
#[derive(Debug, Default)]
pub(super) struct BackOff {
    failing: HashMap<Place, Failing>,
}

#[derive(Debug)]
struct Failing {
    in_a_row: u32,
    not_before: Instant,
}

impl BackOff {
    /// How a call is tried that would otherwise be tried at once, `limit` times.
    pub(super) fn tries(&self, call: &PreparedCall, action: &Action, limit: u32) -> Tries {
        let failing = Place::of(call, action).and_then(|place| self.failing.get(&place));
        match failing {
            Some(failing) => Tries { not_before: Some(failing.not_before), limit: 1 },
            None => Tries { not_before: None, limit },
        }
    }

    /// Notes what came of a call that was run.
    pub(super) fn note(&mut self, place: Place, result: &ToolResult, now: Instant) {
        if !result.is_retryable() {
            self.failing.remove(&place);
            return;
        }
        let failing = self.failing.entry(place).or_insert(Failing { in_a_row: 0, not_before: now });
        let doublings = failing.in_a_row.min(LONGEST_WAIT.as_secs().ilog2());
        failing.not_before = now + (FIRST_WAIT * 2_u32.pow(doublings)).min(LONGEST_WAIT);
        failing.in_a_row += 1;
    }
}
