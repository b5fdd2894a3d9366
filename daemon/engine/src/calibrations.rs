//! What servers count, beside what is counted here, model by model.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_context::Calibration;

/// Models that are remembered. More are not told apart any longer until the daemon starts again.
const MAX_MODELS: usize = 256;

/// Calibrations of all models since the start. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calibrations(Arc<Mutex<HashMap<String, Calibration>>>);

impl Calibrations {
    /// Of one model.
    pub(crate) fn of(&self, model: &str) -> Calibration {
        self.lock().get(model).copied().unwrap_or_default()
    }

    /// Takes note of what a server counted for a request that was `counted` tokens by our own count.
    pub(crate) fn observe(&self, model: &str, counted: u64, by_server: u64) {
        let mut models = self.lock();
        let known = models.get(model).copied();
        if known.is_none() && models.len() >= MAX_MODELS {
            return;
        }
        let mut calibration = known.unwrap_or_default();
        calibration.observe(counted, by_server, known.is_none());
        models.insert(model.to_owned(), calibration);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Calibration>> {
        // Nothing that can panic runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
