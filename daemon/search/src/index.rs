//! An inverted index in memory.
//!
//! Ranked by the sum over the question's terms of how rare a term is and how much of the text it is:
//! BM25's rarity (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
//! 2009), and a saturation of counts by the absolute length of a text, so that what is put in later does
//! not move what is there. Then the terms that the best texts have in common are asked for as well
//! (relevance feedback after Rocchio), the less the less those texts agree.

mod scan;

use std::collections::HashMap;
use std::hash::Hash;

use crate::words::{self, Stream, Terms};

/// A text to be found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Document<'a> {
    /// What it says; words of different parts are no neighbours.
    pub parts: &'a [&'a str],
    /// What is known of it beside that: who said it, tags. It does not make it longer.
    pub labels: &'a [&'a str],
    /// When it is from, in words, such as "8 may 2023"; empty: that is not known.
    pub date: &'a str,
}

/// What is looked for: texts and how much each counts.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a>(pub &'a [(f32, &'a str)]);

/// A text that has words of the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<K> {
    /// Whose text it is.
    pub key: K,
    /// Above 0. Comparable within one answer only.
    pub score: f32,
}

/// Texts by their terms. Slots only grow, so that lists of postings stay sorted; they are made anew
/// when most of them are empty.
#[derive(Debug)]
pub struct Index<K> {
    /// The number of each known term.
    numbers: HashMap<(Stream, Box<str>), Number>,
    /// By the number of the term: its stream, and the texts that have it.
    terms: Vec<Term>,
    slots: Vec<Option<Entry<K>>>,
    by_key: HashMap<K, usize>,
    /// Texts of which it is known when they are from.
    dated: usize,
    /// Words of all texts.
    words: f64,
    /// Pairs of neighbouring words are terms, too.
    with_pairs: bool,
}

#[derive(Debug)]
struct Term {
    stream: Stream,
    postings: Vec<Posting>,
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: u32,
    /// How much of the text it is, 0 to 1.
    share: f32,
}

#[derive(Debug)]
struct Entry<K> {
    key: K,
    is_dated: bool,
    words: f32,
    /// Its terms by their numbers, each once, with their shares.
    terms: Box<[(Number, f32)]>,
}

/// The place of a term in [`Index::terms`]. Half the bytes of a `usize`: most of an index are these.
type Number = u32;

/// Empty slots that are borne before the index is made anew.
const SPARE_SLOTS: usize = 1024;

/// Share of a term in a text: `n / (n + FIRST + PER_WORD * length)`.
const FIRST: f32 = 0.4;
const PER_WORD: f32 = 0.01;

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            terms: Vec::new(),
            slots: Vec::new(),
            by_key: HashMap::new(),
            dated: 0,
            words: 0.0,
            with_pairs: true,
        }
    }
}

impl<K> Index<K> {
    /// An index without pairs of neighbouring words. Nearly every pair is a term of its own, so that
    /// it takes a third of the memory; it finds a little less well (docs/BENCHMARKS.md).
    pub fn without_pairs() -> Self {
        Self { with_pairs: false, ..Self::default() }
    }

    /// Texts that it holds.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// True when it holds none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Words that a text has on average, a Han character being half a word; 0 without texts.
    pub fn usual_length(&self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "counts of texts")]
        let texts = self.by_key.len().max(1) as f64;
        #[expect(clippy::cast_possible_truncation, reason = "words of a text")]
        let usual = (self.words / texts) as f32;
        usual
    }
}

impl<K: Copy + Eq + Hash> Index<K> {
    /// Puts a text in, in place of the one with the same key.
    pub fn insert(&mut self, key: K, document: Document<'_>) {
        self.remove(key);
        let Ok(slot) = u32::try_from(self.slots.len()) else { return };
        let mut length = 0.0;
        let mut counts: HashMap<Number, f32> = HashMap::new();
        for part in document.parts {
            let Terms { terms, length: more } = words::terms(part);
            length += more;
            for (stream, term) in terms {
                if stream == Stream::WordPair && !self.with_pairs {
                    continue;
                }
                let Some(number) = self.number(stream, term) else { continue };
                *counts.entry(number).or_default() += 1.0;
            }
        }
        for label in document.labels.iter().copied().chain([document.date]) {
            let terms = words::terms(label).terms.into_iter();
            for (stream, term) in terms.filter(|(stream, _)| *stream != Stream::WordPair) {
                let Some(number) = self.number(stream, term) else { continue };
                *counts.entry(number).or_default() += 1.0;
            }
        }
        let full = FIRST + PER_WORD * length;
        let mut terms: Box<[(Number, f32)]> =
            counts.into_iter().map(|(term, count)| (term, count / (count + full))).collect();
        terms.sort_unstable_by_key(|(term, _share)| *term);
        for (term, share) in &terms {
            if let Some(term) = self.terms.get_mut(*term as usize) {
                term.postings.push(Posting { slot, share: *share });
            }
        }
        let is_dated = !document.date.is_empty();
        self.dated += usize::from(is_dated);
        self.words += f64::from(length);
        self.by_key.insert(key, self.slots.len());
        self.slots.push(Some(Entry { key, is_dated, words: length, terms }));
    }

    /// None when there are more terms than can be counted.
    fn number(&mut self, stream: Stream, term: String) -> Option<Number> {
        let next = Number::try_from(self.terms.len()).ok()?;
        let number = *self.numbers.entry((stream, term.into())).or_insert(next);
        if number == next {
            self.terms.push(Term { stream, postings: Vec::new() });
        }
        Some(number)
    }

    /// Takes a text out, if it is there.
    pub fn remove(&mut self, key: K) {
        let Some(slot) = self.by_key.remove(&key) else { return };
        let Some(entry) = self.slots.get_mut(slot).and_then(Option::take) else { return };
        self.dated -= usize::from(entry.is_dated);
        self.words -= f64::from(entry.words);
        for (term, _share) in entry.terms {
            if let Some(Term { postings, .. }) = self.terms.get_mut(term as usize)
                && let Ok(at) = postings.binary_search_by_key(&slot, |it| it.slot as usize)
            {
                postings.remove(at);
            }
        }
        if self.slots.len() > 2 * self.by_key.len() + SPARE_SLOTS {
            self.close_up();
        }
    }

    /// Gives the texts new slots without holes, and forgets terms that nobody has.
    fn close_up(&mut self) {
        let mut moved = vec![0_u32; self.slots.len()];
        for (old, entry) in std::mem::take(&mut self.slots).into_iter().enumerate() {
            if let (Some(entry), Some(moved)) = (entry, moved.get_mut(old)) {
                // There are no more than before.
                *moved = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
                self.by_key.insert(entry.key, self.slots.len());
                self.slots.push(Some(entry));
            }
        }
        let mut numbers = vec![Number::MAX; self.terms.len()];
        let mut kept = Vec::new();
        for (old, mut term) in std::mem::take(&mut self.terms).into_iter().enumerate() {
            for posting in &mut term.postings {
                posting.slot = moved.get(posting.slot as usize).copied().unwrap_or(u32::MAX);
            }
            if let (false, Some(number)) = (term.postings.is_empty(), numbers.get_mut(old)) {
                // There are no more than before.
                *number = Number::try_from(kept.len()).unwrap_or(Number::MAX);
                kept.push(term);
            }
        }
        self.terms = kept;
        let new = |old: Number| numbers.get(old as usize).copied().unwrap_or(Number::MAX);
        self.numbers.retain(|_term, number| {
            *number = new(*number);
            *number != Number::MAX
        });
        self.numbers.shrink_to_fit();
        for entry in self.slots.iter_mut().flatten() {
            for (term, _share) in &mut entry.terms {
                *term = new(*term);
            }
        }
    }
}

#[cfg(test)]
mod tests;
