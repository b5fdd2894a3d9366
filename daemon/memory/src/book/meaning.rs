//! Memories by what they mean: what has a vector, what is near a question, and what may be the same.

use std::collections::BTreeSet;

use agentd_domain::{Memory, MemoryId, MemoryMark, MemoryStatus};
use agentd_search::{Fusion, Scale};
use agentd_store::MemoryVector;

use crate::book::consolidate::{Alike, mark_of};
use crate::book::{Book, Drafting, holds};
use crate::merge::may_merge;
use crate::vectors::{Direction, text_hash};

/// Where very many memories have vectors: those that have such a share of the words are compared in any case.
const LIKELY: f32 = 0.3;

/// What a model makes of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meaning {
    pub(crate) direction: Direction,
    /// What the model's cosines mean.
    pub(crate) scale: Scale,
}

/// A text that is to have a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) id: MemoryId,
    pub(crate) text: String,
    pub(crate) hash: u64,
}

impl Book {
    /// Up to `limit` memories that want a vector and have none, the newest first, but for those that are
    /// to be left out.
    pub(crate) fn without_vector(
        &self,
        limit: usize,
        is_left_out: impl Fn(MemoryId, u64) -> bool,
    ) -> Vec<Missing> {
        let missing = self.all().rev().filter(|memory| self.lacks_vector(memory));
        let missing = missing.map(|memory| Missing {
            id: memory.id,
            text: memory.content.clone(),
            hash: text_hash(memory),
        });
        missing.filter(|it| !is_left_out(it.id, it.hash)).take(limit).collect()
    }

    fn lacks_vector(&self, memory: &Memory) -> bool {
        let place = self.shelf.place(memory.id);
        wants_vector(memory) && place.is_some_and(|place| !self.vectors.has(place))
    }

    /// True when a memory wants a vector, whether it has one or not. Asked before each batch, where to count
    /// all of them would take longer than a fast model.
    pub(crate) fn wants_vectors(&self) -> bool {
        self.all().any(wants_vector)
    }

    /// How many memories have a vector, and how many want one.
    pub(crate) fn count_vectors(&self) -> (usize, usize) {
        let wanted = self.all().filter(|memory| wants_vector(memory));
        let (mut have, mut want) = (0, 0);
        for memory in wanted {
            want += 1;
            have += usize::from(!self.lacks_vector(memory));
        }
        (have, want)
    }

    /// Puts in a vector, if the memory still says that. False when there is no room for it.
    pub(crate) fn put_vector(&mut self, vector: &MemoryVector) -> bool {
        let MemoryVector { id, space: _, text, numbers } = vector;
        let says_that = self.get(*id).is_some_and(|memory| text_hash(memory) == *text);
        let direction = Direction::of_steps(numbers.clone()).filter(|_| says_that);
        match (self.shelf.place(*id), direction) {
            (Some(place), Some(direction)) => self.vectors.put(place, &direction),
            _gone_or_changed => true,
        }
    }

    /// Forgets all vectors, such as those of another model.
    pub(crate) fn forget_vectors(&mut self) {
        self.vectors = crate::vectors::Vectors::default();
    }

    /// Numbers of each vector; none while there is none.
    pub(crate) fn vector_length(&self) -> Option<usize> {
        self.vectors.length()
    }

    /// Adds what a question means to how much the wanted memories have to do with its words, by place.
    pub(super) fn fuse(
        &self,
        related: &mut [f32],
        meaning: &Meaning,
        is_wanted: impl Fn(u32) -> bool,
    ) {
        let is_likely = |place: u32| related.get(place as usize).is_some_and(|it| *it >= LIKELY);
        let cosines = self.vectors.cosines(&meaning.direction, is_wanted, is_likely);
        let Some(nearest) = cosines.iter().flatten().copied().reduce(f32::max) else { return };
        let fusion = Fusion::new(self.index.usual_length(), meaning.scale, nearest);
        let has_words = related.iter().any(|related| *related > 0.0);
        let fusion = if has_words { fusion } else { fusion.without_words() };
        for (related, cosine) in related.iter_mut().zip(cosines) {
            *related = fusion.score(*related, cosine);
        }
    }

    /// Active memories of the scope and category of a new one that are at least so near, the nearest
    /// first.
    pub(super) fn near(
        &self,
        new: &Memory,
        direction: &Direction,
        least: f64,
    ) -> Vec<(f64, &Memory)> {
        let is_wanted = |place| {
            self.shelf.at(place).is_some_and(|old| {
                old.is_active() && old.scope == new.scope && old.category == new.category
            })
        };
        let cosines = self.vectors.cosines(direction, is_wanted, |_place| false);
        let near = cosines.into_iter().zip(0_u32..).filter_map(|(cosine, place)| {
            let cosine = f64::from(cosine?);
            (cosine >= least).then_some((cosine, self.shelf.at(place)?))
        });
        let mut near: Vec<(f64, &Memory)> = near.collect();
        near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.id.cmp(&y.id)));
        near
    }

    /// Memories that a model takes for the same and that may be one, the nearest first and each in one pair
    /// at most, among `most` of those that changed after `after`. What is to have a vector and has none yet
    /// is waited for: neither it nor what changed after it is looked at, unless it `is_left_out`.
    pub(crate) fn near_duplicates(
        &self,
        drafting: &Drafting<'_>,
        after: Option<MemoryMark>,
        most: usize,
        is_left_out: impl Fn(&Memory) -> bool,
    ) -> Alike {
        let Drafting { now, config, .. } = drafting;
        let is_new = |it: &&Memory| after.is_none_or(|after| mark_of(it) > after);
        let mut changed: Vec<&Memory> =
            self.all().filter(|it| holds(it, *now)).filter(is_new).collect();
        changed.sort_by_key(|it| mark_of(it));
        let (mut found, mut through) = (Vec::new(), after);
        for memory in changed.into_iter().take(most) {
            if !is_left_out(memory) {
                let place = self.shelf.place(memory.id);
                let direction = place.and_then(|place| self.vectors.direction(place));
                let Some(direction) = direction else { break };
                let near = self.near(memory, &direction, config.merge_nearness);
                found.extend(near.into_iter().filter_map(|(nearness, other)| {
                    let (older, newer) =
                        if other.id < memory.id { (other, memory) } else { (memory, other) };
                    let are_one = other.id != memory.id
                        && holds(other, *now)
                        && may_merge(older, newer)
                        && may_be_one(&older.content, &newer.content);
                    are_one.then_some((nearness, (older.id, newer.id)))
                }));
            }
            through = Some(mark_of(memory));
        }
        found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
        let mut alike = Alike { pairs: found.into_iter().map(|(_, pair)| pair).collect(), through };
        alike.keep_each_once();
        alike
    }
}

/// True when two texts that a model takes for the same may be: one names all things and numbers that the
/// other names. To a model "Berlin" and "Munich", 80 and 8080, are nearly the same.
pub(super) fn may_be_one(a: &str, b: &str) -> bool {
    let (a, b) = (named(a), named(b));
    a.is_subset(&b) || b.is_subset(&a)
}

/// Numbers, and words that are written large although no sentence begins with them.
fn named(text: &str) -> BTreeSet<String> {
    let mut begins = true;
    let mut named = BTreeSet::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_large = !begins && bare.starts_with(char::is_uppercase) && bare != "I";
        if is_large || bare.contains(char::is_numeric) {
            named.insert(bare.to_lowercase());
        }
        begins = word.ends_with(['.', '!', '?', ':']);
    }
    named
}

/// What holds or waits for a user; the rest is found by its words.
fn wants_vector(memory: &Memory) -> bool {
    matches!(memory.status, MemoryStatus::Active | MemoryStatus::Quarantined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_name_other_things_or_numbers_are_not_one() {
        let check = |a: &str, b: &str, expect: bool| {
            assert_eq!(may_be_one(a, b), expect, "{a} / {b}");
            assert_eq!(may_be_one(b, a), expect, "{b} / {a}");
        };
        check("The user lives in Berlin", "The user's home is Munich", false);
        check("The user lives in Berlin", "Berlin is where the user lives", true);
        check("It listens on port 80", "The server uses port 8080", false);
        check("The user likes dark themes", "The user prefers dark colours in Vim", true);
        check("用户喜欢深色主题", "用户偏好暗色界面", true);
        check("The train leaves at 9:15", "The train leaves in the morning", true);
    }
}
