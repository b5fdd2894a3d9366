//! Work that no user waits for: titles, and looking for what is to be remembered.

use std::sync::Arc;

use agentd_domain::TitleSource;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::{Actor, Made};
use crate::extract::{self, Part};
use crate::session::Reply;
use crate::session::decide::{self, Draft};

impl Actor {
    /// Makes a title with the model, away from the session's own work.
    pub(super) fn make_title(&mut self) {
        let (deps, account) = (Arc::clone(&self.deps), Arc::clone(&self.account));
        let model = self.state.record.model.clone();
        let span = tracing::info_span!(parent: None, "title", session_id = %self.id);
        let title = crate::title::title(deps, self.id, model, account);
        self.background.spawn(async { Made::Title(title.await) }.instrument(span));
    }

    /// Sets when the session is looked through for memories, if there is enough that was not.
    pub(super) fn rest_before_looking(&mut self) {
        let config = self.deps.config.borrow();
        let is_enough = self.state.unextracted_turns >= config.extract_turns.max(1);
        let after = config.extract_after.filter(|_| is_enough);
        self.extract_at = after.map(|after| Instant::now() + after);
    }

    /// The same at once, because turns are about to be folded: a session that never rests would be folded
    /// again and again and never looked through.
    pub(super) fn look_before_folding(&mut self) {
        self.rest_before_looking();
        if self.extract_at.is_some() && !self.look_failed {
            self.look_for_memories();
        }
    }

    /// Looks for what is to be remembered, unless a turn runs: then its end sets another time.
    pub(super) fn look_for_memories(&mut self) {
        self.extract_at = None;
        if self.running.is_some() || !self.background.is_empty() {
            return;
        }
        let (deps, account) = (Arc::clone(&self.deps), Arc::clone(&self.account));
        let part = Part {
            session_id: self.id,
            model: self.state.record.model.clone(),
            from: self.state.extracted.next(),
            workspace: self.state.record.workspace.clone(),
            outside_text: self.state.outside_text,
        };
        let span = tracing::info_span!(parent: None, "memories", session_id = %self.id);
        let found = extract::extract(deps, part, account);
        self.background.spawn(async { Made::Memories(found.await) }.instrument(span));
    }

    /// Looks for what is to be remembered now, and answers when it is known.
    pub(super) fn look_on_request(&mut self, reply: Reply<bool>) {
        let is_enough =
            self.state.unextracted_turns >= self.deps.config.borrow().extract_turns.max(1);
        if is_enough {
            self.look_for_memories();
        }
        // A turn or something else may be under way.
        if is_enough && !self.background.is_empty() && self.looking.is_none() {
            self.looking = Some(reply);
        } else {
            let _left = reply.send(Ok(false));
        }
    }

    pub(super) async fn on_made(&mut self, made: Made) {
        let mut drafts = self.drafts_of_turn(Vec::new());
        let made = match made {
            Made::Folded(outcome) => {
                self.store_made(drafts).await;
                self.on_folded(*outcome).await;
                if self.running.is_none() {
                    self.rest_before_looking();
                }
                return;
            }
            made => made,
        };
        // What is left is looked at as well; what could not be is tried again after the next turn.
        let is_found = matches!(made, Made::Memories(Some(_)));
        let may_look_again = matches!(made, Made::Memories(Some(_)) | Made::Title(_));
        if let Made::Memories(found) = &made {
            self.look_failed = found.is_none();
        }
        match made {
            Made::Title(Some(title)) if self.state.wants_title(TitleSource::Model) => {
                drafts.push(decide::renamed(&title, TitleSource::Model, None));
            }
            Made::Memories(Some(extracted)) => {
                drafts.push(Draft { turn_id: None, body: extracted.into() });
            }
            Made::Title(_) | Made::Memories(None) | Made::Folded(_) | Made::Nothing => {}
        }
        self.store_made(drafts).await;
        if let Some(reply) = self.looking.take() {
            let _left = reply.send(Ok(is_found));
        }
        if self.running.is_none() && may_look_again {
            self.rest_before_looking();
        }
    }

    async fn store_made(&mut self, drafts: Vec<Draft>) {
        if let Err(error) = self.record(drafts, Vec::new()).await {
            tracing::warn!(session_id = %self.id, %error, "what was made could not be stored");
        }
    }
}
