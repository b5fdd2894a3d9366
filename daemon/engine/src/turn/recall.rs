//! Telling the model what is remembered (ADR 0015).
//!
//! What a turn is told stays in the conversation with it, so that the beginning of the next request is
//! that of the last. Later turns add what they touch on and what has changed, and take back what no
//! longer holds. Without memory a turn goes on all the same, and people are told.

use std::collections::HashMap;

use agentd_context::{Conversation, Policy};
use agentd_domain::{
    EventBody, MemoriesTold, Memory, MemoryId, MemoryScope, Notice, NoticeLevel, ToldMemory,
};
use agentd_memory::{Because, told, told_withdrawn};

use super::{Ended, TurnTask};
use crate::model::ResolvedModel;

/// The agent whose own memories are told. There is one so far.
const AGENT: &str = "agentd";

impl TurnTask {
    /// Where memories hold that concern this session.
    pub(super) async fn memory_scopes(&self) -> Vec<MemoryScope> {
        let root = crate::rules::root_of(&self.roots.workspace).await;
        let agent = MemoryScope::Agent { name: AGENT.to_owned() };
        vec![MemoryScope::User, MemoryScope::Workspace { root }, agent]
    }

    /// Adds to a turn that has begun what is remembered and not told yet.
    pub(super) async fn recall(
        &self,
        model: &ResolvedModel,
        conversation: &mut Conversation,
    ) -> Result<(), Ended> {
        if model.is_offline() {
            return Ok(());
        }
        let told = match self.to_tell(model, conversation).await {
            Ok(Some(told)) => told,
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::error!(%error, "memories could not be read");
                let text = format!("this turn goes on without memories: {error}");
                let notice = Notice { level: NoticeLevel::Warn, text };
                return self.record(vec![notice.into()], conversation).await;
            }
        };
        let ids: Vec<MemoryId> = told.told.iter().map(|told| told.id).collect();
        self.record(vec![EventBody::from(told)], conversation).await?;
        let memories = self.deps.memories.clone();
        self.deps.tasks.spawn("memory-told", async move {
            if let Err(error) = memories.told(&ids).await {
                tracing::warn!(%error, "it is not noted which memories were told");
            }
        });
        Ok(())
    }

    /// Adds what folded turns said that may bear on what was just asked.
    pub(super) async fn recall_turns(
        &self,
        policy: &Policy,
        conversation: &mut Conversation,
    ) -> Result<(), Ended> {
        match conversation.recall(policy) {
            Some(recalled) => self.record(vec![recalled.into()], conversation).await,
            None => Ok(()),
        }
    }

    async fn to_tell(
        &self,
        model: &ResolvedModel,
        conversation: &Conversation,
    ) -> Result<Option<MemoriesTold>, agentd_memory::MemoryError> {
        let memories = &self.deps.memories;
        let before: HashMap<MemoryId, u32> = conversation.told_memories();
        // What folded turns were told is told again with the rest.
        let tells_anew = before.is_empty() || conversation.has_forgotten_memories();
        let scopes = self.memory_scopes().await;
        let room = self.deps.config.borrow().context.memories_bytes(model.context_tokens);
        let (chosen, known) = memories.select(&scopes, &conversation.said_last(), room).await?;
        let is_new =
            |memory: &Memory, is_related: bool, because: Because| match before.get(&memory.id) {
                Some(revision) => *revision != memory.revision,
                None => tells_anew || is_related || because == Because::Critical,
            };
        let new: Vec<Memory> = chosen
            .into_iter()
            .filter(|(memory, chosen)| is_new(memory, chosen.is_related, chosen.because))
            .map(|(memory, _chosen)| memory)
            .collect();
        // What was told and is no longer so is told anew, whether it was chosen or not.
        let mut new = new;
        for (id, revision) in &before {
            let memory = memories.holding(*id).await?;
            let is_changed = memory.filter(|memory| memory.revision != *revision);
            new.extend(is_changed.filter(|it| new.iter().all(|new| new.id != it.id)));
        }
        let withdrawn = memories.no_longer_hold(before.keys().copied()).await?;
        if new.is_empty() && withdrawn.is_empty() {
            return Ok(None);
        }
        let texts = [told(&new, known), told_withdrawn(&withdrawn)];
        let texts: Vec<&str> =
            texts.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        let told = new.iter().map(|it| ToldMemory { id: it.id, revision: it.revision });
        Ok(Some(MemoriesTold {
            told: told.collect(),
            withdrawn,
            known: u64::try_from(known).unwrap_or(u64::MAX),
            text: texts.join("\n"),
        }))
    }

    /// Notes, off the user's path, which of the memories that the model knew went into its answer.
    pub(super) fn note_answer(&self, conversation: &Conversation, answer: &str) {
        let told: Vec<MemoryId> = conversation.told_memories().into_keys().collect();
        if told.is_empty() || answer.trim().is_empty() {
            return;
        }
        let (memories, answer) = (self.deps.memories.clone(), answer.to_owned());
        self.deps.tasks.spawn("memory-used", async move {
            if let Err(error) = memories.note_answer(&told, &answer).await {
                tracing::warn!(%error, "it is not noted which memories were used");
            }
        });
    }
}
