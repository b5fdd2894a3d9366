//! What time does to memories, also when nobody talks: they age, and what is over ends.
//!
//! A step is dated when it was due, so that a machine that was off or asleep changes nothing of
//! what becomes of a memory; it is only seen later.

mod at_rest;
mod reminders;

use std::time::Duration;

use agentd_memory::{Memories, MemoryError, Swept};
use tokio::sync::watch;

use crate::config::Config;
use crate::control::{Control, Topic};

pub(crate) use at_rest::AtRest;
pub(crate) use reminders::Reminders;

/// From the start to the first look: whoever started the daemon has something else to do first.
const FIRST_LOOK: Duration = Duration::from_secs(10);

/// Looks after memories until it is dropped.
#[derive(Debug)]
pub(crate) struct Upkeep {
    pub(crate) memories: Memories,
    pub(crate) config: watch::Receiver<Config>,
    pub(crate) control: Control,
}

impl Upkeep {
    /// Sweeps again and again. What is under way when this is dropped is whole or has not happened.
    pub(crate) async fn run(mut self) {
        tokio::time::sleep(FIRST_LOOK).await;
        loop {
            self.look().await;
            self.pause().await;
        }
    }

    async fn look(&self) {
        match self.memories.sweep().await {
            Ok(Swept { doubt: Some(doubt), .. }) => {
                self.control.standing_warning(Topic::Memories, Some(doubt.to_string()));
            }
            Ok(Swept { aged, ended, removed, doubt: None }) => {
                if aged + ended + removed > 0 {
                    tracing::info!(aged, ended, removed, "memories have aged, are over, or gone");
                }
                self.control.standing_warning(Topic::Memories, None);
            }
            Err(error) => {
                let warning = format!("memories could not age: {}", why(&error));
                self.control.standing_warning(Topic::Memories, Some(warning));
            }
        }
    }

    /// Waits until the next look is due, by the interval as it is then.
    async fn pause(&mut self) {
        let since = tokio::time::Instant::now();
        loop {
            let interval_ms = self.config.borrow_and_update().memory.sweep_interval_ms;
            tokio::select! {
                () = tokio::time::sleep_until(since + Duration::from_millis(interval_ms)) => return,
                changed = self.config.changed() => {
                    if changed.is_err() {
                        // The daemon is going away, and drops this soon.
                        std::future::pending::<()>().await;
                    }
                }
            }
        }
    }
}

fn why(error: &MemoryError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
