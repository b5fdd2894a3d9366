//! Finding in a conversation what is to be remembered, when it has come to rest (spec b.5).
//!
//! Only what users said counts; answers are there to understand it. What is found in a conversation that
//! holds text from elsewhere waits for a user, unless it is in their own words.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use agentd_domain::{
    EventBody, ItemId, MemoriesExtracted, MemoryAuthor, MemoryCategory, MemoryOrigin, MemoryScope,
    Seq, SessionId, TimestampMs, UsagePurpose, cut_line,
};
use agentd_memory::{
    Added, Extracted, INSTRUCTIONS, MAX_ANSWER, NewMemory, Vouched, usual_priority,
};

use crate::session::SessionDeps;
use crate::short_answer::{self, Asked};
use crate::usage::Account;

/// Turns that are looked at together, the oldest first.
const MOST_TURNS: usize = 20;
/// Characters of what a user said in one message.
const SAID: usize = 2_000;
/// Characters of an answer (spec b.5: 500).
const ANSWERED: usize = 500;

/// A conversation, as far as it has not been looked at.
#[derive(Debug, Default)]
struct Read {
    /// What was said and answered, in order.
    turns: Vec<(String, String)>,
    through: Seq,
    /// The last message of a user.
    last_said: Seq,
    /// Turns behind those.
    left: u32,
}

/// Which part of a session is looked at.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) session_id: SessionId,
    /// The session's model.
    pub(crate) model: String,
    /// The first event.
    pub(crate) from: Seq,
    /// Where what is so holds.
    pub(crate) workspace: String,
    /// Text from elsewhere came into the session.
    pub(crate) outside_text: bool,
}

/// Looks through a session from an event on, and adds what is found. None when nothing could be found
/// out: it is tried again after the next turn.
pub(crate) async fn extract(
    deps: Arc<SessionDeps>,
    part: Part,
    account: Arc<Account>,
) -> Option<MemoriesExtracted> {
    let Part { session_id, model, from, workspace, outside_text } = part;
    let read = read(&deps, session_id, from).await?;
    let asked = Asked {
        model: &model,
        instructions: INSTRUCTIONS,
        text: written(&read.turns),
        purpose: UsagePurpose::Memory,
        most_bytes: MAX_ANSWER,
    };
    let limit = deps.config.borrow().extract_timeout;
    let asking = short_answer::ask(&deps, &account, asked);
    let Ok(answer) = tokio::time::timeout(limit, asking).await else {
        tracing::warn!(%session_id, "the model was too slow to look for memories");
        return None;
    };
    let Some(found) = agentd_memory::parse(&answer?) else {
        tracing::warn!(%session_id, "what the model found is no list");
        return None;
    };
    let said: Vec<&str> = read.turns.iter().map(|(said, _)| said.as_str()).collect();
    let root = crate::rules::root_of(Path::new(&workspace)).await;
    let mut extracted = MemoriesExtracted {
        through: read.through,
        turns_left: read.left,
        added: Vec::new(),
        waiting: Vec::new(),
    };
    for item in found {
        let content = cut_line(&item.content, 80);
        let vouched = agentd_memory::vouched(&item.content, &said, outside_text);
        match deps.memories.add(new_memory(item, session_id, &read, vouched, &root)).await {
            Ok(Added::New(id) | Added::MergedInto(id)) => extracted.added.push(id),
            Ok(Added::Quarantined(id)) => extracted.waiting.push(id),
            Ok(Added::Known(_)) => {}
            // It may hold a secret, so that it is not told what it was.
            Err(error @ agentd_memory::MemoryError::Secret { .. }) => {
                tracing::info!(%session_id, %error, "something found is not remembered");
            }
            Err(error) => {
                tracing::warn!(%session_id, content, %error, "something found is not remembered");
            }
        }
    }
    Some(extracted)
}

async fn read(deps: &SessionDeps, session_id: SessionId, from: Seq) -> Option<Read> {
    let mut read = Read::default();
    let mut waiting: HashMap<ItemId, String> = HashMap::new();
    let all = crate::session::for_each_event(&*deps.store, session_id, from, |event| {
        if matches!(event.body, EventBody::TurnStarted(_)) && read.turns.len() == MOST_TURNS {
            read.left += 1;
        }
        if read.left > 0 {
            return;
        }
        read.through = event.seq;
        match &event.body {
            EventBody::MessageAccepted(accepted) => {
                waiting.insert(accepted.item_id, cut_line(&accepted.text, SAID));
                read.last_said = event.seq;
            }
            EventBody::MessageWithdrawn(withdrawn) => drop(waiting.remove(&withdrawn.item_id)),
            EventBody::TurnStarted(started) => {
                let said = started.item_ids.iter().filter_map(|item| waiting.remove(item));
                read.turns.push((said.collect::<Vec<_>>().join("\n"), String::new()));
            }
            EventBody::MessagesDelivered(delivered) => {
                let said = delivered.item_ids.iter().filter_map(|item| waiting.remove(item));
                if let Some((turn, _answer)) = read.turns.last_mut() {
                    said.for_each(|said| turn.extend(["\n", &said]));
                }
            }
            EventBody::AssistantMessage(message) if message.tool_calls.is_empty() => {
                if let Some((_said, answer)) = read.turns.last_mut() {
                    *answer = cut_line(&message.text, ANSWERED);
                }
            }
            _ => {}
        }
    });
    if let Err(error) = all.await {
        tracing::warn!(%session_id, %error, "the conversation could not be read for memories");
        return None;
    }
    read.turns.retain(|(said, _answer)| !said.trim().is_empty());
    (!read.turns.is_empty()).then_some(read)
}

fn written(turns: &[(String, String)]) -> String {
    let written = turns.iter().map(|(said, answer)| format!("User: {said}\nAssistant: {answer}"));
    written.collect::<Vec<_>>().join("\n\n")
}

fn new_memory(
    item: Extracted,
    session_id: SessionId,
    read: &Read,
    vouched: Vouched,
    root: &str,
) -> NewMemory {
    let Extracted { content, category, importance, tags, expires_at } = item;
    let expires_at = expires_at.and_then(|text| time(&text));
    NewMemory {
        vouched,
        content,
        priority: Some(usual_priority(category)),
        importance,
        category,
        tags,
        // What is so may be so of this workspace only; wishes are the user's.
        scope: match category {
            MemoryCategory::Fact | MemoryCategory::General => {
                MemoryScope::Workspace { root: root.to_owned() }
            }
            _ => MemoryScope::User,
        },
        pinned: false,
        expires_at,
        origin: MemoryOrigin {
            author: MemoryAuthor::Extraction,
            session_id: Some(session_id),
            seq: Some(read.last_said),
        },
    }
}

fn time(text: &str) -> Option<TimestampMs> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(TimestampMs(at.as_millisecond()))
}
