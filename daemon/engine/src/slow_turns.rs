//! Turns that took longer than the limit: told to the log one by one, and counted.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agentd_domain::{SessionId, TurnId};

/// A turn that took long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowTurn {
    /// Its session.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// Answers of the model.
    pub rounds: u32,
    /// Attempts at them.
    pub attempts: u32,
    /// The whole time, the wait for a place included.
    pub total: Duration,
    /// Where it went.
    pub parts: TurnParts,
}

/// Where the time of a turn went. The parts add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnParts {
    /// Waiting for a place.
    pub place: Duration,
    /// From asking a model to the first part of its answer, the waits for the endpoint's limits
    /// included. A call of a tool is a part once it is whole.
    pub first_byte: Duration,
    /// From the first part of answers to the last.
    pub streaming: Duration,
    /// Waits between attempts.
    pub retry: Duration,
    /// Running tools.
    pub tools: Duration,
    /// Waiting until somebody says whether a call may run.
    pub approval: Duration,
    /// Reading and writing the log.
    pub store: Duration,
    /// Anything else.
    pub other: Duration,
}

impl TurnParts {
    /// The part that took longest, in words.
    pub fn longest(&self) -> (&'static str, Duration) {
        let Self { place, first_byte, streaming, retry, tools, approval, store, other } = *self;
        let named = [
            ("waiting for a place", place),
            ("waiting for the model's first word", first_byte),
            ("the model's answers", streaming),
            ("waiting between attempts", retry),
            ("tools", tools),
            ("waiting for approvals", approval),
            ("the store", store),
        ];
        named.into_iter().fold(
            ("other work", other),
            |most, next| {
                if next.1 > most.1 { next } else { most }
            },
        )
    }
}

impl SlowTurn {
    pub(crate) fn log(&self) {
        let Self { session_id, turn_id, rounds, attempts, total, parts } = self;
        let TurnParts { place, first_byte, streaming, retry, tools, approval, store, other } =
            parts;
        tracing::warn!(
            %session_id,
            %turn_id,
            rounds,
            attempts,
            total_ms = ms(*total),
            place_ms = ms(*place),
            first_byte_ms = ms(*first_byte),
            streaming_ms = ms(*streaming),
            retry_ms = ms(*retry),
            tools_ms = ms(*tools),
            approval_ms = ms(*approval),
            store_ms = ms(*store),
            other_ms = ms(*other),
            "slow turn"
        );
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What there was since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlowTurns {
    /// How many.
    pub count: u64,
    /// The one that took longest.
    pub slowest: Option<SlowTurn>,
}

/// The tally that all sessions share.
#[derive(Debug, Default)]
pub(crate) struct SlowTurnTally(Mutex<SlowTurns>);

impl SlowTurnTally {
    pub(crate) fn note(&self, slow: SlowTurn) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.count += 1;
        if all.slowest.as_ref().is_none_or(|slowest| slowest.total < slow.total) {
            all.slowest = Some(slow);
        }
    }

    pub(crate) fn so_far(&self) -> SlowTurns {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
