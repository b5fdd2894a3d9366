//! Finding memories: by what was said, and by a question.

use std::cmp::Reverse;

use agentd_domain::{
    Memory, MemoryCategory, MemoryPriority, MemoryScope, MemoryStatus, TimestampMs,
};

use agentd_search::Question;

use crate::book::{Book, Meaning, holds};
use crate::config::SelectConfig;
use crate::select::{Candidate, Card, Chosen, NOTHING_SAID, UNRELATED, score, select};

/// Which memories are wanted. What is empty wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Words to find, ranked by how well they fit.
    pub text: String,
    /// In one of these scopes.
    pub scopes: Vec<MemoryScope>,
    /// Of one of these states, by name; empty: those that hold.
    pub statuses: Vec<&'static str>,
    /// Of this kind.
    pub category: Option<MemoryCategory>,
    /// Of this tier.
    pub priority: Option<MemoryPriority>,
    /// With all these tags.
    pub tags: Vec<String>,
    /// At least this important.
    pub min_importance: u8,
}

impl Filter {
    fn wants(&self, memory: &Memory) -> bool {
        let status = memory.status.name();
        let is_of_status = if self.statuses.is_empty() {
            memory.status == MemoryStatus::Active
        } else {
            self.statuses.contains(&status)
        };
        is_of_status
            && (self.scopes.is_empty() || self.scopes.contains(&memory.scope))
            && self.category.is_none_or(|category| category == memory.category)
            && self.priority.is_none_or(|priority| priority == memory.priority)
            && self.tags.iter().all(|tag| memory.tags.contains(&tag.to_lowercase()))
            && memory.importance >= self.min_importance
    }
}

impl Book {
    /// The memories that are told when `said` was said last in a session with these scopes.
    pub(crate) fn select(
        &self,
        scopes: &[MemoryScope],
        said: &str,
        meaning: Option<&Meaning>,
        now: TimestampMs,
        config: &SelectConfig,
    ) -> Vec<Chosen> {
        let mut told = vec![false; self.shelf.places()];
        for (place, _card) in self.shelf.cards(scopes).filter(|(_, card)| card.holds(now)) {
            if let Some(told) = told.get_mut(place) {
                *told = true;
            }
        }
        let is_told = |place: u32| told.get(place as usize) == Some(&true);
        let related = self.relevance(said, meaning, is_told);
        let pool =
            self.shelf.cards(scopes).filter(|(_, card)| card.holds(now)).map(|(place, card)| {
                let relevance = match &related {
                    None => NOTHING_SAID,
                    Some(related) => {
                        related.get(place).copied().unwrap_or(UNRELATED).max(UNRELATED)
                    }
                };
                Candidate { card, relevance }
            });
        select(pool, now, config)
    }

    /// The memories that are wanted, at most `limit`, and how many there are in all: the best first
    /// where words are asked for, else by tier and last use (spec b.1.3). With their scores, 0 to 1; 1
    /// without words.
    pub(crate) fn find(
        &self,
        filter: &Filter,
        meaning: Option<&Meaning>,
        now: TimestampMs,
        limit: usize,
    ) -> (Vec<(f32, &Memory)>, usize) {
        let mut wanted = vec![false; self.shelf.places()];
        for (place, memory) in self.shelf.records() {
            if let Some(wanted) = wanted.get_mut(place) {
                *wanted = filter.wants(memory);
            }
        }
        let is_wanted = |place: u32| wanted.get(place as usize) == Some(&true);
        let related = self.relevance(&filter.text, meaning, is_wanted);
        if related.is_none() && !filter.text.trim().is_empty() {
            return (Vec::new(), 0);
        }
        let of = |place: usize| match &related {
            None => Some(1.0),
            Some(related) => related.get(place).copied().filter(|relevance| *relevance > 0.0),
        };
        let mut found: Vec<(f32, &Memory)> = self
            .shelf
            .records()
            .filter(|(place, _memory)| wanted.get(*place) == Some(&true))
            .filter_map(|(place, memory)| Some((of(place)?, memory)))
            .filter(|(_relevance, memory)| !memory.is_active() || holds(memory, now))
            .collect();
        let weight = |it: &Memory| score(Candidate { card: Card::of(it), relevance: 1.0 }, now);
        let order = |(a, x): &(f32, &Memory), (b, y): &(f32, &Memory)| {
            let by_tier = x.priority.cmp(&y.priority);
            let by_use = Reverse(last_seen(x)).cmp(&Reverse(last_seen(y)));
            let order = if related.is_none() {
                by_tier.then(by_use)
            } else {
                b.total_cmp(a).then_with(|| weight(y).total_cmp(&weight(x)))
            };
            order.then(y.id.cmp(&x.id))
        };
        let all = found.len();
        if let Some(last) = limit.checked_sub(1).filter(|last| *last < all) {
            found.select_nth_unstable_by(last, order);
        }
        found.truncate(limit);
        found.sort_unstable_by(order);
        (found, all)
    }

    /// How much the records have to do with a text and what it means, by place, 0 to 1: where only words
    /// count, as a share of the one that has most. 0 for those that have nothing to do with it; none when
    /// the text has no words.
    fn relevance(
        &self,
        text: &str,
        meaning: Option<&Meaning>,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<Vec<f32>> {
        if !agentd_search::has_words(text) {
            return None;
        }
        let mut related = vec![0.0; self.shelf.places()];
        let mut most = f32::MIN_POSITIVE;
        self.index.score(Question(&[(1.0, text)]), &is_wanted, |hit| {
            most = most.max(hit.score);
            if let Some(related) = related.get_mut(hit.key as usize) {
                *related = hit.score;
            }
        });
        for related in &mut related {
            *related /= most;
        }
        if let Some(meaning) = meaning {
            self.fuse(&mut related, meaning, is_wanted);
        }
        Some(related)
    }
}

fn last_seen(memory: &Memory) -> TimestampMs {
    memory.usage.last_used_at.unwrap_or(memory.created_at)
}
