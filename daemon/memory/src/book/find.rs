//! Finding memories: by what was said, and by a question.

use std::cmp::Reverse;
use std::collections::HashMap;

use agentd_domain::{
    Memory, MemoryCategory, MemoryId, MemoryPriority, MemoryScope, MemoryStatus, TimestampMs,
};

use agentd_search::Question;

use crate::book::Book;
use crate::config::SelectConfig;
use crate::select::{Candidate, Chosen, NOTHING_SAID, UNRELATED, score, select};

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
        now: TimestampMs,
        config: &SelectConfig,
    ) -> Vec<Chosen> {
        let relevance =
            self.relevance(said, |memory| memory.is_active() && scopes.contains(&memory.scope));
        let pool = self.active_in(scopes).map(|memory| Candidate {
            memory,
            relevance: match &relevance {
                None => NOTHING_SAID,
                Some(related) => related.get(&memory.id).copied().unwrap_or(UNRELATED),
            },
        });
        select(pool, now, config)
    }

    /// The memories that are wanted: the best first where words are asked for, else by tier and last
    /// use (spec b.1.3). With their scores, 0 to 1; 1 without words.
    pub(crate) fn find(&self, filter: &Filter, now: TimestampMs) -> Vec<(f32, &Memory)> {
        let related = self.relevance(&filter.text, |memory| filter.wants(memory));
        let wanted = self.all().filter(|memory| filter.wants(memory));
        let mut found: Vec<(f32, &Memory)> = match related {
            None if filter.text.trim().is_empty() => wanted.map(|memory| (1.0, memory)).collect(),
            None => Vec::new(),
            Some(related) => {
                wanted.filter_map(|memory| Some((*related.get(&memory.id)?, memory))).collect()
            }
        };
        let weight = |memory| score(Candidate { memory, relevance: 1.0 }, now);
        found.sort_by(|(a, x), (b, y)| {
            let by_tier = x.priority.cmp(&y.priority);
            let by_use = Reverse(last_seen(x)).cmp(&Reverse(last_seen(y)));
            let by_weight = weight(y).total_cmp(&weight(x));
            let order = if filter.text.is_empty() {
                by_tier.then(by_use)
            } else {
                b.total_cmp(a).then(by_weight)
            };
            order.then(y.id.cmp(&x.id))
        });
        found
    }

    /// How much memories have to do with a text, as a share of the one that has most: those that have
    /// words of it. None when the text has no words.
    fn relevance(
        &self,
        text: &str,
        is_wanted: impl Fn(&Memory) -> bool,
    ) -> Option<HashMap<MemoryId, f32>> {
        if !agentd_search::has_words(text) {
            return None;
        }
        let question = Question(&[(1.0, text)]);
        let hits = self.index.search(question, |id| self.get(id).is_some_and(&is_wanted));
        let most = hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
        Some(hits.into_iter().map(|hit| (hit.key, (hit.score / most).max(UNRELATED))).collect())
    }
}

fn last_seen(memory: &Memory) -> TimestampMs {
    memory.usage.last_used_at.unwrap_or(memory.created_at)
}
