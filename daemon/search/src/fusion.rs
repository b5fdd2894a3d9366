//! One ranking out of two: by words, and by what a model makes of the texts.
//!
//! A weighted sum of both, each scaled to 0 to 1: `(1 - w) * words / most words + w * nearness`. Fusion
//! by ranks alone (RRF) was worse wherever the model is the weaker of the two (docs/BENCHMARKS.md).
//! Nearness begins where texts begin to have to do with each other, which differs from model to model
//! (`probe`), so that what is merely the least unrelated of all does not count.

use crate::probe::Scale;

/// How words and model are weighed, found on development questions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Recipe {
    /// How much the model counts, 0 to 1.
    weight: f32,
    /// Where nearness begins: so many standard deviations above the mean of what is unrelated.
    deviations: f32,
}

/// Memories and turns of a chat: a word that they share with a question says much.
const SHORT: Recipe = Recipe { weight: 0.25, deviations: 2.0 };
/// Chunks of documents: they share some word with every question, and something with every text.
const LONG: Recipe = Recipe { weight: 0.55, deviations: 0.0 };
/// Words of a text that is long. Those of the development sets have fewer than 30, or more than 60.
const LONG_FROM: f32 = 40.0;

/// How the scores of one question are put together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    weight: f32,
    /// Where nearness is 0, and how far from there to 1.
    far: f32,
    range: f32,
}

impl Fusion {
    /// For texts of so many words on average, whose nearest has the cosine `nearest`.
    pub fn new(usual_length: f32, scale: Scale, nearest: f32) -> Self {
        let Recipe { weight, deviations } = if usual_length < LONG_FROM { SHORT } else { LONG };
        let far = scale.unrelated + deviations * scale.deviation;
        // The nearest of all is no nearer than it is.
        Self { weight, far, range: nearest.max(scale.same) - far }
    }

    /// The same where no text has a word of the question: what is near counts alone.
    #[must_use]
    pub fn without_words(self) -> Self {
        Self { weight: 1.0, ..self }
    }

    /// How near a text is: 0 when it has nothing to do with the question, 1 when it says the same.
    pub fn nearness(&self, cosine: f32) -> f32 {
        if self.range > 0.0 && cosine > self.far {
            ((cosine - self.far) / self.range).min(1.0)
        } else {
            0.0
        }
    }

    /// The score of a text, 0 to 1: `words` is its share of the best score by words, `cosine` none while
    /// it has no vector: then its words speak for it alone.
    pub fn score(&self, words: f32, cosine: Option<f32>) -> f32 {
        match cosine {
            Some(cosine) => (1.0 - self.weight) * words + self.weight * self.nearness(cosine),
            None => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SCALE: Scale = Scale { unrelated: 0.1, deviation: 0.05, same: 0.6 };

    #[test]
    fn what_says_the_same_has_the_whole_weight_and_what_is_far_has_none() {
        let check = |nearest: f32, words: f32, cosine: Option<f32>, expect: f32| {
            let score = Fusion::new(15.0, SCALE, nearest).score(words, cosine);
            assert!((score - expect).abs() < 1e-6, "{words} {cosine:?}: {score}");
        };
        check(0.7, 1.0, Some(0.7), 1.0);
        check(0.7, 0.0, Some(0.45), 0.125);
        check(0.7, 0.8, Some(0.15), 0.6);
        check(0.7, 0.8, None, 0.8);
        check(0.7, 0.0, Some(-1.0), 0.0);
        // The nearest is not near.
        check(0.3, 0.0, Some(0.3), 0.0625);
        check(0.1, 0.0, Some(0.1), 0.0);
    }

    #[test]
    fn where_nothing_is_near_words_decide_alone() {
        let fusion = Fusion::new(15.0, SCALE, 0.1);
        assert!(fusion.score(0.3, Some(0.1)) < fusion.score(0.4, Some(-0.9)));
        // A model that tells nothing apart.
        let flat = Scale { unrelated: 0.9, deviation: 0.0, same: 0.9 };
        assert!(Fusion::new(15.0, flat, 0.9).nearness(0.9) <= 0.0);
        let odd = Scale { unrelated: f32::NAN, ..SCALE };
        assert!((Fusion::new(15.0, odd, 0.9).score(1.0, Some(0.9)) - 0.75).abs() < 1e-6);
    }

    #[test]
    fn a_model_counts_more_where_texts_are_long_and_alone_where_no_word_is_known() {
        let near = |length: f32| Fusion::new(length, SCALE, 0.6).score(0.0, Some(0.6));
        assert!(near(15.0) < 0.5 && near(90.0) > 0.5);
        let alone = Fusion::new(15.0, SCALE, 0.6).without_words();
        assert!((alone.score(0.0, Some(0.6)) - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn scores_stay_within_bounds_and_grow_with_both(
            length in 0.0_f32..100.0, unrelated in -1.0_f32..1.0, deviation in 0.0_f32..0.5, same in -1.0_f32..1.0,
            cosines in prop::collection::vec(-1.0_f32..1.0, 1..20), words in 0.0_f32..=1.0, more in 0.0_f32..=1.0,
        ) {
            let nearest = cosines.iter().copied().fold(-1.0, f32::max);
            let fusion = Fusion::new(length, Scale { unrelated, deviation, same }, nearest);
            for cosine in &cosines {
                let score = fusion.score(words, Some(*cosine));
                prop_assert!((0.0..=1.0 + 1e-6).contains(&score), "{score}");
                let with_more = fusion.score(words + more * (1.0 - words), Some(*cosine));
                prop_assert!(with_more >= score - 1e-6);
                prop_assert!(fusion.score(words, Some(nearest)) >= score - 1e-6);
            }
        }

        #[test]
        fn where_texts_are_equally_near_words_decide(a in 0.0_f32..=1.0, b in 0.0_f32..=1.0, cosine in -1.0_f32..1.0) {
            let fusion = Fusion::new(15.0, SCALE, cosine);
            let (p, q) = (fusion.score(a, Some(cosine)), fusion.score(b, Some(cosine)));
            prop_assert!(a <= b || p >= q);
        }
    }
}
