use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const WORDS: [&str; 6] = ["alder", "birch", "cedar", "数据", "数据库", "elm"];

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

/// The scores of an index that never held anything else.
fn anew(texts: &BTreeMap<u8, String>, question: &str) -> BTreeMap<u8, i64> {
    let mut index = Index::default();
    for (key, text) in texts {
        index.insert(*key, text);
    }
    scores(&index, question)
}

/// Rounded, because sums are taken in any order.
#[expect(clippy::cast_possible_truncation, reason = "scores are small")]
fn scores(index: &Index<u8>, question: &str) -> BTreeMap<u8, i64> {
    let hits = index.score(question, |_| true).into_iter();
    hits.map(|hit| (hit.key, (hit.score * 1000.0).round() as i64)).collect()
}

#[test]
fn rare_words_count_more_and_more_of_one_word_counts_less_and_less() {
    let mut index = Index::default();
    for (key, text) in
        [(1, "alder birch"), (2, "alder cedar"), (3, "alder alder alder elm"), (4, "alder oak")]
    {
        index.insert(key, text);
    }
    let mut hits = index.score("alder elm", |key| key != 4);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    assert_eq!(hits.iter().map(|hit| hit.key).collect::<Vec<_>>()[..1], [3]);
    assert_eq!(hits.len(), 3);
    assert_eq!(index.score("nothing of it", |_| true), []);
}

proptest! {
    /// Whatever was put in, replaced and taken out before: it ranks as if it had not been.
    #[test]
    fn an_index_forgets_what_it_held(
        steps in prop::collection::vec((0_u8..12, prop::collection::vec(0_usize..6, 0..5)), 0..80),
        question in prop::collection::vec(0_usize..6, 1..4),
        close_up_at in 0_usize..80,
    ) {
        let mut index = Index::default();
        let mut texts = BTreeMap::new();
        for (n, (key, words)) in steps.iter().enumerate() {
            if words.is_empty() {
                index.remove(*key);
                texts.remove(key);
            } else {
                index.insert(*key, &text(words));
                texts.insert(*key, text(words));
            }
            if n == close_up_at {
                index.close_up();
            }
        }
        prop_assert_eq!(index.len(), texts.len());
        let question = text(&question);
        prop_assert_eq!(scores(&index, &question), anew(&texts, &question));
    }
}
