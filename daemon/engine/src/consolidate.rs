//! Bringing order into memories while no turn runs anywhere: what says the same becomes one, what was
//! contradicted gives way, what matters now rises, and what came up lately is summed up (spec b.4, b.8).
//!
//! What a model is asked counts for the budget of background work. Each step is whole before the next
//! begins, so that a run that is broken off goes on where it was.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{
    Consolidation, Event, EventBody, Memory, Seq, SessionRecord, TimestampMs, UsagePurpose,
};
use agentd_memory::consolidate::{
    COMPARE, LEAST_WEIGHED, MOST_VERDICT, Pair, WEIGH, pairs_text, parse_verdicts, parse_weights,
    weighed_text,
};
use agentd_memory::{MemoryError, Settled};
use agentd_store::{Batch, Write};

use crate::engine::Engine;
use crate::model::{ModelQuery, Role};
use crate::short_answer::{self, Asked};
use crate::usage::{Account, ledger};

/// How long nothing may have been said before the daemon counts as at rest.
const REST: Duration = Duration::from_secs(300);
/// Requests about pairs of one run.
const MOST_COMPARISONS: usize = 4;
/// Sessions whose titles say what was spoken of.
const TOPICS: usize = 20;

const NO_MODEL: &str = "there is no model, so that nothing was compared or weighed";
const NO_ANSWER: &str = "the model gave no answer, so that not all was compared or weighed";
const WRONG_ANSWER: &str =
    "an answer of the model was not what it was asked for, and changed nothing";

/// Whether a run gives way to turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    AtRest,
    AtOnce,
}

/// What a run would do.
#[derive(Debug, Clone, Default)]
pub struct WouldConsolidate {
    /// Memories that say the same: the older and the newer.
    pub duplicates: Vec<(Memory, Memory)>,
    /// What a model would be asked about first.
    pub pairs: Vec<Pair>,
    /// Memories that it would weigh.
    pub weighed: usize,
    /// Summaries that would be new.
    pub reflected: usize,
    /// There is a model to ask.
    pub has_model: bool,
}

impl Engine {
    /// Brings order into memories if it is time and the daemon is at rest. None: it is not, or a turn has
    /// begun meanwhile; the rest is done the next time.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn consolidate_if_due(&self) -> Result<Option<Consolidation>, MemoryError> {
        let Some(every) = self.deps().config.borrow().consolidate_every else { return Ok(None) };
        let memories = &self.deps().memories;
        let (upkeep, doubt) = (memories.upkeep().await?, memories.clock_doubt().await?);
        let now = self.deps().clock.now();
        let is_due = upkeep
            .consolidated
            .is_none_or(|last| u128::from(now.since(last.at)) >= every.as_millis());
        if !is_due || doubt.is_some() || !self.is_at_rest().await {
            return Ok(None);
        }
        let Ok(_alone) = self.consolidating().try_acquire() else { return Ok(None) };
        self.run_consolidation(Pace::AtRest).await
    }

    /// Brings order into memories now, whatever else is done.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn consolidate(&self) -> Result<Consolidation, MemoryError> {
        // Nobody closes the semaphore.
        let _alone = self.consolidating().acquire().await;
        Ok(self.run_consolidation(Pace::AtOnce).await?.unwrap_or_default())
    }

    /// What [`Self::consolidate`] would do. No model is asked.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn would_consolidate(&self) -> Result<WouldConsolidate, MemoryError> {
        let memories = &self.deps().memories;
        Ok(WouldConsolidate {
            duplicates: memories.duplicates().await?,
            pairs: memories.touching().await?.0,
            weighed: memories.to_weigh().await?.len(),
            reflected: memories.would_reflect().await?,
            has_model: self.has_model().await,
        })
    }

    async fn run_consolidation(&self, pace: Pace) -> Result<Option<Consolidation>, MemoryError> {
        let deps = self.deps();
        deps.spending.load(&*deps.store).await?;
        let mut run = Run {
            engine: self,
            pace,
            account: Arc::new(Account::new(Arc::clone(&deps.spending))),
            done: Consolidation::default(),
        };
        run.done.merged = small(deps.memories.merge_duplicates().await?);
        if !self.has_model().await {
            NO_MODEL.clone_into(&mut run.done.skipped);
        } else if run.compare().await? == Step::GaveWay || run.weigh().await? == Step::GaveWay {
            return Ok(None);
        }
        match deps.memories.reflect().await {
            Ok(count) => run.done.reflected = small(count),
            // Summaries are the first that can be done without.
            Err(MemoryError::Full { .. }) => {}
            Err(error) => return Err(error),
        }
        let done = Consolidation { at: deps.clock.now(), ..run.done };
        let last = done.clone();
        deps.memories.note_upkeep(|upkeep| upkeep.consolidated = Some(last)).await?;
        Ok(Some(done))
    }

    async fn has_model(&self) -> bool {
        let query = ModelQuery { role: Role::Cheap, ..ModelQuery::default() };
        self.deps().models.resolve(&query).await.is_ok_and(|model| !model.is_offline())
    }

    /// No turn runs or waits, and nothing was said just now.
    async fn is_at_rest(&self) -> bool {
        let stats = self.stats();
        if stats.running_turns > 0 || stats.waiting_turns > 0 || stats.queued_messages > 0 {
            return false;
        }
        let Ok(newest) = self.list(None, 1).await else { return false };
        let now = self.deps().clock.now();
        let rested = |record: &SessionRecord| u128::from(now.since(record.updated_at));
        newest.sessions.first().is_none_or(|record| rested(record) >= REST.as_millis())
    }

    /// The titles of the sessions in which something was said since a time, the newest first.
    async fn topics(&self, since: Option<TimestampMs>) -> Vec<String> {
        let Ok(page) = self.list(None, TOPICS).await else { return Vec::new() };
        let sessions = page.sessions.into_iter();
        let spoken = sessions.filter(|it| since.is_none_or(|since| it.updated_at > since));
        spoken.map(|it| it.title).filter(|title| !title.is_empty()).collect()
    }
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Done,
    /// A turn has begun.
    GaveWay,
}

/// A run under way.
struct Run<'a> {
    engine: &'a Engine,
    pace: Pace,
    account: Arc<Account>,
    done: Consolidation,
}

impl Run<'_> {
    /// Has pairs of memories compared that may be about one thing.
    async fn compare(&mut self) -> Result<Step, MemoryError> {
        let memories = &self.engine.deps().memories;
        for _request in 0..MOST_COMPARISONS {
            let before = memories.upkeep().await?.compared_through;
            let (pairs, through) = memories.touching().await?;
            if !pairs.is_empty() {
                if self.gives_way().await {
                    return Ok(Step::GaveWay);
                }
                let Some(answer) = self.ask(COMPARE, pairs_text(&pairs)).await? else {
                    return Ok(Step::Done);
                };
                self.done.compared += small(pairs.len());
                self.settle(&pairs, &answer).await?;
            }
            if through == before {
                break;
            }
            memories.note_upkeep(|upkeep| upkeep.compared_through = through).await?;
        }
        Ok(Step::Done)
    }

    async fn settle(&mut self, pairs: &[Pair], answer: &str) -> Result<(), MemoryError> {
        let Some(verdicts) = parse_verdicts(answer, pairs.len()) else {
            tracing::warn!("{WRONG_ANSWER}");
            WRONG_ANSWER.clone_into(&mut self.done.skipped);
            return Ok(());
        };
        for (at, verdict) in verdicts {
            let Some(pair) = pairs.get(at) else { continue };
            match self.engine.deps().memories.settle_pair(pair, verdict).await? {
                Settled::Merged => self.done.merged += 1,
                Settled::Superseded => self.done.superseded += 1,
                Settled::Proposed => self.done.proposed += 1,
                Settled::Nothing => {}
            }
        }
        Ok(())
    }

    /// Has memories weighed by what was spoken of lately.
    async fn weigh(&mut self) -> Result<Step, MemoryError> {
        let memories = &self.engine.deps().memories;
        let last = memories.upkeep().await?.consolidated;
        let topics = self.engine.topics(last.map(|last| last.at)).await;
        let offered = memories.to_weigh().await?;
        if topics.is_empty() || offered.len() < LEAST_WEIGHED || !self.done.skipped.is_empty() {
            return Ok(Step::Done);
        }
        if self.gives_way().await {
            return Ok(Step::GaveWay);
        }
        let Some(answer) = self.ask(WEIGH, weighed_text(&topics, &offered)).await? else {
            return Ok(Step::Done);
        };
        match parse_weights(&answer, &offered) {
            Some(wanted) => self.done.adjusted = small(memories.adjust(&wanted).await?),
            None => WRONG_ANSWER.clone_into(&mut self.done.skipped),
        }
        Ok(Step::Done)
    }

    async fn gives_way(&self) -> bool {
        self.pace == Pace::AtRest && !self.engine.is_at_rest().await
    }

    /// The model's answer; none when there is none in time or within the budget.
    async fn ask(
        &mut self,
        instructions: &str,
        text: String,
    ) -> Result<Option<String>, MemoryError> {
        let deps = self.engine.deps();
        let asked = Asked {
            model: "",
            instructions,
            text,
            purpose: UsagePurpose::Memory,
            most_bytes: MOST_VERDICT,
        };
        let limit = deps.config.borrow().extract_timeout;
        let asking = short_answer::ask(deps, &self.account, asked);
        let answer = tokio::time::timeout(limit, asking).await.ok().flatten();
        self.record_usage().await?;
        if answer.is_none() {
            NO_ANSWER.clone_into(&mut self.done.skipped);
        }
        Ok(answer)
    }

    /// Adds what was used to the ledger: it is in no session's log.
    async fn record_usage(&self) -> Result<(), MemoryError> {
        let deps = self.engine.deps();
        let at = deps.clock.now();
        let events: Vec<Event> = self
            .account
            .take()
            .into_iter()
            .filter_map(|(_purpose, body)| match body {
                EventBody::Notice(notice) => {
                    tracing::warn!(notice.text, "of work on memories");
                    None
                }
                body => Some(Event { seq: Seq::ZERO, at, turn_id: None, body }),
            })
            .collect();
        let writes: Vec<Write> = ledger::writes(&events).collect();
        if !writes.is_empty() {
            deps.store.commit(Batch::from(writes)).await?;
        }
        self.account.recorded();
        Ok(())
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
