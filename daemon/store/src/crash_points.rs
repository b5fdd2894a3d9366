//! Named points at which a test may kill the process.

use std::fmt;
use std::sync::Arc;

/// A hook that is called at named points of the write path. Without a hook it costs a null check.
#[derive(Clone, Default)]
pub struct CrashPoints(Option<Arc<dyn Fn(&'static str) + Send + Sync>>);

impl CrashPoints {
    /// Calls `hook` with the name of each point that is passed.
    pub fn new(hook: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hook)))
    }

    /// Passes the point `name`.
    pub fn pass(&self, name: &'static str) {
        if let Some(hook) = &self.0 {
            hook(name);
        }
    }
}

impl fmt::Debug for CrashPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CrashPoints").field(&self.0.is_some()).finish()
    }
}
