//! Fallbacks that could not be asked, so that not every turn waits for them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::assign::Place;
use crate::config::ProviderConfig;

/// How long one is left alone.
const PAUSE: Duration = Duration::from_secs(60);
/// Most that are kept; there are no more fallbacks than the configuration names.
const MAX: usize = 100;

/// Fallbacks that could not be asked lately.
#[derive(Debug, Default)]
pub(super) struct LeftAlone {
    entries: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    place: Place,
    settings: Option<ProviderConfig>,
    until: Instant,
}

impl LeftAlone {
    /// True when the place could not be asked lately, with the same settings.
    pub(super) fn holds(&self, place: &Place, settings: Option<&ProviderConfig>) -> bool {
        let mut entries = self.lock();
        entries.retain(|entry| entry.until > Instant::now());
        entries.iter().any(|entry| entry.place == *place && entry.settings.as_ref() == settings)
    }

    /// Leaves it alone for a while.
    pub(super) fn put(&self, place: &Place, settings: Option<&ProviderConfig>) {
        let mut entries = self.lock();
        if entries.len() < MAX {
            let (place, settings) = (place.clone(), settings.cloned());
            entries.push(Entry { place, settings, until: Instant::now() + PAUSE });
        }
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
