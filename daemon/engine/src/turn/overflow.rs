//! Asking a model whose window the conversation may exceed.
//!
//! Before each request the conversation is made to fit its room (`fit.rs`). Windows are not always known
//! and token counts may be off, so a provider may refuse what should have fitted. Then the conversation is
//! made to fit a smaller room, and the model is asked again. This happens a few times at most.

use agentd_context::Conversation;
use agentd_domain::ErrorReport;
use agentd_llm::LlmError;

use super::ask::{Answer, Offer};
use super::{Ended, TurnOutcome, TurnTask};
use crate::model::ResolvedModel;
use crate::room::Room;

/// How often a round's request is made shorter.
const MAX_SHORTENINGS: u32 = 2;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The conversation is longer than the window of the model that was asked, which may be a
    /// fallback.
    TooLong { error: LlmError, asked: String },
    /// The turn ends.
    Ended(Ended),
}

impl Unanswered {
    /// What a request of which nothing was shown comes to when it has failed for good.
    pub(super) fn from_error(error: LlmError, asked: String) -> Self {
        if matches!(error, LlmError::ContextOverflow { .. }) {
            Self::TooLong { error, asked }
        } else {
            Self::Ended(Ended(TurnOutcome::from_llm_error(&error)))
        }
    }
}

impl From<Ended> for Unanswered {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

impl TurnTask {
    /// Asks the model with a conversation that fits; when it is too long all the same, makes it shorter
    /// and asks again.
    pub(super) async fn ask_within_window(
        &self,
        model: &ResolvedModel,
        room: &mut Room,
        conversation: &mut Conversation,
        offer: Offer,
    ) -> Result<Answer, Ended> {
        self.make_room(&room.policy, conversation).await?;
        let mut shortenings = 0;
        loop {
            let (error, asked) = match self.ask(model, conversation, offer).await {
                Ok(answer) => {
                    if let (Some(by_server), Offer::Tools) = (answer.prompt_tokens, offer) {
                        let counted = room.request(conversation);
                        self.deps.calibrations.observe(&model.model, counted, by_server);
                    }
                    return Ok(answer);
                }
                Err(Unanswered::Ended(ended)) => return Err(ended),
                Err(Unanswered::TooLong { error, asked }) => (error, asked),
            };
            let window = match &error {
                LlmError::ContextOverflow { limit_tokens, .. } => *limit_tokens,
                _ => None,
            };
            if let Some(window) = window.filter(|_| asked == model.model) {
                let base_url = model.provider.base_url();
                self.deps.models.learn_context_limit(base_url, &model.model, window);
            }
            if shortenings == MAX_SHORTENINGS || !self.shorten(room, window, conversation).await? {
                return Err(Ended(too_long(&error, room, conversation)));
            }
            shortenings += 1;
            tracing::warn!(shortenings, %error, "the conversation was too long and is made shorter");
        }
    }

    /// Makes the conversation fit the window, and the request shorter than it was by a quarter at least:
    /// what was refused may have looked as if it fitted. False when nothing can be left out.
    async fn shorten(
        &self,
        room: &mut Room,
        window: Option<u64>,
        conversation: &mut Conversation,
    ) -> Result<bool, Ended> {
        let sent = room.request(conversation);
        let most = (sent / 4 * 3).saturating_sub(room.fixed.tokens());
        *room = room.within(window, most);
        self.make_room(&room.policy, conversation).await
    }
}

/// The end of a turn whose conversation no window holds, with what it is mostly made of.
fn too_long(error: &LlmError, room: &Room, conversation: &Conversation) -> TurnOutcome {
    let report = error.report();
    let message =
        format!("{}. The request is mostly {}", report.message, room.largest(conversation));
    TurnOutcome::Failed { error: ErrorReport { message, ..report }, last: Vec::new() }
}
