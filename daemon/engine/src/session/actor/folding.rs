//! When older turns are folded with a model: after a turn that left too much, or when users ask for it.
//!
//! One at a time, and never while it would be of no use: after two answers that could not be used models
//! are left alone for a while, and when folding has twice not freed enough, users are told what a request
//! is mostly made of (case CO-01).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agentd_domain::{CompactionReason, ContextCompacted, Notice, NoticeLevel, Seq, SummaryMethod};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::{Actor, Made};
use crate::compact::{self, Folded, Folding, NotFolded};
use crate::error::CommandError;
use crate::session::Reply;
use crate::session::decide::Draft;

/// Fruitless tries in a row after which there are no more.
const MOST_FRUITLESS: u32 = 2;
/// Turns after which a model is asked again that wrote nothing of use.
const PAUSE_TURNS: u32 = 20;

/// What users who asked for folding are answered.
#[derive(Debug, Clone)]
pub enum Compaction {
    /// It was done.
    Done(Box<ContextCompacted>),
    /// It was not.
    Nothing {
        /// Why.
        why: String,
    },
}

/// What came of folding, and the event that the summary before was from.
pub(crate) type Outcome = (Option<Seq>, Result<Folded, NotFolded>);

/// The folding of one session.
#[derive(Debug, Default)]
pub(super) struct FoldingState {
    /// Why there is to be one after the turn.
    due: Option<CompactionReason>,
    runs: bool,
    /// What has come of it while a turn ran.
    held: Option<Outcome>,
    /// Who waits for it.
    waiting: Vec<Reply<Compaction>>,
    /// Answers in a row that could not be used.
    unusable: u32,
    /// Turns since the last of them.
    turns_since: u32,
    /// Times in a row that it did not free enough.
    fruitless: u32,
    /// What users were told then; empty: nothing.
    stopped: String,
}

impl FoldingState {
    /// Why folding has stopped for now; empty: it has not.
    pub(super) fn stopped(&self) -> &str {
        &self.stopped
    }

    fn begin_anew(&mut self) {
        (self.unusable, self.fruitless) = (0, 0);
        self.stopped.clear();
    }
}

impl Actor {
    /// The running turn has left much.
    pub(super) fn fold_after(&mut self, reason: CompactionReason) {
        self.folding.due = Some(reason);
    }

    /// Begins what is due, or records what has come of it meanwhile.
    pub(super) async fn fold_now(&mut self) {
        self.folding.turns_since = self.folding.turns_since.saturating_add(1);
        if self.folding.turns_since >= PAUSE_TURNS {
            self.folding.unusable = 0;
        }
        if let Some(outcome) = self.folding.held.take() {
            self.record_folded(outcome).await;
        }
        let Some(reason) = self.folding.due.take() else { return };
        let without_model = self.folding.unusable >= MOST_FRUITLESS;
        let is_of_use = match reason {
            CompactionReason::Rewritten => !without_model,
            _ => self.folding.fruitless < MOST_FRUITLESS,
        };
        if is_of_use && !self.folding.runs && !self.stopping {
            self.look_before_folding();
            self.start_folding(reason, without_model);
        }
    }

    fn start_folding(&mut self, reason: CompactionReason, without_model: bool) {
        self.folding.runs = true;
        let folding = Folding::of(&self.state, reason, without_model);
        let (deps, account, base) =
            (Arc::clone(&self.deps), Arc::clone(&self.account), folding.base);
        let span = tracing::info_span!(parent: None, "compaction", session_id = %self.id);
        let folded = AssertUnwindSafe(compact::fold(deps, folding, account)).catch_unwind();
        let folded = async move {
            let broke_off = |_panic| {
                tracing::error!("folding panicked");
                let why = "it broke off because of a fault in agentd; see the log".to_owned();
                Err(NotFolded { why, is_failure: true, too_much: None })
            };
            Made::Folded(Box::new((base, folded.await.unwrap_or_else(broke_off))))
        };
        self.background.spawn(folded.instrument(span));
    }

    /// Users ask for it.
    pub(super) fn compact(&mut self, reply: Reply<Compaction>) {
        if self.running.is_some() || self.state.turn.is_some() {
            let _left = reply.send(Err(CommandError::TurnOpen(self.id)));
            return;
        }
        self.folding.begin_anew();
        self.folding.waiting.push(reply);
        if !self.folding.runs {
            self.start_folding(CompactionReason::Asked, false);
        }
    }

    /// It is over.
    pub(super) async fn on_folded(&mut self, outcome: Outcome) {
        self.folding.runs = false;
        if self.running.is_some() {
            // The turn's requests are made already.
            self.folding.held = Some(outcome);
        } else {
            self.record_folded(outcome).await;
        }
    }

    async fn record_folded(&mut self, (base, outcome): Outcome) {
        let answer = match outcome {
            // What the turn has folded meanwhile is newer.
            Ok(_) if base != self.state.summary => {
                Ok(Compaction::Nothing { why: "a turn has folded turns meanwhile".to_owned() })
            }
            Ok(folded) => self.record_compacted(folded).await,
            Err(NotFolded { why, is_failure, too_much }) => {
                if is_failure {
                    self.unusable();
                }
                let notice = too_much.and_then(|largest| self.not_enough(&largest));
                if let Some(notice) = notice
                    && let Err(error) = self.record(vec![notice], Vec::new()).await
                {
                    tracing::warn!(session_id = %self.id, %error, "a notice could not be stored");
                }
                Ok(Compaction::Nothing { why })
            }
        };
        for reply in std::mem::take(&mut self.folding.waiting) {
            let answer = match &answer {
                Ok(compaction) => Ok(compaction.clone()),
                Err(error) => Err(crate::session::load::same_error(error, self.id)),
            };
            let _left = reply.send(answer);
        }
    }

    async fn record_compacted(&mut self, folded: Folded) -> Result<Compaction, CommandError> {
        let Folded { compacted, is_enough, model_failed, largest } = folded;
        let mut drafts = vec![Draft { turn_id: None, body: compacted.clone().into() }];
        if model_failed {
            self.unusable();
        }
        if is_enough {
            self.folding.fruitless = 0;
            self.folding.stopped.clear();
        } else {
            drafts.extend(self.not_enough(&largest));
        }
        if compacted.method == SummaryMethod::Model {
            self.folding.unusable = 0;
        }
        self.record(drafts, Vec::new()).await?;
        Ok(Compaction::Done(Box::new(compacted)))
    }

    /// Notes that too much is left; the second time in a row users are told.
    fn not_enough(&mut self, largest: &str) -> Option<Draft> {
        self.folding.fruitless += 1;
        if self.folding.fruitless != MOST_FRUITLESS {
            return None;
        }
        self.folding.stopped = format!(
            "folding older turns does not free enough room: the next request is mostly {largest}"
        );
        let text = format!(
            "{}; a model with a larger window, fewer tools or a shorter project document would help",
            self.folding.stopped
        );
        Some(Draft::plain(Notice { level: NoticeLevel::Warn, text }))
    }

    fn unusable(&mut self) {
        self.folding.unusable += 1;
        self.folding.turns_since = 0;
    }

    /// What the turns of the session would be made of.
    pub(super) fn folding_view(&self) -> (Folding, String) {
        let folding = Folding::of(&self.state, CompactionReason::Asked, false);
        (folding, self.folding.stopped().to_owned())
    }
}
