//! What a session's requests are made of, for people, and folding on demand.

use agentd_context::ContextReport;
use agentd_domain::{ContextCompacted, EventBody, Seq, SessionId};
use agentd_store::PageLimit;

use crate::engine::Engine;
use crate::error::CommandError;
use crate::session::{Command, Compaction};

/// What the next request of a session would be made of.
#[derive(Debug, Clone)]
pub struct SessionContext {
    /// Its layers.
    pub report: ContextReport,
    /// What users pinned, the oldest first.
    pub pins: Vec<String>,
    /// The summary and the event that it is from; none: nothing was folded yet.
    pub summary: Option<(Seq, ContextCompacted)>,
}

impl Engine {
    /// Looks at what the next request of a session would be made of.
    ///
    /// # Errors
    /// When there is no such session, or its log or its model cannot be read.
    pub async fn context(&self, id: SessionId) -> Result<SessionContext, CommandError> {
        let (folding, stopped) = self.ask(id, |reply| Command::FoldingView { reply }).await?;
        let looked = folding.look(self.deps()).await;
        let (conversation, room, model) =
            looked.map_err(|error| CommandError::NoContext { problem: error.why })?;
        let name = if model.is_offline() { "" } else { model.model.as_str() };
        let summary = match folding.base {
            Some(seq) => self.compaction_at(id, seq).await?.map(|compacted| (seq, compacted)),
            None => None,
        };
        let report = ContextReport { stopped, ..room.report(name, &conversation) };
        Ok(SessionContext { report, pins: conversation.pins().to_vec(), summary })
    }

    /// Folds all turns but the newest into the summary, and waits for it.
    ///
    /// # Errors
    /// When there is no such session, a turn is open, or it cannot be stored.
    pub async fn compact(&self, id: SessionId) -> Result<Compaction, CommandError> {
        self.ask(id, |reply| Command::Compact { reply }).await
    }

    /// The summary that an event of the log holds.
    pub(crate) async fn compaction_at(
        &self,
        id: SessionId,
        seq: Seq,
    ) -> Result<Option<ContextCompacted>, CommandError> {
        let one = PageLimit { events: 1, bytes: usize::MAX };
        let page = self.deps().store.events(id, seq, one).await?;
        Ok(page.events.into_iter().find_map(|event| match event.body {
            EventBody::ContextCompacted(compacted) if event.seq == seq => Some(compacted),
            _ => None,
        }))
    }
}
