//! What one session and its turn have used, and what is to be recorded of it.
//!
//! Requests end whenever they end: when the answer is whole, when its turn is cancelled, when a task
//! panics. What they used waits here until the session's actor records it with its next step.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{EventBody, Notice, NoticeLevel, SessionRecord, UsagePurpose, UsageRecorded};
use agentd_llm::{Attempt, LlmError, Meter, Request, Spent, cost_of};

use super::budget::{Nearly, Needed, Passed, Unit};
use super::cache_watch::CacheWatch;
use super::meter::RequestMeter;
use super::prefix_watch::PrefixWatch;
use super::{BudgetScope, Spending, Used};

/// A session's account. Its mutex is held for a few additions only.
#[derive(Debug)]
pub(crate) struct Account {
    spending: Arc<Spending>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    session: Used,
    session_under_way: Used,
    turn: Used,
    turn_under_way: Used,
    told: BTreeSet<(BudgetScope, Unit, u64)>,
    /// It was said that a model's cost is not known.
    unpriced_told: bool,
    /// What to record, in order, and what it was for.
    pending: Vec<(UsagePurpose, EventBody)>,
    /// The part of it that is being recorded.
    taken: Vec<(UsagePurpose, EventBody)>,
    cache: CacheWatch,
    prefix: PrefixWatch,
    /// The turn's requests begin otherwise than the next turn's will.
    is_own_prefix: bool,
}

impl Account {
    pub(crate) fn new(spending: Arc<Spending>) -> Self {
        Self { spending, state: Mutex::default() }
    }

    /// Begins with what the session's log says.
    pub(crate) fn open(&self, record: &SessionRecord) {
        let used = Used { tokens: record.usage.tokens(), nano_usd: record.cost.nano_usd };
        let mut state = self.state();
        state.session = used;
        // What was told before the restart is not told again.
        let limit = self.spending.budget().session;
        let nearly = limit.nearly_used(BudgetScope::Session, used);
        state.told.extend(nearly.into_iter().map(Nearly::identity));
    }

    /// Begins with what a turn has used so far: nothing, unless it goes on after a stop.
    pub(crate) fn begin_turn(&self, used: Used) {
        let mut state = self.state();
        state.turn = used;
        if std::mem::take(&mut state.is_own_prefix) {
            state.prefix.forget();
            state.cache.forget();
        }
        state.told.retain(|(scope, _, _)| *scope != BudgetScope::Turn);
        let nearly = self.spending.budget().turn.nearly_used(BudgetScope::Turn, used);
        state.told.extend(nearly.into_iter().map(Nearly::identity));
    }

    /// Who watches requests of this purpose.
    pub(crate) fn meter(self: &Arc<Self>, purpose: UsagePurpose) -> Arc<dyn Meter> {
        Arc::new(RequestMeter::new(Arc::clone(self), purpose))
    }

    /// Looks at a request of a turn before it leaves: what was sent before must be its beginning.
    pub(crate) fn check_prefix(&self, request: &Request) {
        let broken = self.state().prefix.note(request);
        if let Some(broken) = broken {
            self.spending.note_prefix_break();
            tracing::error!(
                model = request.model,
                messages = broken.messages,
                "the beginning of a request differs from the one before; providers cannot cache it"
            );
        }
    }

    /// The next request begins otherwise, as it should.
    pub(crate) fn prefix_changes(&self) {
        let mut state = self.state();
        state.prefix.forget();
        state.cache.forget();
    }

    /// The next request begins otherwise, and so does the first of the next turn: outputs are shorter in
    /// this turn only.
    pub(crate) fn prefix_changes_in_turn(&self) {
        self.prefix_changes();
        self.state().is_own_prefix = true;
    }

    /// What is to be recorded now, in order. Usage of background work belongs to no turn.
    pub(crate) fn take(&self) -> Vec<(UsagePurpose, EventBody)> {
        let mut state = self.state();
        let pending = std::mem::take(&mut state.pending);
        state.taken.extend(pending);
        state.taken.clone()
    }

    /// What was taken is durable.
    pub(crate) fn recorded(&self) {
        self.state().taken.clear();
    }

    /// What was taken could not be recorded: it is for the next time.
    pub(crate) fn not_recorded(&self) {
        let mut state = self.state();
        let mut taken = std::mem::take(&mut state.taken);
        taken.append(&mut state.pending);
        state.pending = taken;
    }

    /// Sets aside what a request may use and says how much that is, or which limit would be passed.
    pub(super) fn reserve(
        &self,
        purpose: UsagePurpose,
        attempt: &Attempt,
        needed: Needed,
    ) -> Result<Used, LlmError> {
        self.try_reserve(purpose, needed).map_err(|passed| {
            if purpose.is_background() {
                self.spending.note_skipped(&passed);
            } else {
                tracing::info!(model = attempt.model, %passed, "a request was not made");
            }
            LlmError::Budget { message: passed.to_string() }
        })
    }

    fn try_reserve(&self, purpose: UsagePurpose, mut needed: Needed) -> Result<Used, Passed> {
        let budget = self.spending.budget();
        let mut state = self.state();
        let own = [
            (BudgetScope::Turn, state.turn, state.turn_under_way),
            (BudgetScope::Session, state.session, state.session_under_way),
        ];
        for (scope, used, under_way) in own {
            if scope.covers(purpose) {
                needed = budget.limit(scope).room(scope, used, under_way, needed)?;
            }
        }
        let set_aside = self.spending.reserve(purpose, needed)?;
        state.session_under_way.add(set_aside);
        if BudgetScope::Turn.covers(purpose) {
            state.turn_under_way.add(set_aside);
        }
        Ok(set_aside)
    }

    /// Gives back what was set aside.
    pub(super) fn release(&self, purpose: UsagePurpose, needed: Used) {
        let mut state = self.state();
        state.session_under_way.release(needed);
        if BudgetScope::Turn.covers(purpose) {
            state.turn_under_way.release(needed);
        }
        drop(state);
        self.spending.release(purpose, needed);
    }

    /// Notes what a request used. One that never left or was refused used nothing.
    pub(super) fn record(&self, purpose: UsagePurpose, spent: Spent) {
        let Spent { attempt, usage, first_byte_ms, elapsed_ms, error_code: _ } = spent;
        if usage.tokens() == 0 {
            return;
        }
        let cost = cost_of(&usage, attempt.prices.as_ref());
        let used = Used::of(&usage, &cost);
        let budget = self.spending.budget();
        let mut nearly = self.spending.add(purpose, used);
        let mut state = self.state();
        state.session.add(used);
        if BudgetScope::Turn.covers(purpose) {
            state.turn.add(used);
        }
        let own = [(BudgetScope::Turn, state.turn), (BudgetScope::Session, state.session)];
        for (scope, used) in own.into_iter().filter(|(scope, _)| scope.covers(purpose)) {
            for near in budget.limit(scope).nearly_used(scope, used) {
                if state.told.insert(near.identity()) {
                    nearly.push(near);
                }
            }
        }
        let mut notices: Vec<String> = nearly.iter().map(ToString::to_string).collect();
        if cost.unpriced_requests > 0 && budget.limits_cost(purpose) && !state.unpriced_told {
            state.unpriced_told = true;
            notices.push(format!(
                "what {} costs is not known, so it does not count for the limits in US dollars; \
                 its prices can be set under [models]",
                attempt.model
            ));
        }
        if !purpose.is_background() {
            let now = self.spending.clock().now();
            let alarm = state.cache.note(now, &attempt.model, &usage);
            notices.extend(alarm.map(|alarm| {
                tracing::warn!(model = attempt.model, %alarm, "the provider's cache is missed");
                alarm.to_string()
            }));
        }
        let recorded = UsageRecorded {
            purpose,
            provider: attempt.provider.to_owned(),
            model: attempt.model,
            usage,
            first_byte_ms,
            elapsed_ms,
            cost,
        };
        state.pending.push((purpose, recorded.into()));
        state.pending.extend(
            notices
                .into_iter()
                .map(|text| (purpose, EventBody::from(Notice { level: NoticeLevel::Warn, text }))),
        );
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
