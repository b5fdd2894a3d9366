//! Answering a question.

use std::collections::HashMap;
use std::hash::Hash;

use super::{Entry, Hit, Index, Number, Question, Term};
use crate::words::{self, Stream};

/// A term that is asked for more often counts by this power of how often.
const MORE: f32 = 0.75;

/// What a question that asks when adds, each so much.
const WHEN: (&str, f32) = (
    "yesterday today tomorrow last next ago week weekend month year recently days weeks months years \
     monday tuesday wednesday thursday friday saturday sunday",
    0.2,
);

/// Texts that feedback is taken from. With fewer there is none.
const FED_BACK: usize = 5;
/// Terms that are taken from them.
const FED_BACK_TERMS: usize = 50;
/// How much feedback counts: `min(MOST, USUAL * (last/first)^3 * (agreement/COMMON)^2)`.
const USUAL: f32 = 0.6;
const COMMON: f32 = 0.3;
const MOST: f32 = 0.5;

/// Terms by their numbers, and how much each is asked for.
type Weights = Vec<(Number, f32)>;

impl<K: Copy + Eq + Hash + Ord> Index<K> {
    /// The wanted texts that have a term of the question, at most `most`: the best first, of equals the
    /// first key first.
    pub fn search(
        &self,
        question: Question<'_>,
        is_wanted: impl Fn(K) -> bool,
        most: usize,
    ) -> Vec<Hit<K>> {
        let mut hits: Vec<Hit<K>> = Vec::new();
        self.score(question, is_wanted, |hit| hits.push(hit));
        let order = |a: &Hit<K>, b: &Hit<K>| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key));
        if let Some(last) = most.checked_sub(1).filter(|last| *last < hits.len()) {
            hits.select_nth_unstable_by(last, order);
        }
        hits.truncate(most);
        hits.sort_unstable_by(order);
        hits
    }

    /// Gives all wanted texts that have a term of the question, in no order.
    pub fn score(
        &self,
        question: Question<'_>,
        is_wanted: impl Fn(K) -> bool,
        mut found: impl FnMut(Hit<K>),
    ) {
        let asked = self.asked(question);
        let mut scores = self.scan(&asked);
        let wanted = |slot: usize| self.entry(slot).map(|it| it.key).filter(|key| is_wanted(*key));
        for (slot, score) in scores.iter_mut().enumerate() {
            if *score > 0.0 && wanted(slot).is_none() {
                *score = 0.0;
            }
        }
        let fed_back = self.feedback(&scores);
        let (weight, second) = match &fed_back {
            Some((weight, terms)) => (*weight, self.scan(terms)),
            None => (0.0, Vec::new()),
        };
        for (slot, first) in scores.into_iter().enumerate() {
            let second = second.get(slot).copied().unwrap_or(0.0);
            let score = (1.0 - weight) * first + weight * second;
            if score > 0.0
                && let Some(key) = wanted(slot)
            {
                found(Hit { key, score });
            }
        }
    }

    fn entry(&self, slot: usize) -> Option<&Entry<K>> {
        self.slots.get(slot)?.as_ref()
    }

    /// How much a term counts: its kind, and how rare it is among all texts.
    fn weight(&self, term: &Term) -> f32 {
        let (all, having) = (as_f32(self.by_key.len()), as_f32(term.postings.len()));
        term.stream.weight() * (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    /// The known terms of a question. Their weights sum up to 1.
    fn asked(&self, Question(parts): Question<'_>) -> Weights {
        let mut counts: HashMap<Number, f32> = HashMap::new();
        let mut ask = |text: &str, weight: f32, wanted: fn(Stream) -> bool| {
            for (stream, term) in words::terms(text).terms {
                let known = self.numbers.get(&(stream, term.into_boxed_str()));
                if let Some(number) = known.filter(|_| wanted(stream)) {
                    *counts.entry(*number).or_default() += weight;
                }
            }
        };
        for (weight, text) in parts {
            ask(text, *weight, |_any| true);
        }
        if self.dated > 0 && matches!(parts, [(_, text)] if words::asks_when(text)) {
            let (text, weight) = WHEN;
            ask(text, weight, |stream| stream == Stream::Word);
        }
        let weights = counts.into_iter().filter_map(|(number, count)| {
            // What no text has any more is not known.
            let term = self.terms.get(number as usize).filter(|term| !term.postings.is_empty())?;
            Some((number, count.powf(MORE) * self.weight(term)))
        });
        normalised(weights.collect())
    }

    /// By slot.
    fn scan(&self, asked: &[(Number, f32)]) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.slots.len()];
        for (number, weight) in asked {
            let postings = self.terms.get(*number as usize).map_or(&[][..], |term| &term.postings);
            for posting in postings {
                if let Some(score) = scores.get_mut(posting.slot as usize) {
                    *score += weight * posting.share;
                }
            }
        }
        scores
    }

    /// What the best texts have in common, and how much that counts.
    fn feedback(&self, scores: &[f32]) -> Option<(f32, Weights)> {
        let mut best: Vec<(f32, &Entry<K>)> = Vec::with_capacity(FED_BACK + 1);
        for (slot, score) in scores.iter().enumerate().filter(|(_slot, score)| **score > 0.0) {
            if best.len() == FED_BACK && best.last().is_some_and(|(least, _)| *least > *score) {
                continue;
            }
            let entry = self.entry(slot)?;
            let is_before = |(better, it): &(f32, &Entry<K>)| {
                better.total_cmp(score).then(entry.key.cmp(&it.key)).is_gt()
            };
            best.insert(best.partition_point(is_before), (*score, entry));
            best.truncate(FED_BACK);
        }
        let [(first, _), .., (last, _)] = best.as_slice() else { return None };
        if best.len() < FED_BACK {
            return None;
        }
        let sum: f32 = best.iter().map(|(score, _entry)| score).sum();
        let mut expected: HashMap<Number, (f32, u32)> = HashMap::new();
        for (score, entry) in &best {
            for (number, share) in &entry.terms {
                let weight = self.weight(self.terms.get(*number as usize)?);
                let (mass, texts) = expected.entry(*number).or_default();
                *mass += score / sum * share * weight;
                *texts += 1;
            }
        }
        let mass = |wanted: fn(u32) -> bool| -> f32 {
            expected.values().filter(|(_, texts)| wanted(*texts)).map(|(mass, _)| mass).sum()
        };
        let agreement = mass(|texts| texts > 1) / mass(|_any| true);
        let weight = USUAL * (last / first).powi(3) * (agreement / COMMON).powi(2);
        let mut terms: Weights = expected.into_iter().map(|(it, (mass, _))| (it, mass)).collect();
        terms.sort_unstable_by(|(x, a), (y, b)| b.total_cmp(a).then(x.cmp(y)));
        terms.truncate(FED_BACK_TERMS);
        Some((weight.min(MOST), normalised(terms)))
    }
}

fn normalised(mut weights: Weights) -> Weights {
    let sum: f32 = weights.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in &mut weights {
        *weight /= sum.max(f32::MIN_POSITIVE);
    }
    // Sums of the same terms come out the same, in whatever order a map gave them.
    weights.sort_unstable_by_key(|(number, _)| *number);
    weights
}

#[expect(clippy::cast_precision_loss, reason = "counts of texts; ranking bears it")]
fn as_f32(count: usize) -> f32 {
    count as f32
}
