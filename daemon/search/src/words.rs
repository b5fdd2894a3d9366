//! The words of a text, in any script.
//!
//! Chinese has no spaces: runs of Han characters are cut by a dictionary where words are compared as
//! sets, and into pairs of neighbours where texts are ranked, because pairs find what a dictionary has
//! not. The dictionary is loaded when the first Chinese text comes and stays.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use jieba_rs::Jieba;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

static DICTIONARY: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// Most bytes of a word that count; what is longer is cut. Nobody asks for the rest of a digest.
const MAX_WORD_BYTES: usize = 64;

/// A piece of a text.
enum Run<'a> {
    Han(&'a str),
    Word(&'a str),
}

/// The words by which texts are ranked, in order and with repetitions: lower case, stemmed where they
/// are English, pairs of neighbours where they are Chinese.
pub fn terms(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    runs(text).flat_map(|run| match run {
        Run::Han(run) => pairs(run).map(Cow::Borrowed).collect::<Vec<_>>(),
        Run::Word(word) => vec![stem(word)],
    })
}

/// The set of words by which two texts are compared (spec b.2.3): Chinese words of two characters or
/// more, other words of three letters or more, in lower case.
pub fn keywords(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for run in runs(text) {
        match run {
            Run::Han(run) => {
                let words = DICTIONARY.cut(run, false);
                found.extend(
                    words
                        .into_iter()
                        .map(|word| word.word)
                        .filter(|word| word.chars().nth(1).is_some())
                        .map(str::to_owned),
                );
            }
            Run::Word(word) if word.chars().nth(2).is_some() => {
                found.insert(cut(word).to_lowercase());
            }
            Run::Word(_too_short) => {}
        }
    }
    found
}

fn is_han(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' | '々' | '〇')
}

/// Words in the sense of Unicode (UAX 29), with neighbouring Han characters put together.
fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut words = text.unicode_word_indices().peekable();
    std::iter::from_fn(move || {
        let (start, word) = words.next()?;
        if !word.chars().all(is_han) {
            return Some(Run::Word(word));
        }
        let mut end = start + word.len();
        while let Some((_at, next)) =
            words.next_if(|(at, next)| *at == end && next.chars().all(is_han))
        {
            end += next.len();
        }
        Some(Run::Han(text.get(start..end).unwrap_or(word)))
    })
}

/// Neighbours two by two; a character alone by itself.
fn pairs(run: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let width = if starts.len() > 2 { 2 } else { 1 };
    let ends = starts.clone().into_iter().skip(width);
    starts.into_iter().zip(ends).filter_map(move |(start, end)| run.get(start..end))
}

fn cut(word: &str) -> &str {
    word.get(..agentd_domain::floor_char_boundary(word, MAX_WORD_BYTES)).unwrap_or(word)
}

fn stem(word: &str) -> Cow<'static, str> {
    let lower = cut(word).to_lowercase();
    if lower.is_ascii() {
        Cow::Owned(Stemmer::create(Algorithm::English).stem(&lower).into_owned())
    } else {
        Cow::Owned(lower)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_cut_into_words_of_their_scripts() {
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(terms(text).collect::<Vec<_>>(), expect, "{text}");
        };
        check("Databases were restored!", &["databas", "were", "restor"]);
        check("数据库abc", &["数据", "据库", "abc"]);
        check("我 说Überweisung", &["我", "说", "überweisung"]);
        check("?!", &[]);
        let words = |text: &str| keywords(text).into_iter().collect::<Vec<_>>();
        assert_eq!(words("The port is 80 or 8080"), ["8080", "port", "the"]);
        assert_eq!(words("用户喜欢用制表符"), ["制表符", "喜欢", "用户"]);
    }

    proptest! {
        #[test]
        fn en_01_any_text_has_words_within_bounds(text in ".{0,200}", n in 0_usize..200) {
            let long = "a".repeat(n) + "世😀é" + &text;
            prop_assert!(terms(&long).all(|term| !term.is_empty() && term.len() <= 3 * MAX_WORD_BYTES));
            prop_assert!(keywords(&long).len() <= long.len());
        }
    }
}
