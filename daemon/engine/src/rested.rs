//! Sessions at rest in which something was said that was not looked through for memories: the daemon
//! stopped before it was time, or no model answered. Nobody may ever open them again.

use std::collections::HashMap;
use std::time::Duration;

use agentd_domain::{SessionId, SessionRecord, SessionStatus};

use crate::engine::Engine;
use crate::error::CommandError;
use crate::session::Command;

/// Sessions read from the index at once.
const PAGE: usize = 100;
/// Most sessions looked through in one go, one after the other.
const MOST: usize = 20;
/// How often a session is tried while nothing is said in it. An answer that is none costs as much as one.
const MOST_TRIES: u32 = 3;
/// After so many failures in a row it is not the session.
const MOST_FAILURES: u32 = 2;
/// Sessions whose tries are known. When there are more, all are tried anew.
const MOST_KNOWN: usize = 10_000;

/// What was tried in vain: the turns of each session at that time, and how often.
#[derive(Debug, Default)]
pub struct Tried(HashMap<SessionId, (u64, u32)>);

impl Tried {
    fn is_in_vain(&self, record: &SessionRecord) -> bool {
        let tried = self.0.get(&record.session_id);
        tried.is_some_and(|(turns, tries)| *turns == record.turns && *tries >= MOST_TRIES)
    }

    fn note(&mut self, record: &SessionRecord, is_looked_through: bool) {
        if is_looked_through {
            self.0.remove(&record.session_id);
            return;
        }
        if self.0.len() >= MOST_KNOWN {
            self.0.clear();
        }
        let tried = self.0.entry(record.session_id).or_insert((record.turns, 0));
        if tried.0 != record.turns {
            *tried = (record.turns, 0);
        }
        tried.1 += 1;
    }
}

impl Engine {
    /// Looks through sessions at rest that nobody has open, those that were used last first, a few in one
    /// go and one after the other. Returns how many were.
    ///
    /// # Errors
    /// When the store cannot be read, or the daemon stops.
    pub async fn look_through_rested(&self, tried: &mut Tried) -> Result<usize, CommandError> {
        let (after, turns) = {
            let config = self.deps().config.borrow();
            (config.extract_after, config.extract_turns.max(1))
        };
        let Some(after) = after else { return Ok(0) };
        let (mut looked_through, mut asked, mut failures) = (0, 0, 0);
        let mut from = None;
        loop {
            let page = self.list(from, PAGE).await?;
            for record in &page.sessions {
                let is_wanted = record.unextracted_turns >= turns
                    && self.is_session_at_rest(record, after)
                    && !tried.is_in_vain(record);
                if !is_wanted {
                    continue;
                }
                if asked == MOST || failures == MOST_FAILURES {
                    return Ok(looked_through);
                }
                asked += 1;
                let is_found = match self.look_through(record.session_id).await {
                    Ok(is_found) => is_found,
                    Err(CommandError::Stopping) => return Err(CommandError::Stopping),
                    // The others must not wait for this one.
                    Err(error) => {
                        tracing::warn!(session_id = %record.session_id, %error, "a session at rest could not be looked through");
                        false
                    }
                };
                tried.note(record, is_found);
                failures = if is_found { 0 } else { failures + 1 };
                looked_through += usize::from(is_found);
            }
            from = page.next;
            if from.is_none() {
                return Ok(looked_through);
            }
        }
    }

    /// Nothing is under way in it, and who has it open looks through it by himself.
    fn is_session_at_rest(&self, record: &SessionRecord, after: Duration) -> bool {
        let rested = self.deps().clock.now().since(record.updated_at);
        record.status == SessionStatus::Idle
            && record.queued_messages == 0
            && u128::from(rested) >= after.as_millis()
            && self.live_handle(record.session_id).is_none()
    }

    async fn look_through(&self, id: SessionId) -> Result<bool, CommandError> {
        self.ask(id, |reply| Command::LookForMemories { reply }).await
    }
}
