//! Letting time do its work: what has aged moves, what is over ends, what was over for long is removed.

use std::collections::BTreeSet;

use agentd_domain::{MemoryChange, MemoryEdit, MemoryId, MemoryUpkeep, TimestampMs};
use agentd_store::Write;

use crate::MemoryError;
use crate::book::Drafting;
use crate::doubt::{ClockDoubt, looked, may_remove, vouched_for};
use crate::memories::{Memories, PAGE};

/// What a sweep has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Memories that aged.
    pub aged: usize,
    /// Memories that ended, those too that waited for a user for too long.
    pub ended: usize,
    /// Records of what had ended that were removed for good.
    pub removed: usize,
    /// Why nothing was done.
    pub doubt: Option<ClockDoubt>,
}

/// What a sweep would do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WouldSweep {
    /// The records that would age, as they are and would be.
    pub aging: Vec<MemoryEdit>,
    /// How many would end.
    pub ended: usize,
    /// How many would be removed for good.
    pub removed: usize,
}

impl Memories {
    /// Lets time do its work, unless the clock is in doubt.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn sweep(&self) -> Result<Swept, MemoryError> {
        self.load().await?;
        if let Some(doubt) = self.doubt() {
            return Ok(Swept { doubt: Some(doubt), ..Swept::default() });
        }
        let now = self.now();
        let mut is_new_day = false;
        self.note_upkeep(|upkeep| {
            if let Some(next) = looked(now, upkeep) {
                *upkeep = next;
                is_new_day = true;
            }
        })
        .await?;
        let mut swept = self.sweep_now().await?;
        if is_new_day {
            swept.removed = self.clear_away().await?;
        }
        Ok(swept)
    }

    /// The same on the word of somebody who says that the clock is right.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn sweep_by_hand(&self) -> Result<Swept, MemoryError> {
        let now = self.now();
        self.note_upkeep(|upkeep| *upkeep = vouched_for(now, upkeep)).await?;
        let mut swept = self.sweep_now().await?;
        swept.removed = self.clear_away().await?;
        Ok(swept)
    }

    /// What a [`Self::sweep`] at a time would do.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn would_sweep(&self, at: TimestampMs) -> Result<WouldSweep, MemoryError> {
        self.load().await?;
        let config = self.config();
        let drafting = Drafting { now: at, ids: &*self.0.ids, config: &config };
        Ok(self.read(|book| {
            let edits =
                |change: Option<MemoryChange>| change.map(|it| it.edits).unwrap_or_default();
            let ended = edits(book.expire(&drafting).change);
            let waited = book.end_waiting(&drafting).outcome;
            let mut aging = edits(book.age(&drafting).change);
            // What is over ends before it ages.
            aging.retain(|edit| ended.iter().all(|end| end.id() != edit.id()));
            let removed = book.outlived(at, config.keep_history_days, usize::MAX).len();
            WouldSweep { aging, ended: ended.len() + waited, removed }
        }))
    }

    /// Why the clock is in doubt; none when it is not.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn clock_doubt(&self) -> Result<Option<ClockDoubt>, MemoryError> {
        self.load().await?;
        Ok(self.doubt())
    }

    /// Carries out what was due before something else is done, so that it does not matter when the last
    /// sweep was.
    pub(super) async fn settle(&self) -> Result<(usize, usize), MemoryError> {
        self.load().await?;
        if self.doubt().is_some() {
            return Ok((0, 0));
        }
        let ended = self.change(|book, drafting| Ok(book.expire(drafting))).await?;
        let aged = self.change(|book, drafting| Ok(book.age(drafting))).await?;
        Ok((ended, aged))
    }

    async fn sweep_now(&self) -> Result<Swept, MemoryError> {
        let (ended, aged) = self.settle().await?;
        let waited = self.change(|book, drafting| Ok(book.end_waiting(drafting))).await?;
        Ok(Swept { aged, ended: ended + waited, ..Swept::default() })
    }

    /// Removes for good what was kept for long enough. Once a day: it reads the whole journal.
    async fn clear_away(&self) -> Result<usize, MemoryError> {
        let mut removed = 0;
        if self.read(|book| may_remove(self.now(), &book.upkeep)) {
            loop {
                let gone = self.remove_history().await?;
                removed += gone;
                if gone < PAGE {
                    break;
                }
            }
        }
        self.trim_journal().await?;
        Ok(removed)
    }

    /// Removes a page of what was kept as history for long enough, with what the journal says of it, in
    /// one commit. Returns how many records that were.
    async fn remove_history(&self) -> Result<usize, MemoryError> {
        let _alone = self.begin_change().await?;
        let (now, keep_days) = (self.now(), self.config().keep_history_days);
        let gone: BTreeSet<MemoryId> =
            self.read(|book| book.outlived(now, keep_days, PAGE)).into_iter().collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let mut writes: Vec<Write> = gone.iter().map(|id| Write::DeleteMemory(*id)).collect();
        let is_gone = |edit: &MemoryEdit| edit.id().is_some_and(|id| gone.contains(&id));
        let mut before = None;
        loop {
            let page = self.0.store.memory_changes(before, PAGE).await?;
            let Some(last) = page.last() else { break };
            before = Some(last.id);
            for mut change in page.into_iter().filter(|it| it.edits.iter().any(is_gone)) {
                change.edits.retain(|edit| !is_gone(edit));
                writes.push(if change.edits.is_empty() {
                    Write::DeleteMemoryChange(change.id)
                } else {
                    Write::PutMemoryChange(Box::new(change))
                });
            }
        }
        self.commit(writes, |book| gone.iter().for_each(|id| book.remove(Some(*id)))).await?;
        Ok(gone.len())
    }

    /// Changes what is known of the upkeep.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn note_upkeep(
        &self,
        change: impl FnOnce(&mut MemoryUpkeep),
    ) -> Result<(), MemoryError> {
        let _alone = self.begin_change().await?;
        let before = self.read(|book| book.upkeep.clone());
        let mut upkeep = before.clone();
        change(&mut upkeep);
        if upkeep == before {
            return Ok(());
        }
        let write = Write::PutMemoryUpkeep(Box::new(upkeep.clone()));
        self.commit(vec![write], |book| book.upkeep = upkeep).await
    }

    fn doubt(&self) -> Option<ClockDoubt> {
        let now = self.now();
        self.read(|book| ClockDoubt::at(now, &book.upkeep))
    }
}
