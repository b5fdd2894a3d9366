use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const WORDS: [&str; 6] = ["alder", "birch", "cedar", "数据", "数据库", "elm"];

fn text(words: &[usize]) -> String {
    words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")
}

fn insert(index: &mut Index<u8>, key: u8, text: &str) {
    index.insert(key, Document { parts: &[text], ..Document::default() });
}

/// The scores of an index that never held anything else.
fn anew(texts: &BTreeMap<u8, String>, question: &str) -> BTreeMap<u8, i64> {
    let mut index = Index::default();
    for (key, text) in texts {
        insert(&mut index, *key, text);
    }
    scores(&index, question)
}

/// Rounded, because sums are taken in any order.
#[expect(clippy::cast_possible_truncation, reason = "scores are small")]
fn scores(index: &Index<u8>, question: &str) -> BTreeMap<u8, i64> {
    let hits = index.search(Question(&[(1.0, question)]), |_| true, 100).into_iter();
    hits.map(|hit| (hit.key, (hit.score * 1000.0).round() as i64)).collect()
}

fn found(index: &Index<u8>, question: &str) -> Vec<u8> {
    let hits = index.search(Question(&[(1.0, question)]), |key| key != 9, 100);
    hits.into_iter().map(|hit| hit.key).collect()
}

#[test]
fn rare_words_count_more_and_what_is_not_wanted_is_not_found() {
    let mut index = Index::default();
    for (key, text) in
        [(1, "alder birch"), (2, "alder cedar"), (3, "alder alder elm"), (9, "alder elm")]
    {
        insert(&mut index, key, text);
    }
    assert_eq!(found(&index, "alder elm")[0], 3);
    assert_eq!(found(&index, "alder elm").len(), 3);
    assert_eq!(found(&index, "nothing of it"), Vec::<u8>::new());
    assert_eq!(found(&index, ""), Vec::<u8>::new());
}

#[test]
fn labels_and_dates_are_found_and_a_question_for_when_finds_what_tells_a_time() {
    let mut index = Index::default();
    let put = |index: &mut Index<u8>, key, text: &str, labels: &[&str], date: &str| {
        index.insert(key, Document { parts: &[text], labels, date });
    };
    put(&mut index, 1, "We painted the fence", &["Ann"], "8 may 2023");
    put(&mut index, 2, "We painted the house last week", &["Bob"], "1 june 2023");
    assert_eq!(found(&index, "what did Ann do")[0], 1);
    assert_eq!(found(&index, "may 2023")[0], 1);
    assert_eq!(found(&index, "when did they paint?")[0], 2);
    index.remove(2);
    assert_eq!(found(&index, "paint"), [1]);
}

#[test]
fn what_the_best_texts_agree_on_is_asked_for_as_well() {
    let mut index = Index::default();
    for (key, text) in [
        (1, "the tokio runtime polls futures"),
        (2, "the tokio runtime wakes futures"),
        (3, "the tokio runtime drops futures"),
        (4, "the tokio runtime spawns futures"),
        (5, "the tokio runtime parks futures"),
        (6, "futures are lazy"),
        (7, "lunch is at noon"),
    ] {
        insert(&mut index, key, text);
    }
    let found = found(&index, "tokio runtime");
    assert!(found.contains(&6) && !found.contains(&7), "{found:?}");
}

proptest! {
    /// Whatever was put in, replaced and taken out before: it ranks as if it had not been.
    #[test]
    fn an_index_forgets_what_it_held(
        steps in prop::collection::vec((0_u8..4, prop::collection::vec(0_usize..6, 0..5)), 0..80),
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
                insert(&mut index, *key, &text(words));
                texts.insert(*key, text(words));
            }
            if n == close_up_at {
                index.close_up();
            }
        }
        prop_assert_eq!(index.len(), texts.len());
        let question = text(&question);
        // So few texts are not fed back, where the order of sums may decide between equals.
        prop_assert_eq!(scores(&index, &question), anew(&texts, &question));
    }
}
