//! Folding older turns into a summary that a model writes, away from the user's path.
//!
//! The log is read anew, so that nothing of it has to stay in memory for this. What the summary tells of turns
//! in short is written once more from the turns themselves. An answer that is not to be used costs
//! nothing but itself: then the summary is made without a model, as within a turn (`turn/fit.rs`).

use std::sync::Arc;

use agentd_context::{Conversation, Cut, Keep, MAX_SUMMARY_ANSWER, Policy, SUMMARY_INSTRUCTIONS};
use agentd_domain::{
    CompactionReason, ContextCompacted, EventBody, Seq, SessionId, SummaryLine, SummarySection,
    UsagePurpose,
};

use crate::model::{ModelQuery, ResolvedModel, Role};
use crate::room::Room;
use crate::roots::Roots;
use crate::session::{SessionDeps, SessionState, for_each_event};
use crate::short_answer::{self, Asked};
use crate::turn::project_document;
use crate::usage::Account;

/// Events that are read anew for the sake of a better summary.
const MAX_REREAD: u64 = 20_000;
/// Tokens that a model is shown at most.
const MAX_SHOWN: u64 = 24_000;
/// A summary that may have fewer tokens is not worth a request.
const LEAST_SUMMARY: u64 = 128;

/// Which part of a session is folded, and why.
#[derive(Debug, Clone)]
pub(crate) struct Folding {
    pub(crate) session_id: SessionId,
    query: ModelQuery,
    roots: Roots,
    context_from: Seq,
    recall_from: Seq,
    /// The event that the summary so far is from.
    pub(crate) base: Option<Seq>,
    pins: Vec<String>,
    pub(crate) reason: CompactionReason,
    /// Models have answered with nothing of use too often.
    pub(crate) without_model: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Folded {
    pub(crate) compacted: ContextCompacted,
    /// The conversation is below its thresholds now.
    pub(crate) is_enough: bool,
    /// A model was asked, and what it wrote is not used.
    pub(crate) model_failed: bool,
    /// What a request is mostly made of.
    pub(crate) largest: String,
}

/// Why nothing was folded.
#[derive(Debug)]
pub(crate) struct NotFolded {
    /// For people.
    pub(crate) why: String,
    /// A model was asked for nothing.
    pub(crate) is_failure: bool,
    /// What a request is mostly made of, when too much is left and none of it can be folded.
    pub(crate) too_much: Option<String>,
}

impl Folding {
    pub(crate) fn of(state: &SessionState, reason: CompactionReason, without_model: bool) -> Self {
        let record = &state.record;
        Self {
            session_id: record.session_id,
            query: ModelQuery {
                role: Role::Main,
                model: record.model.clone(),
                effort: record.effort,
            },
            roots: Roots::of(record),
            context_from: state.context_from,
            recall_from: match state.recall_from {
                Seq::ZERO => state.context_from,
                from => from.min(state.context_from),
            },
            base: state.summary,
            pins: state.pins.clone(),
            reason,
            without_model,
        }
    }

    /// The conversation as the next turn will find it, and the room for it.
    pub(crate) async fn look(
        &self,
        deps: &SessionDeps,
    ) -> Result<(Conversation, Room, ResolvedModel), NotFolded> {
        let failed = |why: String| NotFolded { why, is_failure: true, too_much: None };
        let model = deps.models.resolve(&self.query).await;
        let model = model.map_err(|error| failed(error.report().message))?;
        let config = deps.config.borrow().context;
        let calibration = deps.calibrations.of(&model.model);
        // A turn says what keeps it from being read.
        let project =
            project_document(deps, &self.roots, model.context_tokens).await.ok().flatten();
        let project = project.as_ref().map(|project| project.text.as_str());
        let room = Room::of(config, &model, calibration, &self.roots, &deps.tools, project).await;
        let mut conversation = Conversation::default();
        conversation.count_by(room.counter);
        let id = self.session_id;
        let read = for_each_event(&*deps.store, id, self.recall_from, |event| {
            conversation.apply(event);
        });
        read.await.map_err(|error| failed(error.to_string()))?;
        conversation.pins_otherwise(self.pins.clone());
        Ok((conversation, room, model))
    }

    /// The same with the turns that the summary tells of in short read anew. None when there are none,
    /// or too many.
    async fn reread(&self, deps: &SessionDeps, live: &Conversation) -> Option<Conversation> {
        let is_short = |line: &&SummaryLine| line.section == SummarySection::Turns;
        let (short, lines): (Vec<&SummaryLine>, Vec<&SummaryLine>) =
            live.summary_lines().iter().partition(is_short);
        let from = short.iter().flat_map(|line| &line.from).map(|range| range.first).min()?;
        let from = from.min(self.context_from);
        let first = from.min(self.recall_from);
        if self.context_from.0.saturating_sub(first.0) > MAX_REREAD {
            return None;
        }
        let mut whole = Conversation::default();
        whole.count_by(live.counter());
        let read = for_each_event(&*deps.store, self.session_id, first, |event| {
            let is_cut =
                matches!(event.body, EventBody::ContextTrimmed(_) | EventBody::ContextCompacted(_));
            if !is_cut {
                whole.apply(event);
            }
        });
        if let Err(error) = read.await {
            tracing::warn!(%error, "folded turns could not be read again");
            return None;
        }
        whole.pins_otherwise(self.pins.clone());
        let lines = lines.into_iter().cloned().collect();
        whole.begin_at(from, self.recall_from, lines, live.untold_turns());
        Some(whole)
    }
}

/// Folds, with a model where there is one.
pub(crate) async fn fold(
    deps: Arc<SessionDeps>,
    folding: Folding,
    account: Arc<Account>,
) -> Result<Folded, NotFolded> {
    let (live, room, model) = folding.look(&deps).await?;
    let policy = &room.policy;
    let keep = match folding.reason {
        CompactionReason::Asked | CompactionReason::Rested => Keep::Turns(1),
        CompactionReason::Turns => Keep::Turns(policy.turns.map_or(1, |turns| turns.keep)),
        CompactionReason::Window => Keep::Tokens(policy.keep_tokens()),
        CompactionReason::Rewritten => Keep::Turns(live.turns()),
    };
    let cut = live.cut(policy, keep);
    let is_too_much = cut.is_none() && folding.reason == CompactionReason::Window;
    let too_much = is_too_much.then(|| room.largest(&live));
    if cut.is_none() && !live.has_extract() {
        return Err(NotFolded {
            why: "there is only the newest turn, which stays whole".to_owned(),
            is_failure: false,
            too_much,
        });
    }
    let mut model_failed = false;
    if !folding.without_model && !model.is_offline() && policy.summary >= LEAST_SUMMARY {
        match by_model(&deps, &folding, &account, (&live, cut.as_ref()), policy).await {
            Some(Ok(compacted)) => return Ok(folded(compacted, &room, &live, false)),
            Some(Err(())) => model_failed = true,
            None => {}
        }
    }
    let not_better = || NotFolded {
        why: "no model wrote a summary that could be used; see the log".to_owned(),
        // What could not be read anew cannot be after the next turn either.
        is_failure: model_failed || folding.reason == CompactionReason::Rewritten,
        too_much,
    };
    let cut =
        cut.filter(|_| folding.reason != CompactionReason::Rewritten).ok_or_else(not_better)?;
    let compacted = live.extract(policy, &cut, folding.reason);
    if compacted.tokens_after >= compacted.tokens_before {
        return Err(NotFolded {
            why: format!("a summary would be no shorter than the turns: {}", room.largest(&live)),
            is_failure: model_failed,
            too_much: None,
        });
    }
    Ok(folded(compacted, &room, &live, model_failed))
}

fn folded(
    compacted: ContextCompacted,
    room: &Room,
    live: &Conversation,
    model_failed: bool,
) -> Folded {
    let is_enough = compacted.tokens_after <= room.policy.trim_above;
    Folded { is_enough, model_failed, largest: room.largest(live), compacted }
}

/// Asks a model. None when there is nothing to ask it; an error when it answered with nothing of use.
async fn by_model(
    deps: &SessionDeps,
    folding: &Folding,
    account: &Arc<Account>,
    (live, cut): (&Conversation, Option<&Cut>),
    policy: &Policy,
) -> Option<Result<ContextCompacted, ()>> {
    let query = ModelQuery { role: Role::Cheap, ..folding.query.clone() };
    let cheap = deps.models.resolve(&query).await.ok().filter(|model| !model.is_offline())?;
    let most_shown = MAX_SHOWN.min(cheap.context_tokens / 2);
    let whole = folding.reread(deps, live).await;
    let told_short = whole.as_ref().map_or(0, |whole| whole.turns_before(folding.context_from));
    let source = whole.as_ref().unwrap_or(live);
    let kept = live.turns() - u32::try_from(cut.map_or(0, Cut::turns)).unwrap_or(u32::MAX);
    let cut = source.cut(policy, Keep::Turns(kept))?;
    let asked = source.summary_request(&cut, folding.reason, most_shown)?;
    let answer = short_answer::ask(
        deps,
        account,
        Asked {
            model: &folding.query.model,
            instructions: SUMMARY_INSTRUCTIONS,
            text: asked.text.clone(),
            purpose: UsagePurpose::Compaction,
            most_bytes: MAX_SUMMARY_ANSWER,
        },
    );
    let limit = deps.config.borrow().summary_timeout;
    let Ok(Some(answer)) = tokio::time::timeout(limit, answer).await else {
        tracing::warn!(session_id = %folding.session_id, "no summary was written");
        return Some(Err(()));
    };
    match source.summary_answer(policy, &asked, &answer, &cheap.model) {
        Ok(mut compacted) => {
            compacted.folded_turns = compacted.folded_turns.saturating_sub(told_short);
            // Nothing is left out of what was read anew.
            compacted.tokens_before = live.tokens();
            compacted.tokens_after = live.tokens_with(&compacted);
            Some(Ok(compacted))
        }
        Err(error) => {
            tracing::warn!(session_id = %folding.session_id, %error, "a summary is not used");
            Some(Err(()))
        }
    }
}
