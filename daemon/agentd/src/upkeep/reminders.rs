//! Reminders: shown when they are due, as soon as somebody is there to see them.
//!
//! A reminder ends after it was shown. A daemon that is killed between the two shows it once more: to be
//! told twice is better than not to be told.

use std::collections::HashSet;
use std::time::Duration;

use agentd_domain::{MemoryId, MemoryScope, cut_line};
use agentd_engine::Engine;
use agentd_memory::Memories;

/// How often to look. Without a terminal it costs nothing.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Most characters of a reminder on a terminal.
const MAX_SHOWN: usize = 2000;

/// Shows reminders until it is dropped.
#[derive(Debug)]
pub(crate) struct Reminders {
    pub(crate) memories: Memories,
    pub(crate) engine: Engine,
}

impl Reminders {
    /// Looks again and again.
    pub(crate) async fn run(self) {
        // Those whose end could not be stored: they are not shown again.
        let mut shown = HashSet::new();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if self.engine.stats().attached_clients == 0 {
                continue;
            }
            if let Err(problem) = self.show_due(&mut shown).await {
                tracing::warn!(problem, "a reminder could not be shown; it is tried again");
            }
        }
    }

    async fn show_due(&self, shown: &mut HashSet<MemoryId>) -> Result<(), String> {
        let due = self.memories.due().await.map_err(|error| error.to_string())?;
        for memory in due {
            let id = memory.id;
            if !shown.contains(&id) {
                let text = format!("⏰ Reminder: {}", cut_line(&memory.content, MAX_SHOWN));
                let workspace = match &memory.scope {
                    MemoryScope::Workspace { root } => Some(root.as_str()),
                    MemoryScope::User | MemoryScope::Agent { .. } => None,
                };
                let told = self.engine.remind(workspace, &text).await;
                let Some(session_id) = told.map_err(|error| error.to_string())? else {
                    return Ok(());
                };
                tracing::info!(memory_id = %id, %session_id, "a reminder was shown");
                shown.insert(id);
            }
            self.memories.reminded(id).await.map_err(|error| error.to_string())?;
            shown.remove(&id);
        }
        Ok(())
    }
}
