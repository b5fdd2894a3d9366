//! `/memories`: what holds in this session, and what waits for a yes.

use agentd_proto::v1;
use agentd_shared::format::Tone;
use agentd_shared::format::memory::{NOTHING, more, short};

use super::conversation::Conversation;
use crate::command::memory;
use crate::exit::Failure;

/// Memories that are shown.
const SHOWN: u32 = 50;
/// Columns that the other columns take at most.
const OTHERS: usize = 76;
/// Columns that a text has on a narrow terminal.
const LEAST_TEXT: usize = 30;

impl Conversation<'_> {
    /// Shows memories: all, or those with some words.
    pub(super) async fn show_memories(&mut self, words: &str) -> Result<(), Failure> {
        let workspace = self.session().await?.workspace;
        let filter = |status: v1::MemoryStatus| v1::MemoryFilter {
            text: words.to_owned(),
            scopes: memory::scopes_of(workspace.clone()),
            statuses: vec![status.into()],
            ..Default::default()
        };
        let (holding, all) =
            memory::fetch(&self.client, filter(v1::MemoryStatus::Active), SHOWN).await?;
        let (waiting, all_waiting) =
            memory::fetch(&self.client, filter(v1::MemoryStatus::Quarantined), SHOWN).await?;
        if holding.is_empty() && waiting.is_empty() {
            self.view.aside(Tone::Dim, NOTHING);
            return Ok(());
        }
        let width = self.view.canvas.look().width.saturating_sub(OTHERS).max(LEAST_TEXT);
        if !holding.is_empty() {
            self.say(memory::list_table(&holding, width));
            self.more(holding.len(), all);
        }
        if let Some(id) = waiting.first().and_then(|found| found.memory.as_ref()) {
            let id = short(&id.memory_id).to_owned();
            let text = format!("these wait until you say `agentctl memory confirm {id}`:");
            self.view.aside(Tone::Warn, &text);
            self.say(memory::list_table(&waiting, width));
            self.more(waiting.len(), all_waiting);
        }
        Ok(())
    }

    fn more(&mut self, shown: usize, all: u32) {
        if let Some(text) = more(shown, all) {
            self.view.aside(Tone::Dim, &text);
        }
    }
}
