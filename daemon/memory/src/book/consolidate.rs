//! Bringing order into what is there: what says the same becomes one, what is newer takes the place of
//! what it contradicts, and what came up lately is summed up (spec b.6, b.8).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use agentd_domain::{
    Memory, MemoryAuthor, MemoryCategory, MemoryChangeKind, MemoryId, MemoryMark, MemoryOrigin,
    MemoryPriority, MemoryScope, MemoryStatus, MemoryUse, TimestampMs,
};
use agentd_search::Question;

use crate::MemoryError;
use crate::book::{Book, Draft, Drafting, holds};
use crate::decay::days_after;
use crate::merge::{may_merge, merged, shared_words, similarity};

/// Memories that are compared with the others in one go.
const COMPARED: usize = 200;
/// Others that each is compared with, the most alike by their words first.
const LOOKED_AT: usize = 10;
/// Memories that share this much of their words may be about one thing.
const TOUCHING: f64 = 0.25;
/// Days for which a memory counts as recent.
const RECENT_DAYS: u32 = 30;
/// Recent memories that are summed up together (spec b.8: 50), and how many there have to be.
const SUMMED_UP: usize = 50;
const LEAST_SUMMED_UP: usize = 2;
/// Words of a summary.
const SUMMARY_WORDS: usize = 8;

/// Pairs of memories, the older first, and how far was looked.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    pub(crate) pairs: Vec<(MemoryId, MemoryId)>,
    pub(crate) through: Option<MemoryMark>,
}

impl Alike {
    /// Leaves out pairs of which one is in an earlier pair: each becomes part of one other at most.
    pub(super) fn keep_each_once(&mut self) {
        let mut taken = BTreeSet::new();
        self.pairs.retain(|(a, b)| {
            let is_free = !taken.contains(a) && !taken.contains(b);
            taken.extend(is_free.then_some([*a, *b]).into_iter().flatten());
            is_free
        });
    }
}

impl Book {
    /// Memories of one scope and kind that say the same, among those that changed after `after`.
    pub(crate) fn duplicates(&self, drafting: &Drafting<'_>, after: Option<MemoryMark>) -> Alike {
        let is_one = |a: &Memory, b: &Memory| {
            (a.category == b.category && may_merge(a, b))
                .then(|| similarity(a, b))
                .filter(|similarity| *similarity >= drafting.config.merge_similarity)
        };
        let mut alike = self.pairs(drafting.now, after, usize::MAX, is_one);
        alike.keep_each_once();
        alike
    }

    /// Memories of one scope that may be about one thing, among those that changed after `after`; about
    /// `most` of them.
    pub(crate) fn touching(
        &self,
        now: TimestampMs,
        after: Option<MemoryMark>,
        most: usize,
    ) -> Alike {
        let touches = |a: &Memory, b: &Memory| {
            let similarity = similarity(a, b);
            let is_close = similarity >= TOUCHING || shared_words(a, b) >= 2;
            (is_close && shared_words(a, b) > 0).then_some(similarity)
        };
        self.pairs(now, after, most, touches)
    }

    /// Pairs that a function gives a weight, the heaviest of each memory first. Memories are looked at in
    /// the order in which they were changed, so that what is left over comes the next time.
    fn pairs(
        &self,
        now: TimestampMs,
        after: Option<MemoryMark>,
        most: usize,
        weigh: impl Fn(&Memory, &Memory) -> Option<f64>,
    ) -> Alike {
        let is_compared = |it: &Memory| {
            let is_own_kind =
                matches!(it.category, MemoryCategory::Reminder | MemoryCategory::Reflection);
            holds(it, now) && !is_own_kind
        };
        let mut changed: Vec<&Memory> = self
            .all()
            .filter(|it| is_compared(it) && after.is_none_or(|after| mark_of(it) > after))
            .collect();
        changed.sort_by_key(|it| mark_of(it));
        let mut alike = Alike { pairs: Vec::new(), through: after };
        let mut seen = BTreeSet::new();
        for memory in changed.into_iter().take(COMPARED) {
            let is_wanted = |place| {
                let other = self.shelf.at(place);
                other.is_some_and(|it| {
                    it.id != memory.id && it.scope == memory.scope && is_compared(it)
                })
            };
            let question = Question(&[(1.0, &memory.content)]);
            let hits = self.index.search(question, is_wanted, LOOKED_AT);
            let others = hits.into_iter().filter_map(|hit| self.shelf.at(hit.key));
            let mut pairs: Vec<_> = others
                .filter_map(|other| {
                    let (a, b) =
                        if other.id < memory.id { (other, memory) } else { (memory, other) };
                    Some((weigh(a, b)?, (a.id, b.id)))
                })
                .filter(|(_weight, pair)| !seen.contains(pair))
                .collect();
            if !alike.pairs.is_empty() && alike.pairs.len() + pairs.len() > most {
                break;
            }
            pairs.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
            seen.extend(pairs.iter().map(|(_weight, pair)| *pair));
            alike.pairs.extend(pairs.into_iter().map(|(_weight, pair)| pair));
            alike.through = Some(mark_of(memory));
        }
        alike
    }

    /// Drafts that two memories become one, the older. False: they may not.
    pub(crate) fn merge_pair(
        &self,
        drafting: &Drafting<'_>,
        (older, newer): (MemoryId, MemoryId),
    ) -> Result<Draft<bool>, MemoryError> {
        let none = Draft { change: None, outcome: false };
        let Some((older, newer)) = self.both_hold(drafting.now, older, newer) else {
            return Ok(none);
        };
        if !may_merge(older, newer) {
            return Ok(none);
        }
        let Some(mut one) = merged(older, newer) else { return Ok(none) };
        if one.priority != older.priority {
            one.tier_since = newer.tier_since;
        }
        // What has helped in either has helped.
        one.usage = joined_use(older.usage, newer.usage);
        let status = MemoryStatus::Merged { into: older.id };
        let displaced = self.displaced(drafting, &one)?;
        let mut become_ = vec![one, Memory { status, ..newer.clone() }];
        become_.extend(displaced.into_iter().filter(|it| it.id != newer.id));
        Ok(drafting.draft(self, MemoryChangeKind::Merged, MemoryAuthor::Daemon, become_, true))
    }

    /// Drafts that the newer of two memories holds in place of the older. It matters as much as that did.
    pub(crate) fn replace_by_newer(
        &self,
        drafting: &Drafting<'_>,
        (older, newer): (MemoryId, MemoryId),
    ) -> Draft<bool> {
        let Some((older, newer)) = self.both_hold(drafting.now, older, newer) else {
            return Draft { change: None, outcome: false };
        };
        if older.pinned || is_by_user(older) {
            return Draft { change: None, outcome: false };
        }
        let status = MemoryStatus::Superseded { by: newer.id };
        let mut become_ = vec![Memory { status, ..older.clone() }];
        if older.priority < newer.priority || older.importance > newer.importance {
            let is_raised = older.priority < newer.priority;
            become_.push(Memory {
                priority: older.priority.min(newer.priority),
                importance: older.importance.max(newer.importance),
                tier_since: if is_raised { older.tier_since } else { newer.tier_since },
                ..newer.clone()
            });
        }
        let (kind, author) = (MemoryChangeKind::Superseded, MemoryAuthor::Daemon);
        drafting.draft(self, kind, author, become_, true)
    }

    /// Drafts a proposal that the newer of two memories holds in place of the older: it waits for a user.
    /// False: it was made before.
    pub(crate) fn propose(
        &self,
        drafting: &Drafting<'_>,
        (older, newer): (MemoryId, MemoryId),
    ) -> Result<Draft<bool>, MemoryError> {
        let none = Draft { change: None, outcome: false };
        let Some((older, newer)) = self.both_hold(drafting.now, older, newer) else {
            return Ok(none);
        };
        let sources = vec![older.id, newer.id];
        if self.all().any(|it| it.sources == sources) {
            return Ok(none);
        }
        let proposal = Memory {
            sources,
            priority: older.priority.min(newer.priority),
            importance: older.importance.max(newer.importance),
            pinned: older.pinned || newer.pinned,
            status: MemoryStatus::Quarantined,
            ..of_daemon(drafting, newer)
        };
        self.check_room(drafting, &proposal)?;
        let (kind, author) = (MemoryChangeKind::Added, MemoryAuthor::Daemon);
        Ok(drafting.draft(self, kind, author, vec![proposal], true))
    }

    /// Drafts one summary of what came up lately for each kind and scope that has something new. Returns
    /// how many.
    pub(crate) fn reflect(&self, drafting: &Drafting<'_>) -> Result<Draft<usize>, MemoryError> {
        let mut groups: BTreeMap<(&MemoryScope, &'static str), Vec<&Memory>> = BTreeMap::new();
        for memory in self.all().rev().filter(|it| holds(it, drafting.now)) {
            let is_summed_up =
                !matches!(memory.category, MemoryCategory::Reminder | MemoryCategory::Reflection);
            if is_summed_up && days_after(memory.created_at, RECENT_DAYS) > drafting.now {
                let group = groups.entry((&memory.scope, memory.category.name())).or_default();
                if group.len() < SUMMED_UP {
                    group.push(memory);
                }
            }
        }
        let mut become_ = Vec::new();
        let mut count = 0;
        for ((scope, category), group) in groups {
            // Whatever became of the last one: what a user took back is not made again from the same.
            let is_last = |it: &&Memory| {
                it.category == MemoryCategory::Reflection
                    && it.scope == *scope
                    && it.tags.iter().any(|tag| tag == category)
            };
            let last = self.all().rev().find(is_last);
            let is_new = |it: &&&Memory| last.is_none_or(|last| !last.sources.contains(&it.id));
            let is_kept = last.is_some_and(|last| last.pinned && last.is_active());
            if group.iter().filter(is_new).count() < LEAST_SUMMED_UP || is_kept {
                continue;
            }
            let Some(content) = summary(category, &group) else { continue };
            let Some(first) = group.first() else { continue };
            let reflection = Memory {
                content,
                category: MemoryCategory::Reflection,
                // Never critical (spec b.13), nor in the way of what was said.
                priority: MemoryPriority::Low,
                importance: 2,
                tags: [category.to_owned(), "summary".to_owned()]
                    .into_iter()
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect(),
                pinned: false,
                expires_at: None,
                status: MemoryStatus::Active,
                sources: group.iter().map(|it| it.id).collect(),
                ..of_daemon(drafting, first)
            };
            if let Some(last) = last.filter(|last| last.is_active()) {
                let status = MemoryStatus::Superseded { by: reflection.id };
                become_.push(Memory { status, ..last.clone() });
            } else {
                self.check_room(drafting, &reflection)?;
            }
            become_.push(reflection);
            count += 1;
        }
        let (kind, author) = (MemoryChangeKind::Added, MemoryAuthor::Daemon);
        Ok(drafting.draft(self, kind, author, become_, count))
    }

    /// What a model may weigh: what holds and is not pinned, what was used or said last first.
    pub(crate) fn to_weigh(&self, now: TimestampMs, most: usize) -> Vec<&Memory> {
        let may_move = |it: &&Memory| {
            let is_own_kind =
                matches!(it.category, MemoryCategory::Reminder | MemoryCategory::Reflection);
            holds(it, now) && !it.pinned && !is_own_kind
        };
        let mut all: Vec<&Memory> = self.all().filter(may_move).collect();
        let last = |it: &Memory| it.usage.last_used_at.max(Some(it.created_at));
        all.sort_by_key(|it| (Reverse(last(it)), Reverse(it.id)));
        all.truncate(most);
        all
    }

    fn both_hold(
        &self,
        now: TimestampMs,
        older: MemoryId,
        newer: MemoryId,
    ) -> Option<(&Memory, &Memory)> {
        let holding = |id| self.get(id).filter(|it| holds(it, now));
        holding(older).zip(holding(newer))
    }
}

/// Where a memory stands in the order in which they were changed.
pub(super) fn mark_of(memory: &Memory) -> MemoryMark {
    MemoryMark { changed_at: memory.changed_at, id: memory.id }
}

/// True for what a person has written.
pub(crate) fn is_by_user(memory: &Memory) -> bool {
    matches!(memory.origin.author, MemoryAuthor::User { .. })
}

/// A new record like another one, but of the daemon.
fn of_daemon(drafting: &Drafting<'_>, like: &Memory) -> Memory {
    Memory {
        id: drafting.ids.memory_id(drafting.now),
        revision: 1,
        created_at: drafting.now,
        changed_at: drafting.now,
        tier_since: drafting.now,
        usage: MemoryUse {
            uses: 0,
            last_used_at: None,
            last_told_at: None,
            stability_days: drafting.config.decay.stability_days,
        },
        origin: MemoryOrigin { author: MemoryAuthor::Daemon, session_id: None, seq: None },
        ..like.clone()
    }
}

fn joined_use(a: MemoryUse, b: MemoryUse) -> MemoryUse {
    MemoryUse {
        uses: a.uses.saturating_add(b.uses),
        last_used_at: a.last_used_at.max(b.last_used_at),
        last_told_at: a.last_told_at.max(b.last_told_at),
        stability_days: a.stability_days.max(b.stability_days),
    }
}

/// The words that most of some memories have, the most frequent first; none when they have none.
fn summary(category: &str, group: &[&Memory]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    // Words are counted without their endings, and shown as they were written.
    let mut written: BTreeMap<String, String> = BTreeMap::new();
    for memory in group {
        for word in memory.content.split(|c: char| !c.is_alphanumeric()) {
            let mut stems = agentd_search::keywords(word).into_iter();
            if let (Some(stem), None) = (stems.next(), stems.next()) {
                written.entry(stem).or_insert_with(|| word.to_owned());
            }
        }
        for word in agentd_search::keywords(&memory.content) {
            *counts.entry(word).or_default() += 1;
        }
    }
    // Every statement about a user begins so.
    counts.remove("user");
    counts.remove("用户");
    let mut words: Vec<(String, usize)> = counts.into_iter().collect();
    words.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    words.truncate(SUMMARY_WORDS);
    if words.is_empty() {
        return None;
    }
    let shown = |word: String| written.remove(&word).unwrap_or(word);
    let words: Vec<String> = words.into_iter().map(|(word, _count)| word).map(shown).collect();
    Some(format!("What came up lately ({category}, {} notes): {}", group.len(), words.join(", ")))
}
