//! An inverted index in memory, ranked by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance
//! Framework: BM25 and Beyond", 2009).

use std::collections::HashMap;
use std::hash::Hash;

use crate::terms;

/// The two parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// How soon more of the same word stops to matter; 0: at once.
    pub k1: f32,
    /// How much longer texts are marked down, 0 to 1.
    pub b: f32,
}

impl Default for Ranking {
    fn default() -> Self {
        Self { k1: 0.9, b: 0.4 }
    }
}

/// A text that has words of the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<K> {
    /// Whose text it is.
    pub key: K,
    /// Its BM25 score, above 0. Comparable within one answer only.
    pub score: f32,
}

/// Texts by their words. Slots only grow, so that lists of postings stay sorted; they are made anew
/// when most of them are empty.
#[derive(Debug)]
pub struct Index<K> {
    ranking: Ranking,
    /// The number of each known word.
    words: HashMap<Box<str>, usize>,
    /// By the number of the word: the texts that have it, by slot.
    postings: Vec<Vec<Posting>>,
    slots: Vec<Option<Entry<K>>>,
    by_key: HashMap<K, usize>,
    /// Sum of the lengths of all texts, in words.
    length: usize,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: u32,
    /// How often the word occurs.
    count: u32,
}

#[derive(Debug)]
struct Entry<K> {
    key: K,
    /// In words.
    length: usize,
    /// Numbers of its words, each once.
    words: Vec<usize>,
}

/// Empty slots that are borne before the index is made anew.
const SPARE_SLOTS: usize = 1024;

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self::new(Ranking::default())
    }
}

impl<K> Index<K> {
    /// An empty index.
    pub fn new(ranking: Ranking) -> Self {
        Self {
            ranking,
            words: HashMap::new(),
            postings: Vec::new(),
            slots: Vec::new(),
            by_key: HashMap::new(),
            length: 0,
        }
    }

    /// Texts that it holds.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// True when it holds none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
}

impl<K: Copy + Eq + Hash> Index<K> {
    /// Puts a text in, in place of the one with the same key.
    pub fn insert(&mut self, key: K, text: &str) {
        self.remove(key);
        let Ok(slot) = u32::try_from(self.slots.len()) else { return };
        let mut counts: HashMap<usize, u32> = HashMap::new();
        let mut length = 0;
        for term in terms(text) {
            let next = self.postings.len();
            let word = *self.words.entry(term.into()).or_insert(next);
            if word == next {
                self.postings.push(Vec::new());
            }
            *counts.entry(word).or_default() += 1;
            length += 1;
        }
        for (word, count) in &counts {
            if let Some(postings) = self.postings.get_mut(*word) {
                postings.push(Posting { slot, count: *count });
            }
        }
        self.by_key.insert(key, self.slots.len());
        self.slots.push(Some(Entry { key, length, words: counts.into_keys().collect() }));
        self.length += length;
    }

    /// Takes a text out, if it is there.
    pub fn remove(&mut self, key: K) {
        let Some(slot) = self.by_key.remove(&key) else { return };
        let Some(entry) = self.slots.get_mut(slot).and_then(Option::take) else { return };
        self.length -= entry.length;
        for word in entry.words {
            if let Some(postings) = self.postings.get_mut(word)
                && let Ok(at) = postings.binary_search_by_key(&slot, |it| it.slot as usize)
            {
                postings.remove(at);
            }
        }
        if self.slots.len() > 2 * self.by_key.len() + SPARE_SLOTS {
            self.close_up();
        }
    }

    /// Gives the texts new slots without holes, and forgets words that nobody has.
    fn close_up(&mut self) {
        let mut moved = vec![0_u32; self.slots.len()];
        let slots = std::mem::take(&mut self.slots);
        for (old, entry) in slots.into_iter().enumerate() {
            if let (Some(entry), Some(moved)) = (entry, moved.get_mut(old)) {
                // There are no more than before.
                *moved = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
                self.by_key.insert(entry.key, self.slots.len());
                self.slots.push(Some(entry));
            }
        }
        for postings in &mut self.postings {
            for posting in postings.iter_mut() {
                posting.slot = moved.get(posting.slot as usize).copied().unwrap_or(u32::MAX);
            }
        }
        let mut numbers = vec![usize::MAX; self.postings.len()];
        let mut kept = Vec::new();
        for (old, postings) in std::mem::take(&mut self.postings).into_iter().enumerate() {
            if let (false, Some(number)) = (postings.is_empty(), numbers.get_mut(old)) {
                *number = kept.len();
                kept.push(postings);
            }
        }
        self.postings = kept;
        self.words.retain(|_word, number| {
            *number = numbers.get(*number).copied().unwrap_or(usize::MAX);
            *number != usize::MAX
        });
        for entry in self.slots.iter_mut().flatten() {
            for word in &mut entry.words {
                *word = numbers.get(*word).copied().unwrap_or(usize::MAX);
            }
        }
        self.words.shrink_to_fit();
    }

    /// The texts that have a word of the question and are wanted, in no order.
    pub fn score(&self, question: &str, is_wanted: impl Fn(K) -> bool) -> Vec<Hit<K>> {
        let mut scores = vec![0.0_f32; self.slots.len()];
        let texts = as_f32(self.by_key.len());
        let mean = (as_f32(self.length) / texts.max(1.0)).max(1.0);
        let mut asked: HashMap<usize, u32> = HashMap::new();
        for word in terms(question).filter_map(|term| self.words.get(term.as_ref())) {
            *asked.entry(*word).or_default() += 1;
        }
        for (word, _times) in asked {
            let Some(postings) = self.postings.get(word) else { continue };
            let having = as_f32(postings.len());
            let rarity = (1.0 + (texts - having + 0.5) / (having + 0.5)).ln();
            let Ranking { k1, b } = self.ranking;
            for Posting { slot, count } in postings {
                let slot = *slot as usize;
                let length =
                    self.slots.get(slot).and_then(Option::as_ref).map_or(0, |it| it.length);
                let count = as_f32(*count as usize);
                let share = 1.0 - b + b * as_f32(length) / mean;
                if let Some(score) = scores.get_mut(slot) {
                    *score += rarity * count * (k1 + 1.0) / (count + k1 * share);
                }
            }
        }
        let hits = self.slots.iter().zip(scores).filter(|(_entry, score)| *score > 0.0);
        hits.filter_map(|(entry, score)| Some(Hit { key: entry.as_ref()?.key, score }))
            .filter(|hit| is_wanted(hit.key))
            .collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of texts and words; ranking bears it")]
fn as_f32(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests;
