//! Keeps the printer away from the terminal while no prompt is there.
//!
//! The editor library writes straight to the terminal when its prompt is gone. Rows that count on
//! what stands above the prompt would then land in the wrong place.

use std::sync::{Condvar, Mutex, PoisonError};

/// Open while the prompt is on the screen.
#[derive(Debug, Default)]
pub(super) struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    /// Lets the printer through.
    pub(super) fn open(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Stops the printer. Never waits for it: the printer may wait for whoever calls this.
    pub(super) fn close(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// Waits until it is open.
    pub(super) fn pass(&self) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(is_open, |is_open| !*is_open);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn nobody_passes_a_closed_gate() {
        let gate = Arc::new(Gate::default());
        gate.open();
        gate.pass();
        gate.close();
        let (passed, seen) = sync_channel(1);
        let waiting = Arc::clone(&gate);
        let thread = std::thread::spawn(move || {
            waiting.pass();
            passed.send(()).unwrap();
        });
        assert!(seen.try_recv().is_err());
        gate.open();
        seen.recv().unwrap();
        thread.join().unwrap();
    }
}
