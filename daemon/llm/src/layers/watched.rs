//! A meter that watches all requests of a stack, such as metrics, beside each request's own.

use std::sync::Arc;

use crate::{Attempt, LlmError, Meter, Spent};

/// Both meters: the watcher is told of what the request's own meter admits.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) watcher: Arc<dyn Meter>,
    pub(super) own: Option<Arc<dyn Meter>>,
}

impl Meter for Watched {
    fn admit(&self, attempt: &Attempt) -> Result<(), LlmError> {
        if let Some(own) = &self.own {
            own.admit(attempt)?;
        }
        self.watcher.admit(attempt)
    }

    fn record(&self, spent: Spent) {
        self.watcher.record(spent.clone());
        if let Some(own) = &self.own {
            own.record(spent);
        }
    }
}
