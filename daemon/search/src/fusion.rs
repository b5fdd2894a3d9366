//! One ranking out of two: by words, and by what a model makes of the texts.
//!
//! A weighted sum of both, each scaled to 0 to 1: `(1 - w) * words / most words + w * nearness`. Fusion
//! by ranks alone was worse on each development set whose model is the weaker of the two. Nearness begins
//! where texts begin to have to do with each other, which differs from model to model (`probe`), so that
//! what is merely the least unrelated of all does not count.

use crate::probe::Scale;

/// How much the model counts where texts are short, such as memories and turns of a chat.
const SHORT: f32 = 0.25;
/// Where they are long, such as chunks of documents.
const LONG: f32 = 0.55;
/// Words of a text that is long. Both weights were found on development questions; their texts have fewer
/// than 30 words, or more than 60.
const LONG_FROM: f32 = 40.0;

/// How much a model counts beside words, 0 to 1, where texts have so many words on average.
pub fn model_weight(usual_length: f32) -> f32 {
    if usual_length < LONG_FROM { SHORT } else { LONG }
}

/// How the scores of one question are put together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    weight: f32,
    far: f32,
    /// From there to 1.
    range: f32,
}

impl Fusion {
    /// For a question to whose words and model the texts have these cosines at most; `weight` is how much
    /// the model counts, 0 to 1.
    pub fn new(weight: f32, scale: Scale, nearest: f32) -> Self {
        let weight = if weight.is_finite() { weight.clamp(0.0, 1.0) } else { 0.0 };
        Self { weight, far: scale.far, range: nearest - scale.far }
    }

    /// How near a text is: 0 when it has nothing to do with the question, 1 for the nearest.
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

    const SCALE: Scale = Scale { far: 0.2 };

    #[test]
    fn the_nearest_has_the_whole_weight_and_what_is_far_has_none() {
        let check = |words: f32, cosine: Option<f32>, expect: f32| {
            let score = Fusion::new(0.25, SCALE, 0.7).score(words, cosine);
            assert!((score - expect).abs() < 1e-6, "{words} {cosine:?}: {score}");
        };
        check(1.0, Some(0.7), 1.0);
        check(0.0, Some(0.7), 0.25);
        check(0.0, Some(0.45), 0.125);
        check(0.8, Some(0.1), 0.6);
        check(0.8, None, 0.8);
        check(0.0, Some(-1.0), 0.0);
    }

    #[test]
    fn where_nothing_is_near_words_decide_alone() {
        let fusion = Fusion::new(0.55, SCALE, 0.1);
        assert!(fusion.score(0.3, Some(0.1)) < fusion.score(0.4, Some(-0.9)));
        assert!(fusion.nearness(0.1) <= 0.0);
        assert!((Fusion::new(f32::NAN, SCALE, 0.9).score(0.3, Some(0.9)) - 0.3).abs() < 1e-6);
    }

    #[test]
    fn short_texts_are_found_by_their_words_first() {
        assert!(model_weight(15.0) < 0.5 && model_weight(90.0) > 0.5);
    }

    proptest! {
        #[test]
        fn scores_stay_within_bounds_and_grow_with_both(
            weight in 0.0_f32..=1.0, far in -1.0_f32..1.0, cosines in prop::collection::vec(-1.0_f32..1.0, 1..20),
            words in 0.0_f32..=1.0, more in 0.0_f32..=1.0,
        ) {
            let nearest = cosines.iter().copied().fold(-1.0, f32::max);
            let fusion = Fusion::new(weight, Scale { far }, nearest);
            for cosine in &cosines {
                let score = fusion.score(words, Some(*cosine));
                prop_assert!((0.0..=1.0 + 1e-6).contains(&score), "{score}");
                let with_more = fusion.score(words + more * (1.0 - words), Some(*cosine));
                prop_assert!(with_more >= score - 1e-6);
                prop_assert!(fusion.score(words, Some(nearest)) >= score - 1e-6);
            }
        }

        #[test]
        fn a_model_that_counts_nothing_changes_no_order(a in 0.0_f32..=1.0, b in 0.0_f32..=1.0, x in -1.0_f32..1.0, y in -1.0_f32..1.0) {
            let fusion = Fusion::new(0.0, SCALE, x.max(y));
            let (p, q) = (fusion.score(a, Some(x)), fusion.score(b, Some(y)));
            prop_assert_eq!(a.total_cmp(&b), p.total_cmp(&q));
        }
    }
}
