//! Making the conversation fit its room, before each request.
//!
//! What is done here needs no model, so that no turn waits for a summary: parts of older turns are left
//! out, then older turns are folded, then parts of this one are left out. Between turns a model writes a
//! better summary (`compact.rs`).

use agentd_context::{Conversation, Keep, Policy, Trimmed};
use agentd_domain::{CompactionReason, ContextTrimmed, EventBody, TimestampMs};

use super::{Ended, TurnReport, TurnTask};
use crate::model::ResolvedModel;
use crate::room::Room;

impl TurnTask {
    /// How much room the model leaves for the conversation.
    pub(super) async fn room(&self, model: &ResolvedModel) -> Room {
        let config = self.deps.config.borrow().context;
        let calibration = self.deps.calibrations.of(&model.model);
        let project = self.project.as_ref().map(|project| project.text.as_str());
        Room::of(config, model, calibration, &self.roots, &self.deps.tools, project).await
    }

    /// Leaves out and folds what is above the thresholds. False when nothing was.
    pub(super) async fn make_room(
        &self,
        policy: &Policy,
        conversation: &mut Conversation,
    ) -> Result<bool, Ended> {
        let mut changed = false;
        if let Some(trimmed) = conversation.trim(policy) {
            self.record_steps(vec![trimmed_event(trimmed)]).await?;
            changed = true;
        }
        if conversation.tokens() > policy.compact_above {
            let keep = Keep::Tokens(policy.keep_tokens());
            changed |= self.fold(policy, conversation, keep, CompactionReason::Window).await?;
        }
        if conversation.tokens() > policy.compact_above
            && let Some(trimmed) = conversation.squeeze(policy)
        {
            self.record_steps(vec![trimmed_event(trimmed)]).await?;
            changed = true;
        }
        Ok(changed)
    }

    /// A session that has rested for long begins again with its summary and its last turn.
    pub(super) async fn fold_if_rested(
        &self,
        policy: &Policy,
        conversation: &mut Conversation,
    ) -> Result<(), Ended> {
        let now = self.deps.clock.now();
        let rested = |since: TimestampMs, after: std::time::Duration| {
            u128::from(now.since(since)) >= after.as_millis()
        };
        if let Some(after) = policy.config.rested_after
            && let Some(since) = conversation.rested_since()
            && rested(since, after)
        {
            // The turn that begins, and the one before.
            let keep = Keep::Turns(2);
            self.fold(policy, conversation, keep, CompactionReason::Rested).await?;
        }
        Ok(())
    }

    async fn fold(
        &self,
        policy: &Policy,
        conversation: &mut Conversation,
        keep: Keep,
        reason: CompactionReason,
    ) -> Result<bool, Ended> {
        let Some(cut) = conversation.cut(policy, keep) else { return Ok(false) };
        let compacted = conversation.extract(policy, &cut, reason);
        let is_shorter = compacted.tokens_after < compacted.tokens_before;
        if !is_shorter && conversation.tokens() <= policy.compact_above {
            return Ok(false);
        }
        // What users pinned is told whatever it takes.
        if !is_shorter && conversation.pins().is_empty() {
            // So small a window has no room for a summary.
            let trimmed = conversation.leave_out(&cut);
            self.record_steps(vec![trimmed_event(trimmed)]).await?;
            return Ok(true);
        }
        self.record_steps(vec![compacted.clone().into()]).await?;
        conversation.compacted(&compacted);
        Ok(true)
    }

    /// Asks for a summary by a model once the turn is over, if there is enough to fold.
    pub(super) async fn fold_after(
        &self,
        model: &ResolvedModel,
        room: &Room,
        conversation: &Conversation,
    ) -> Result<(), Ended> {
        let policy = &room.policy;
        let too_many = policy.turns.is_some_and(|turns| conversation.turns() > turns.above);
        let reason = if conversation.tokens() > policy.trim_above {
            CompactionReason::Window
        } else if too_many {
            CompactionReason::Turns
        } else if conversation.has_extract() && !model.is_offline() {
            CompactionReason::Rewritten
        } else {
            return Ok(());
        };
        self.report(TurnReport::FoldAfter(reason)).await
    }
}

fn trimmed_event(Trimmed { first_kept, dropped, steps }: Trimmed) -> EventBody {
    ContextTrimmed { first_kept_seq: first_kept, dropped_tokens: dropped, steps }.into()
}
