//! The groups that a backend uses, and when it looks for them again.
//!
//! What keeps them away at the start may pass: leftovers that are being removed, a box that did not
//! start in time. So they are looked for again when a program is started, a few times and with longer
//! pauses, and not for as long as the daemon runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Accounting, Cgroups};

/// How often they are looked for after the start.
const TRIES: u32 = 5;

/// The pause before the first of these; doubled with each.
const FIRST_PAUSE: Duration = Duration::from_secs(30);

/// Groups, or why there are none.
#[derive(Debug)]
pub(crate) struct Groups {
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    There(Arc<Cgroups>),
    Missing { why: String, tries: u32, not_before: Instant },
}

impl Groups {
    /// What was found at the start.
    pub(crate) fn new(found: Result<Arc<Cgroups>, String>, now: Instant) -> Self {
        let state = match found {
            Ok(groups) => State::There(groups),
            Err(why) => State::Missing { why, tries: 0, not_before: now + FIRST_PAUSE },
        };
        Self { state: Mutex::new(state) }
    }

    /// Those of this process, if they are there.
    pub(crate) fn get(&self) -> Option<Arc<Cgroups>> {
        match &*self.lock() {
            State::There(groups) => Some(Arc::clone(groups)),
            State::Missing { .. } => None,
        }
    }

    /// What holds programs to their limits.
    pub(crate) fn accounting(&self) -> Accounting {
        match &*self.lock() {
            State::There(groups) => groups.accounting(),
            State::Missing { why, .. } => Accounting::Processes { why: why.clone() },
        }
    }

    /// Looks for them again with `look` if it is time to. Who comes meanwhile goes on without.
    ///
    /// # Cancel safety
    /// A look that is dropped counts as one.
    pub(crate) async fn look_again(
        &self,
        now: Instant,
        look: impl Future<Output = Result<Arc<Cgroups>, String>>,
    ) {
        if !self.begin(now) {
            return;
        }
        let found = look.await;
        let mut state = self.lock();
        match (found, &mut *state) {
            (Ok(groups), _) => {
                tracing::info!("runs have a cgroup from now on");
                *state = State::There(groups);
            }
            (Err(found), State::Missing { why, .. }) => *why = found,
            (Err(_), State::There(_)) => {}
        }
    }

    fn begin(&self, now: Instant) -> bool {
        match &mut *self.lock() {
            State::Missing { tries, not_before, .. } if *tries < TRIES && now >= *not_before => {
                *tries += 1;
                *not_before = now + FIRST_PAUSE * 2_u32.pow(*tries);
                true
            }
            State::Missing { .. } | State::There(_) => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Arc<Cgroups> {
        Arc::new(Cgroups::of_nobody())
    }

    #[tokio::test]
    async fn groups_that_were_missing_at_the_start_are_used_once_they_are_there() {
        let start = Instant::now();
        let groups = Groups::new(Err("a hitch".to_owned()), start);
        let early = async { panic!("it is too early to look") };
        groups.look_again(start + FIRST_PAUSE - Duration::from_millis(1), early).await;
        groups.look_again(start + FIRST_PAUSE, async { Err("another".to_owned()) }).await;
        let why = Accounting::Processes { why: "another".to_owned() };
        assert_eq!((groups.get().is_some(), groups.accounting()), (false, why));
        groups.look_again(start + FIRST_PAUSE * 3, async { Ok(some()) }).await;
        assert!(groups.get().is_some());
        assert!(matches!(groups.accounting(), Accounting::Group { .. }));
        let again = async { panic!("they are there") };
        groups.look_again(start + FIRST_PAUSE * 1000, again).await;
    }

    #[tokio::test]
    async fn groups_that_stay_missing_are_looked_for_a_few_times_with_longer_pauses() {
        let start = Instant::now();
        let groups = Groups::new(Err("none".to_owned()), start);
        let mut looks = Vec::new();
        for second in 0..24 * 60 * 60 {
            let now = start + Duration::from_secs(second);
            let look = async {
                looks.push(second);
                Err("none".to_owned())
            };
            groups.look_again(now, look).await;
        }
        assert_eq!(looks, [30, 90, 210, 450, 930]);
    }
}
