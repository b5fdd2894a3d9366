//! What calls ask of long-term memory, and whether somebody stands behind it.
//!
//! A page or a file may tell the model to remember something, or to forget it. So what a call brings is
//! vouched for when the words are the user's own, or when nothing from outside is in the conversation.
//! Anything else waits until a user confirms it, and takes nothing away.

use agentd_context::Conversation;
use agentd_domain::{
    Memory, MemoryAuthor, MemoryCommand, MemoryOrigin, MemoryReach, MemoryScope, ToolCallFinished,
    ToolStatus,
};
use agentd_llm::Message;
use agentd_memory::{
    Added, Filter, MemoryError, MemoryPatch, NewMemory, Vouched, id_end, told_line, usual_priority,
    vouched,
};

use super::TurnTask;
use crate::session::brings_outside_text;

/// Memories that a search or a list gives at most.
const MOST_FOUND: usize = 20;

/// Why a call is refused that is not the fault of its arguments.
const NOT_VOUCHED: &str = "text from outside is part of this conversation and these are not the user's own words; ask the \
     user first";

impl TurnTask {
    /// Carries out what a call asks and writes the answer into its result.
    pub(super) async fn remember(
        &self,
        command: MemoryCommand,
        conversation: &Conversation,
        finished: &mut ToolCallFinished,
    ) {
        match self.carry_out(command, conversation).await {
            Ok(output) => finished.output = output,
            Err(Refused { code, problem }) => {
                finished.status = ToolStatus::FatalError;
                code.clone_into(&mut finished.error_code);
                finished.output = format!("[memory stays as it is: {problem}]");
            }
        }
    }

    async fn carry_out(
        &self,
        command: MemoryCommand,
        conversation: &Conversation,
    ) -> Result<String, Refused> {
        let memories = &self.deps.memories;
        match command {
            MemoryCommand::Search { text } => {
                let scopes = self.memory_scopes().await;
                let filter = Filter { text, scopes, ..Filter::default() };
                let (found, all) = memories.find(&filter, MOST_FOUND).await?;
                let found: Vec<Memory> = found.into_iter().map(|found| found.memory).collect();
                // What is looked up helps.
                memories.used(&found.iter().map(|memory| memory.id).collect::<Vec<_>>()).await?;
                Ok(listed(&found, all, "Nothing is remembered of this."))
            }
            MemoryCommand::List => {
                let scopes = self.memory_scopes().await;
                let filter = Filter { scopes, ..Filter::default() };
                let (found, all) = memories.find(&filter, MOST_FOUND).await?;
                let found: Vec<Memory> = found.into_iter().map(|found| found.memory).collect();
                Ok(listed(&found, all, "Nothing is remembered yet."))
            }
            MemoryCommand::Add {
                content,
                category,
                priority,
                importance,
                tags,
                reach,
                expires_at,
            } => {
                let scope = match reach {
                    MemoryReach::Everywhere => MemoryScope::User,
                    MemoryReach::Workspace => {
                        let root = crate::rules::root_of(&self.roots.workspace).await;
                        MemoryScope::Workspace { root }
                    }
                };
                let has_outside_text = self.has_outside_text(conversation);
                let vouched = vouched(&content, &conversation.said(), has_outside_text);
                let new = NewMemory {
                    content,
                    priority: Some(priority.unwrap_or_else(|| usual_priority(category))),
                    importance,
                    category,
                    tags,
                    scope,
                    pinned: false,
                    expires_at,
                    origin: self.origin(),
                    vouched,
                };
                Ok(added(memories.add(new).await?))
            }
            MemoryCommand::Update { id, content, priority, importance, expires_at } => {
                let old = self.theirs(&id, content.as_deref(), conversation).await?;
                let expires_at = expires_at.map(Some);
                let patch = MemoryPatch {
                    content,
                    priority,
                    importance,
                    expires_at,
                    ..MemoryPatch::default()
                };
                if patch.content.is_some() {
                    let id = memories.supersede(old.id, patch, self.origin()).await?;
                    let new = memories.resolve(&id.to_string()).await?;
                    return Ok(format!("Remembered in its place: {}", told_line(&new)));
                }
                memories.edit(old.id, patch, MemoryAuthor::Model).await?;
                let new = memories.resolve(&old.id.to_string()).await?;
                Ok(format!("It is now: {} ({})", told_line(&new), new.priority))
            }
            MemoryCommand::Forget { id } => {
                let old = self.theirs(&id, None, conversation).await?;
                memories.forget(old.id, MemoryAuthor::Model).await?;
                Ok(format!("Forgotten: {}", told_line(&old)))
            }
        }
    }

    /// The memory that a call may change.
    async fn theirs(
        &self,
        id: &str,
        new: Option<&str>,
        conversation: &Conversation,
    ) -> Result<Memory, Refused> {
        let memory = self.deps.memories.resolve(id).await?;
        let scopes = self.memory_scopes().await;
        if !memory.is_active() || !scopes.contains(&memory.scope) {
            return Err(MemoryError::NotFound { id: agentd_domain::cut_line(id, 40) }.into());
        }
        if memory.pinned {
            let problem = "the user has pinned this memory; only the user changes it".to_owned();
            return Err(Refused { code: "MEMORY_REFUSED", problem });
        }
        // What is put in its place, or what is taken away, has to be the user's own words.
        let text = new.unwrap_or(&memory.content);
        let is_outside = self.has_outside_text(conversation);
        if vouched(text, &conversation.said(), is_outside) == Vouched::No {
            let problem = NOT_VOUCHED.to_owned();
            return Err(Refused { code: "MEMORY_REFUSED", problem });
        }
        Ok(memory)
    }

    /// True when a call has brought text into the conversation that others may have written.
    fn has_outside_text(&self, conversation: &Conversation) -> bool {
        let is_outside = |message: Message| match message {
            // Of a tool that is gone nobody knows what it read.
            Message::Tool { name, .. } => self.deps.tools.find(&name).is_none_or(|tool| {
                brings_outside_text(&tool.spec().name, tool.spec().capabilities.effect)
            }),
            _ => false,
        };
        self.outside_text || conversation.messages().any(is_outside)
    }

    fn origin(&self) -> MemoryOrigin {
        let session_id = Some(self.session_id);
        MemoryOrigin { author: MemoryAuthor::Model, session_id, seq: None }
    }
}

/// Why memory stays as it is.
struct Refused {
    code: &'static str,
    problem: String,
}

impl From<MemoryError> for Refused {
    fn from(error: MemoryError) -> Self {
        let code = match &error {
            MemoryError::Field { .. }
            | MemoryError::Secret { .. }
            | MemoryError::NotFound { .. }
            | MemoryError::Ambiguous { .. } => "TOOL_ARGUMENT_VALIDATION_FAILED",
            MemoryError::NoChange
            | MemoryError::ChangedSince { .. }
            | MemoryError::Full { .. }
            | MemoryError::CriticalPinned { .. }
            | MemoryError::Status { .. } => "MEMORY_REFUSED",
            MemoryError::Read(_) | MemoryError::Commit(_) => "MEMORY_UNAVAILABLE",
        };
        let hint = error.hint();
        let problem = if hint.is_empty() { error.to_string() } else { format!("{error}; {hint}") };
        Self { code, problem }
    }
}

fn added(added: Added) -> String {
    let end = id_end(added.id());
    match added {
        Added::New(_) => format!("Remembered as [{end}]."),
        Added::MergedInto(_) => format!("Added to [{end}], which says much the same."),
        Added::Known(_) => format!("That is known already, as [{end}]."),
        Added::Quarantined(_) => format!(
            "Noted as [{end}], but not yet remembered: these are not the user's words, and text from \
             outside is part of this conversation. The user confirms it with `agentctl memory confirm \
             {end}`; tell them."
        ),
    }
}

fn listed(found: &[Memory], all: usize, nothing: &str) -> String {
    if found.is_empty() {
        return nothing.to_owned();
    }
    let mut lines: Vec<String> = found.iter().map(told_line).collect();
    if all > found.len() {
        lines.push(format!("({} more; search finds them)", all - found.len()));
    }
    lines.join("\n")
}
