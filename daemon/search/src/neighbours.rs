//! Turns of a conversation, which help each other to be found.
//!
//! What is said is often found by what was said just before: "yes, on Friday" has none of the words of
//! the question that it answers. So a turn is given parts of what its neighbours score, and of the best
//! of its session; and one whose speaker the question names is a little better. The factors were found
//! on the development questions of LoCoMo (docs/BENCHMARKS.md).

use crate::words;

/// Of the turn before.
const BEFORE: f32 = 0.3;
/// Of the one before that.
const BEFORE_LAST: f32 = 0.15;
/// Of the turn after.
const AFTER: f32 = 0.1;
/// Of the best turn of the session.
const BEST: f32 = 0.25;
/// When the question names the speaker. Scores of turns are at most about 1.
const NAMED: f32 = 0.05;

/// A turn of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChatTurn {
    /// What it scores by itself; 0: it has no word of the question.
    pub score: f32,
    /// The question names who said it.
    pub is_named: bool,
}

/// The scores of a session's turns, which come in the order in which they were said. A turn that neither
/// scores by itself nor has a neighbour that does scores nothing.
pub fn with_neighbours(turns: &[ChatTurn]) -> Vec<f32> {
    let best = turns.iter().map(|turn| turn.score).fold(0.0, f32::max);
    if best <= 0.0 {
        return vec![0.0; turns.len()];
    }
    let at = |place: Option<usize>| {
        place.and_then(|place| turns.get(place)).map_or(0.0, |turn| turn.score)
    };
    let scored = turns.iter().enumerate().map(|(place, turn)| {
        let near = turn.score
            + BEFORE * at(place.checked_sub(1))
            + BEFORE_LAST * at(place.checked_sub(2))
            + AFTER * at(place.checked_add(1));
        let named = if turn.is_named { NAMED } else { 0.0 };
        if near > 0.0 { near + BEST * best + named } else { 0.0 }
    });
    scored.collect()
}

/// True when a question names somebody: all words of the name are among its own.
pub fn names(question: &str, name: &str) -> bool {
    let name = words::stems(name);
    !name.is_empty() && name.is_subset(&words::stems(question))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(turns: &[(f32, bool)]) -> Vec<f32> {
        let turns =
            turns.iter().map(|(score, is_named)| ChatTurn { score: *score, is_named: *is_named });
        with_neighbours(&turns.collect::<Vec<_>>())
    }

    #[test]
    fn a_turn_has_parts_of_its_neighbours_and_of_the_best_of_its_session() {
        let got = scored(&[(0.0, false), (0.4, false), (0.0, false), (0.0, true), (0.0, false)]);
        let expect = [0.04 + 0.1, 0.4 + 0.1, 0.12 + 0.1, 0.06 + 0.1 + 0.05, 0.0];
        for (got, expect) in got.iter().zip(expect) {
            assert!((got - expect).abs() < 1e-6, "{got} {expect}");
        }
        assert_eq!(got.len(), 5);
    }

    #[test]
    fn a_session_that_has_no_word_of_the_question_is_not_found() {
        assert_eq!(scored(&[(0.0, true), (0.0, false)]), [0.0, 0.0]);
        assert_eq!(scored(&[]), [0.0_f32; 0]);
    }

    #[test]
    fn somebody_is_named_by_all_words_of_the_name() {
        assert!(names("What did Caroline say?", "Caroline"));
        assert!(names("what did ann lee's team do", "Ann Lee"));
        assert!(names("王芳说了什么", "王芳"));
        assert!(!names("what did ann do", "Ann Lee"));
        assert!(!names("what did ann do", ""));
    }
}
