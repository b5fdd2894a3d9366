//! Asking a model whose window the conversation may exceed.
//!
//! Windows are not always known and token counts are estimates, so a provider may refuse what should
//! have fitted. Then older turns are left out, and if the newest turn alone is too long, the middle of
//! what its tools put out; then the model is asked again. This happens a few times at most.

use agentd_domain::ContextTrimmed;
use agentd_llm::LlmError;

use super::ask::{Answer, Offer};
use super::prompt::fixed_tokens;
use super::{Conversation, Ended, TurnOutcome, TurnReport, TurnTask};
use crate::model::ResolvedModel;

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
    /// Asks the model; when the conversation is too long for it, makes it shorter and asks again.
    pub(super) async fn ask_within_window(
        &self,
        model: &ResolvedModel,
        conversation: &mut Conversation,
        offer: Offer,
    ) -> Result<Answer, Ended> {
        let mut shortenings = 0;
        loop {
            let (error, asked) = match self.ask(model, conversation, offer).await {
                Ok(answer) => return Ok(answer),
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
            if shortenings == MAX_SHORTENINGS || !self.shorten(model, window, conversation).await? {
                return Err(Ended(TurnOutcome::from_llm_error(&error)));
            }
            shortenings += 1;
            tracing::warn!(shortenings, %error, "the conversation was too long and is made shorter");
        }
    }

    /// Makes the conversation fit the window, and shorter than it was by a quarter at least: what was
    /// refused may have looked as if it fitted. False when nothing can be left out.
    async fn shorten(
        &self,
        model: &ResolvedModel,
        window: Option<u64>,
        conversation: &mut Conversation,
    ) -> Result<bool, Ended> {
        let sent = fixed_tokens(&self.roots, &self.deps.tools) + conversation.tokens();
        let window = window.unwrap_or(model.context_tokens);
        let most = (sent / 4 * 3).saturating_sub(sent - conversation.tokens());
        let budget = self.budget(model, window).min(most);
        let trimmed = conversation.trim(budget);
        if let Some((first_kept_seq, dropped_tokens)) = trimmed {
            let trimmed = ContextTrimmed { first_kept_seq, dropped_tokens, steps: Vec::new() };
            self.record_steps(vec![trimmed.into()]).await?;
            self.report(TurnReport::Forget).await?;
        }
        let shortened = conversation.shorten_outputs(budget);
        if shortened {
            self.account.prefix_changes_in_turn();
        }
        Ok(shortened || trimmed.is_some())
    }

    /// Tokens that the conversation may have in a window: beside instructions, tools and the answer.
    pub(super) fn budget(&self, model: &ResolvedModel, window: u64) -> u64 {
        let fixed = fixed_tokens(&self.roots, &self.deps.tools);
        let answer = u64::from(model.max_output_tokens.unwrap_or(0)).max(window / 8);
        window.saturating_sub(fixed + answer.min(window / 2))
    }
}
