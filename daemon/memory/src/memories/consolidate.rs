//! The steps of bringing order into memories at rest. Each is whole or has not happened, so that whoever
//! is stopped between two goes on where he was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agentd_domain::{
    Memory, MemoryAuthor, MemoryChangeKind, MemoryId, MemoryMark, MemoryStatus, MemoryUpkeep,
    TimestampMs,
};

use crate::MemoryError;
use crate::book::{Alike, Book, Draft, is_by_user};
use crate::consolidate::{MOST_PAIRS, MOST_WEIGHED, Pair, Verdict};
use crate::memories::{Memories, PAGE};
use crate::vectors::text_hash;

/// Memories whose vectors are compared with all others at once, and how often in one run: readers wait for
/// the one, a run looks at as many by their vectors as by their words.
const NEAR_AT_ONCE: usize = 20;
const NEAR_LOOKS: usize = 10;

/// What came of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Two memories are one.
    Merged,
    /// The newer holds in place of the older.
    Superseded,
    /// That is proposed, and waits for a user.
    Proposed,
    /// Both hold.
    Nothing,
}

impl Memories {
    /// What is known of the upkeep.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn upkeep(&self) -> Result<MemoryUpkeep, MemoryError> {
        self.load().await?;
        Ok(self.read(|book| book.upkeep.clone()))
    }

    /// Memories that say the same, by their words or to a model, among those that changed since this was
    /// last done: the older and the newer.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn duplicates(&self) -> Result<Vec<(Memory, Memory)>, MemoryError> {
        self.load().await?;
        let config = self.config();
        let drafting = self.drafting(&config);
        let (by_words, first) = self.read(|book| {
            let alike = book.duplicates(&drafting, book.upkeep.merged_through);
            (alike.pairs, book.upkeep.nearness_through)
        });
        let mut taken: BTreeSet<MemoryId> = by_words.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let mut pairs = by_words;
        let mut after = first;
        for _look in 0..NEAR_LOOKS {
            let near = self.near_duplicates(after);
            for (a, b) in near.pairs {
                if !taken.contains(&a) && !taken.contains(&b) {
                    taken.extend([a, b]);
                    pairs.push((a, b));
                }
            }
            if near.through == after {
                break;
            }
            after = near.through;
            tokio::task::yield_now().await;
        }
        Ok(self.read(|book| pairs.into_iter().filter_map(|pair| both(book, pair)).collect()))
    }

    /// Makes those one. Returns how many pairs that were.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn merge_duplicates(&self) -> Result<usize, MemoryError> {
        self.settle().await?;
        let config = self.config();
        let alike = {
            let drafting = self.drafting(&config);
            self.read(|book| book.duplicates(&drafting, book.upkeep.merged_through))
        };
        let mut merged = self.merge_pairs(alike.pairs).await?;
        if self.read(|book| book.upkeep.merged_through) != alike.through {
            self.note_upkeep(|upkeep| upkeep.merged_through = alike.through).await?;
        }
        for _look in 0..NEAR_LOOKS {
            let after = self.read(|book| book.upkeep.nearness_through);
            let near = self.near_duplicates(after);
            merged += self.merge_pairs(near.pairs).await?;
            if near.through == after {
                break;
            }
            self.note_upkeep(|upkeep| upkeep.nearness_through = near.through).await?;
        }
        Ok(merged)
    }

    async fn merge_pairs(&self, pairs: Vec<(MemoryId, MemoryId)>) -> Result<usize, MemoryError> {
        let mut merged = 0;
        for pair in pairs {
            match self.change(|book, drafting| book.merge_pair(drafting, pair)).await {
                Ok(is_merged) => merged += usize::from(is_merged),
                Err(MemoryError::CriticalPinned { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(merged)
    }

    /// Memories that the model takes for the same, among a few of those that changed after `after`; none
    /// and no further while there is no model that is known.
    fn near_duplicates(&self, after: Option<MemoryMark>) -> Alike {
        let Some((model, scales)) =
            self.model().and_then(|it| Some((Arc::clone(&it), it.scales()?)))
        else {
            return Alike { pairs: Vec::new(), through: after };
        };
        let config = self.config();
        let drafting = self.drafting(&config);
        self.read(|book| {
            // What it does not read is not compared, and what it refuses gets no vector.
            book.near_duplicates(&drafting, after, NEAR_AT_ONCE, |it| {
                scales.of(&it.content).is_none() || model.refuses(it.id, text_hash(it))
            })
        })
    }

    /// Pairs of memories that may be about one thing, among those that changed since they were last
    /// compared, and how far that is once all of them are settled.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn touching(&self) -> Result<(Vec<Pair>, Option<MemoryMark>), MemoryError> {
        self.load().await?;
        let now = self.now();
        let (pairs, through) = self.read(|book| {
            let alike = book.touching(now, book.upkeep.compared_through, MOST_PAIRS);
            let pairs: Vec<(Memory, Memory)> =
                alike.pairs.into_iter().filter_map(|pair| both(book, pair)).collect();
            (pairs, alike.through)
        });
        let texts = self.text_changes(&pairs).await?;
        let pairs = pairs.into_iter().map(|(a, b)| {
            let said = |it: &Memory| {
                let (at, by_user) = texts.get(&it.id).copied().unwrap_or_default();
                let at = at.map_or(it.created_at, |at| at.max(it.created_at));
                (at, is_by_user(it) || by_user)
            };
            let ((a_at, a_by_user), (b_at, b_by_user)) = (said(&a), said(&b));
            let (older, newer, is_by_user) =
                if b_at < a_at { (b, a, b_by_user) } else { (a, b, a_by_user) };
            Pair { older, newer, is_by_user }
        });
        Ok((pairs.collect(), through))
    }

    /// Does what a verdict on a pair says, if both are still as they were. What a person wrote or pinned
    /// holds until a person says otherwise.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn settle_pair(&self, pair: &Pair, verdict: Verdict) -> Result<Settled, MemoryError> {
        let Pair { older, newer, is_by_user } = pair;
        let ids = (older.id, newer.id);
        let as_seen = |book: &Book| {
            [older, newer].into_iter().all(|seen| {
                book.get(seen.id).is_some_and(|now| {
                    now.content == seen.content && now.pinned == seen.pinned && now.is_active()
                })
            })
        };
        let (wanted, needs_user) = match verdict {
            Verdict::BothHold => return Ok(Settled::Nothing),
            Verdict::Same => (Settled::Merged, false),
            Verdict::NewerReplaces if older.pinned || *is_by_user => (Settled::Proposed, true),
            Verdict::NewerReplaces => (Settled::Superseded, false),
        };
        let done = self
            .change(|book, drafting| {
                if !as_seen(book) {
                    return Ok(Draft { change: None, outcome: false });
                }
                match (verdict, needs_user) {
                    (Verdict::Same, _) => book.merge_pair(drafting, ids),
                    (_, true) => book.propose(drafting, ids),
                    (_, false) => Ok(book.replace_by_newer(drafting, ids)),
                }
            })
            .await;
        match done {
            Ok(true) => Ok(wanted),
            // Where no more may wait, it is not proposed; where all critical ones are pinned, both stay.
            Ok(false) | Err(MemoryError::Full { .. } | MemoryError::CriticalPinned { .. }) => {
                Ok(Settled::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// What a model may weigh, at most as many as it is shown.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn to_weigh(&self) -> Result<Vec<Memory>, MemoryError> {
        self.load().await?;
        let now = self.now();
        Ok(self.read(|book| book.to_weigh(now, MOST_WEIGHED).into_iter().cloned().collect()))
    }

    /// Sums up what came up lately. Returns how many summaries are new.
    ///
    /// # Errors
    /// When there is no room, or the store fails.
    pub async fn reflect(&self) -> Result<usize, MemoryError> {
        self.change(Book::reflect).await
    }

    /// How many summaries that would be.
    ///
    /// # Errors
    /// When there is no room, or the store cannot be read.
    pub async fn would_reflect(&self) -> Result<usize, MemoryError> {
        self.load().await?;
        let config = self.config();
        let drafting = self.drafting(&config);
        Ok(self.read(|book| book.reflect(&drafting))?.outcome)
    }

    /// When the texts of memories were last changed, as far as the journal tells, and whether by a person:
    /// theirs, or those that became part of them.
    async fn text_changes(
        &self,
        pairs: &[(Memory, Memory)],
    ) -> Result<BTreeMap<MemoryId, (Option<TimestampMs>, bool)>, MemoryError> {
        let mut found: BTreeMap<MemoryId, (Option<TimestampMs>, bool)> = BTreeMap::new();
        // What became part of which of them.
        let mut parts: BTreeMap<MemoryId, MemoryId> = BTreeMap::new();
        if pairs.is_empty() {
            return Ok(found);
        }
        let is_wanted = |id: MemoryId| pairs.iter().any(|(a, b)| a.id == id || b.id == id);
        let mut before = None;
        loop {
            let page = self.0.store.memory_changes(before, PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            before = Some(last.id);
            for change in page {
                // What was taken back was not said.
                if change.undone_by.is_some() {
                    continue;
                }
                let by_user = matches!(change.author, MemoryAuthor::User { .. });
                for edit in change.edits {
                    let (old, Some(new)) = (edit.before, edit.after) else { continue };
                    if let MemoryStatus::Merged { into } = new.status {
                        let whole = parts.get(&into).copied();
                        let whole = whole.or_else(|| is_wanted(into).then_some(into));
                        parts.extend(whole.map(|whole| (new.id, whole)));
                    }
                    // What was merged was said at other times.
                    let is_said = change.kind == MemoryChangeKind::Edited
                        && old.is_some_and(|old| old.content != new.content);
                    if !is_said {
                        continue;
                    }
                    if is_wanted(new.id) {
                        let entry = found.entry(new.id).or_default();
                        entry.0 = entry.0.or(Some(change.at));
                        entry.1 |= by_user;
                    } else if let Some(whole) = parts.get(&new.id) {
                        found.entry(*whole).or_default().1 |= by_user;
                    }
                }
            }
        }
    }
}

fn both(book: &Book, (a, b): (MemoryId, MemoryId)) -> Option<(Memory, Memory)> {
    Some((book.get(a)?.clone(), book.get(b)?.clone()))
}
