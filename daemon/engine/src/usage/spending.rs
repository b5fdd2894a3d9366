//! What all sessions together have used today, and what their requests under way may still use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{Clock, Day, UsagePurpose};
use agentd_store::{ReadError, Store};
use tokio::sync::{OnceCell, watch};

use super::budget::{Nearly, Needed, Passed, Unit};
use super::ledger;
use super::{Budget, BudgetScope, Used};
use crate::config::EngineConfig;

/// Days that are kept in memory: today, and some for a clock that is set back.
const KEPT_DAYS: usize = 4;

/// Shared by all sessions. Its mutex is held for a few additions only.
#[derive(Debug)]
pub(crate) struct Spending {
    clock: Arc<dyn Clock>,
    config: watch::Receiver<EngineConfig>,
    loaded: OnceCell<()>,
    days: Mutex<Days>,
    /// Requests whose beginning differed from the one before without a reason.
    prefix_breaks: AtomicU64,
}

#[derive(Debug, Default)]
struct Days {
    by_day: BTreeMap<Day, DayState>,
    under_way: Used,
    background_under_way: Used,
}

/// One day.
#[derive(Debug, Default)]
struct DayState {
    all: Used,
    background: Used,
    told: BTreeSet<(BudgetScope, Unit, u64)>,
    /// Background work was refused, and that was said.
    refusal_told: bool,
}

impl DayState {
    fn add(&mut self, used: Used, purpose: Option<UsagePurpose>) {
        self.all.add(used);
        if purpose.is_some_and(UsagePurpose::is_background) {
            self.background.add(used);
        }
    }

    fn used(&self, scope: BudgetScope) -> Used {
        match scope {
            BudgetScope::BackgroundDay => self.background,
            BudgetScope::Turn | BudgetScope::Session | BudgetScope::Day => self.all,
        }
    }

    /// The limits of the day that are nearly used and were not told of.
    fn nearly_used(&mut self, budget: &Budget) -> Vec<Nearly> {
        let mut nearly = Vec::new();
        for scope in DAY_SCOPES {
            nearly.extend(budget.limit(scope).nearly_used(scope, self.used(scope)));
        }
        nearly.retain(|nearly| self.told.insert(nearly.identity()));
        nearly
    }
}

const DAY_SCOPES: [BudgetScope; 2] = [BudgetScope::Day, BudgetScope::BackgroundDay];

impl Days {
    fn day(&mut self, day: Day) -> &mut DayState {
        if !self.by_day.contains_key(&day) {
            while self.by_day.len() >= KEPT_DAYS {
                self.by_day.pop_first();
            }
        }
        self.by_day.entry(day).or_default()
    }

    fn under_way(&self, scope: BudgetScope) -> Used {
        match scope {
            BudgetScope::BackgroundDay => self.background_under_way,
            BudgetScope::Turn | BudgetScope::Session | BudgetScope::Day => self.under_way,
        }
    }
}

impl Spending {
    pub(crate) fn new(clock: Arc<dyn Clock>, config: watch::Receiver<EngineConfig>) -> Self {
        Self {
            clock,
            config,
            loaded: OnceCell::new(),
            days: Mutex::default(),
            prefix_breaks: AtomicU64::new(0),
        }
    }

    /// Reads today's sums from the ledger, the first time that it is called. Before that nothing may
    /// be asked, as nothing is recorded before that either.
    ///
    /// # Errors
    /// When the store cannot be read; the next call tries again.
    pub(crate) async fn load(&self, store: &dyn Store) -> Result<(), ReadError> {
        let load = || async {
            // Also days to come, should the clock have been ahead.
            let first = self.today().earlier(1);
            let mut found: BTreeMap<Day, DayState> = BTreeMap::new();
            ledger::read(store, (first, Day(u32::MAX)), |entry| {
                let purpose = ledger::purpose(&entry.purpose);
                found.entry(entry.day).or_default().add(Used::of_sum(&entry.sum), purpose);
            })
            .await?;
            let budget = self.budget();
            let mut days = self.days();
            for (day, mut state) in found.into_iter().take(KEPT_DAYS) {
                // What was told before the restart is not told again.
                let _told = state.nearly_used(&budget);
                days.by_day.insert(day, state);
            }
            Ok(())
        };
        self.loaded.get_or_try_init(load).await.copied()
    }

    /// The limits in force.
    pub(crate) fn budget(&self) -> Budget {
        self.config.borrow().budget
    }

    pub(crate) fn today(&self) -> Day {
        Day::of(self.clock.now())
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// What was used today.
    pub(crate) fn used_today(&self, scope: BudgetScope) -> Used {
        let today = self.today();
        self.days().by_day.get(&today).map_or_else(Used::default, |day| day.used(scope))
    }

    /// Sets aside what a request may use today, and says how much that is.
    pub(crate) fn reserve(
        &self,
        purpose: UsagePurpose,
        mut needed: Needed,
    ) -> Result<Used, Passed> {
        let (budget, today) = (self.budget(), self.today());
        let mut days = self.days();
        for scope in DAY_SCOPES.into_iter().filter(|scope| scope.covers(purpose)) {
            let under_way = days.under_way(scope);
            let used = days.day(today).used(scope);
            needed = budget.limit(scope).room(scope, used, under_way, needed)?;
        }
        let set_aside = needed.most;
        days.under_way.add(set_aside);
        if purpose.is_background() {
            days.background_under_way.add(set_aside);
        }
        Ok(set_aside)
    }

    /// Gives back what was set aside.
    pub(crate) fn release(&self, purpose: UsagePurpose, needed: Used) {
        let mut days = self.days();
        days.under_way.release(needed);
        if purpose.is_background() {
            days.background_under_way.release(needed);
        }
    }

    /// Adds what a request used. Gives the limits of the day that users should be told of.
    pub(crate) fn add(&self, purpose: UsagePurpose, used: Used) -> Vec<Nearly> {
        let (budget, today) = (self.budget(), self.today());
        let mut days = self.days();
        let day = days.day(today);
        day.add(used, Some(purpose));
        day.nearly_used(&budget)
    }

    /// Says once a day that background work is left out.
    pub(crate) fn note_skipped(&self, passed: &Passed) {
        let today = self.today();
        let told = std::mem::replace(&mut self.days().day(today).refusal_told, true);
        if !told {
            tracing::warn!(%passed, "background work is left out until the limit allows it");
        }
    }

    pub(crate) fn note_prefix_break(&self) {
        self.prefix_breaks.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn prefix_breaks(&self) -> u64 {
        self.prefix_breaks.load(Ordering::Relaxed)
    }

    fn days(&self) -> MutexGuard<'_, Days> {
        // Nothing that can panic runs under this lock.
        self.days.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
