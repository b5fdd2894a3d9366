//! What is done for memories with a model while nobody needs the daemon: sessions at rest are looked
//! through, and once a day order is brought into what is remembered.
//!
//! It counts for the budget of background work. What is under way when the daemon stops is done again.

use std::time::Duration;

use agentd_engine::{CommandError, Engine, Tried};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::config::Config;

/// From the start to the first look: whoever started the daemon has something else to do first.
const FIRST_LOOK: Duration = Duration::from_secs(60);
/// How often sessions at rest are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(3600);
/// How often to see whether it is time to bring order into memories: it costs nothing.
const TICK: Duration = Duration::from_secs(60);

/// Looks after what is at rest until it is dropped.
#[derive(Debug)]
pub(crate) struct AtRest {
    pub(crate) engine: Engine,
    pub(crate) config: watch::Receiver<Config>,
}

impl AtRest {
    /// Looks again and again.
    pub(crate) async fn run(self) {
        let mut tried = Tried::default();
        let mut next_run = Instant::now();
        let mut next_look = Instant::now() + self.soon(FIRST_LOOK);
        loop {
            tokio::time::sleep(self.soon(TICK)).await;
            if Instant::now() >= next_run {
                match self.engine.consolidate_if_due().await {
                    Ok(None) => {}
                    Ok(Some(done)) => tracing::info!(?done, "order was brought into memories"),
                    Err(error) => {
                        tracing::warn!(%error, "no order could be brought into memories");
                        next_run = Instant::now() + self.soon(LOOK_EVERY);
                    }
                }
            }
            if Instant::now() < next_look {
                continue;
            }
            match self.engine.look_through_rested(&mut tried).await {
                Ok(0) => {}
                Ok(sessions) => tracing::info!(sessions, "sessions at rest were looked through"),
                Err(CommandError::Stopping) => return,
                Err(error) => tracing::warn!(%error, "sessions at rest could not be looked for"),
            }
            next_look = Instant::now() + self.soon(LOOK_EVERY);
        }
    }

    /// No longer than memories wait for time to do its work.
    fn soon(&self, usual: Duration) -> Duration {
        let sweep = Duration::from_millis(self.config.borrow().memory.sweep_interval_ms);
        usual.min(sweep)
    }
}
