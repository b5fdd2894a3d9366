//! Searching what users and models have said in all sessions.
//!
//! The logs are the only copy of the texts. Beside them an index of their words is in memory from the
//! first question on (`keeper.rs`), and gone again after long disuse; what is shown of a message is read
//! from its log when it is found (ADR 0016).

mod keeper;
mod session_history;
mod texts;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use agentd_domain::{
    EventBody, HistoryAnswer, HistoryHit, HistoryQuery, ItemId, SessionRecord, Speaker,
};
use agentd_search::{has_words, snippet};
use agentd_store::{PageLimit, ReadError};
use tokio::time::Instant;

use self::texts::Found;
use crate::engine::Engine;
use crate::error::CommandError;
use crate::session::SessionDeps;

pub(crate) use keeper::History;
pub(crate) use session_history::SessionHistory;
pub use texts::HistoryLimits;

/// Most bytes of a question.
pub const MAX_QUESTION: usize = 4 * 1024;
/// Most characters that are shown of a message.
pub const MAX_SNIPPET: usize = 240;

/// How long a question waits for the index. After that it is answered from what has been read.
const PATIENCE: Duration = Duration::from_secs(2);
/// Candidates beyond those that are wanted: some are copies of others, or gone.
const SPARE: usize = 50;
/// One event of a log.
const ONE: PageLimit = PageLimit { events: 1, bytes: 1 };

impl Engine {
    /// Finds messages by the words of a question, the best first.
    ///
    /// # Errors
    /// When the question has no word or is too long, there is no such session, or the store cannot be
    /// read.
    pub async fn search_history(&self, query: HistoryQuery) -> Result<HistoryAnswer, CommandError> {
        search(self.deps(), query).await
    }
}

/// See [`Engine::search_history`].
pub(crate) async fn search(
    deps: &Arc<SessionDeps>,
    query: HistoryQuery,
) -> Result<HistoryAnswer, CommandError> {
    if query.question.len() > MAX_QUESTION {
        let bytes = query.question.len();
        return Err(CommandError::QuestionTooLong { bytes, max: MAX_QUESTION });
    }
    if !has_words(&query.question) {
        return Err(CommandError::EmptyQuestion);
    }
    if let Some(id) = query.session
        && deps.store.session(id).await?.is_none()
    {
        return Err(CommandError::NoSession(id));
    }
    let texts = deps.history.texts(deps);
    deps.history.wait(Instant::now() + PATIENCE).await;
    let asked = query.clone();
    let most = query.most.saturating_add(SPARE);
    // What has not been read is counted before it is searched: it may be read meanwhile.
    let mut extent = deps.history.extent();
    let ranked = tokio::task::spawn_blocking(move || {
        let texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
        (texts.search(&asked, most), texts.len(), texts.left_out())
    });
    let (ranked, messages, left_out) = ranked.await.map_err(|_stopping| CommandError::Stopping)?;
    (extent.messages, extent.messages_left_out) = (messages, left_out);
    let mut answer = HistoryAnswer { extent, ..HistoryAnswer::default() };
    let mut shown: HashSet<ItemId> = HashSet::new();
    let mut record: Option<SessionRecord> = None;
    for found in ranked {
        if record.as_ref().is_none_or(|record| record.session_id != found.session) {
            record = deps.store.session(found.session).await?;
        }
        // It may have been deleted since.
        let Some(record) = &record else { continue };
        let Some((item, hit)) = read(deps, record, &found, &query.question).await? else {
            continue;
        };
        // Copies of a session say the same.
        if !shown.insert(item) {
            continue;
        }
        if answer.hits.len() == query.most {
            answer.more = true;
            break;
        }
        answer.hits.push(hit);
    }
    Ok(answer)
}

/// Reads a message that was found; none when it is gone or cannot be read.
async fn read(
    deps: &SessionDeps,
    record: &SessionRecord,
    found: &Found,
    question: &str,
) -> Result<Option<(ItemId, HistoryHit)>, CommandError> {
    let page = match deps.store.events(found.session, found.seq, ONE).await {
        Ok(page) => page,
        Err(error @ (ReadError::Event { .. } | ReadError::Record { .. })) => {
            tracing::warn!(session_id = %found.session, %error, "a message that was found is damaged");
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let Some(event) = page.events.into_iter().next().filter(|event| event.seq == found.seq) else {
        return Ok(None);
    };
    let (item_id, by, name, text) = match event.body {
        EventBody::MessageAccepted(it) => (it.item_id, Speaker::User, it.author.name, it.text),
        EventBody::AssistantMessage(it) => (it.item_id, Speaker::Assistant, String::new(), it.text),
        _ => return Ok(None),
    };
    let hit = HistoryHit {
        session_id: found.session,
        title: record.title.clone(),
        seq: found.seq,
        at: event.at,
        by,
        name,
        snippet: snippet(texts::indexed(&text), question, MAX_SNIPPET),
        score: found.score,
    };
    Ok(Some((item_id, hit)))
}
