//! Where the time of a turn goes.
//!
//! A turn is in one phase at any time, so the phases add up to the whole. What is counted is one run of
//! the turn's task, from standing in line for a place to the report of its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_llm::{Attempt, LlmError, Meter, Spent};
use tokio::time::Instant;

use super::TurnTask;
use crate::session::SessionDeps;
use crate::slow_turns::{SlowTurn, TurnParts};

/// What a turn is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits for a place.
    Place,
    /// A model was asked and has said nothing yet. Waits for the endpoint's limits count here.
    FirstByte,
    /// A model answers.
    Streaming,
    /// An attempt has failed and the next one has not begun.
    Retry,
    /// A tool runs.
    Tools,
    /// Somebody is asked whether a call may run.
    Approval,
    /// The log is read or written.
    Store,
    /// Anything else.
    Other,
}

/// The times of a turn that runs.
#[derive(Debug)]
pub(crate) struct Times(Mutex<Running>);

#[derive(Debug)]
struct Running {
    started: Instant,
    phase: Phase,
    since: Instant,
    parts: TurnParts,
    rounds: u32,
    attempts: u32,
    /// Calls that wait for people.
    asking: u32,
    /// It has a place in the log. One whose message has gone in the meantime never gets it.
    is_in_log: bool,
}

impl Times {
    /// Begins in line for a place.
    pub(crate) fn start(is_in_log: bool) -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self(Mutex::new(Running {
            started: now,
            phase: Phase::Place,
            since: now,
            parts: TurnParts::default(),
            rounds: 0,
            attempts: 0,
            asking: 0,
            is_in_log,
        })))
    }

    /// Goes over to a phase.
    pub(super) fn enter(&self, phase: Phase) {
        self.lock().enter(phase);
    }

    /// Is in a phase until the answer is dropped, and then in the one that was before.
    pub(super) fn within(&self, phase: Phase) -> Within<'_> {
        let mut running = self.lock();
        let before = running.phase;
        running.enter(phase);
        drop(running);
        Within { times: self, before }
    }

    /// Waits for people until the answer is dropped. Several calls may; other work does not count
    /// meanwhile.
    pub(super) fn waiting_for_people(&self) -> Waiting<'_> {
        let mut running = self.lock();
        running.enter(Phase::Approval);
        running.asking += 1;
        Waiting(self)
    }

    pub(super) fn is_in_log(&self) {
        self.lock().is_in_log = true;
    }

    pub(super) fn round(&self) {
        self.lock().rounds += 1;
    }

    /// A meter that also tells these times when attempts begin and end.
    pub(super) fn around(self: &Arc<Self>, meter: Arc<dyn Meter>) -> Arc<dyn Meter> {
        Arc::new(Timed { times: Arc::clone(self), meter })
    }

    fn attempt_begins(&self) {
        let mut running = self.lock();
        running.attempts += 1;
        running.enter(Phase::FirstByte);
    }

    /// A part of an answer is there.
    pub(super) fn part(&self) {
        let mut running = self.lock();
        if running.phase == Phase::FirstByte {
            running.enter(Phase::Streaming);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        // Nothing that can panic runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Times::around`].
#[derive(Debug)]
struct Timed {
    times: Arc<Times>,
    meter: Arc<dyn Meter>,
}

impl Meter for Timed {
    fn admit(&self, attempt: &Attempt) -> Result<(), LlmError> {
        self.meter.admit(attempt)?;
        self.times.attempt_begins();
        Ok(())
    }

    fn record(&self, spent: Spent) {
        self.times.enter(Phase::Retry);
        self.meter.record(spent);
    }
}

impl Running {
    fn enter(&mut self, phase: Phase) {
        // People are slower than all else that goes on beside them.
        let phase = if self.asking > 0 { Phase::Approval } else { phase };
        let now = Instant::now();
        let spent = now - self.since;
        *self.part() += spent;
        self.since = now;
        self.phase = phase;
    }

    fn part(&mut self) -> &mut Duration {
        let parts = &mut self.parts;
        match self.phase {
            Phase::Place => &mut parts.place,
            Phase::FirstByte => &mut parts.first_byte,
            Phase::Streaming => &mut parts.streaming,
            Phase::Retry => &mut parts.retry,
            Phase::Tools => &mut parts.tools,
            Phase::Approval => &mut parts.approval,
            Phase::Store => &mut parts.store,
            Phase::Other => &mut parts.other,
        }
    }
}

/// See [`Times::waiting_for_people`].
#[derive(Debug)]
pub(super) struct Waiting<'t>(&'t Times);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut running = self.0.lock();
        running.asking = running.asking.saturating_sub(1);
        running.enter(Phase::Tools);
    }
}

/// See [`Times::within`].
#[derive(Debug)]
pub(super) struct Within<'t> {
    times: &'t Times,
    before: Phase,
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        self.times.enter(self.before);
    }
}

/// Reports the turn when it is dropped, if it took long: a turn that was aborted or has panicked too.
#[derive(Debug)]
pub(super) struct ReportWhenSlow {
    session_id: agentd_domain::SessionId,
    turn_id: agentd_domain::TurnId,
    times: Arc<Times>,
    deps: Arc<SessionDeps>,
}

impl ReportWhenSlow {
    pub(super) fn of(task: &TurnTask) -> Self {
        Self {
            session_id: task.session_id,
            turn_id: task.turn_id,
            times: Arc::clone(&task.times),
            deps: Arc::clone(&task.deps),
        }
    }
}

impl Drop for ReportWhenSlow {
    fn drop(&mut self) {
        let limit = self.deps.config.borrow().slow_turn;
        let slow = {
            let mut running = self.times.lock();
            running.enter(Phase::Other);
            let total = running.since - running.started;
            // People take the time that they take.
            let worked = total.saturating_sub(running.parts.approval);
            let is_slow = !limit.is_zero() && worked > limit && running.is_in_log;
            is_slow.then(|| SlowTurn {
                session_id: self.session_id,
                turn_id: self.turn_id,
                rounds: running.rounds,
                attempts: running.attempts,
                total,
                parts: running.parts,
            })
        };
        if let Some(slow) = slow {
            slow.log();
            self.deps.slow_turns.note(slow);
        }
    }
}
