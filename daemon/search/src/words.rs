//! The words of a text, in any script.
//!
//! Chinese has no spaces: runs of Han characters are cut by a dictionary and, because that has not every
//! word, into characters and pairs of neighbours as well, each with a weight of its own. Other words are
//! lower case, without ending where they are English. The dictionary is loaded when the first Chinese
//! text comes, and stays.

mod stop;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use jieba_rs::Jieba;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

static DICTIONARY: LazyLock<Jieba> = LazyLock::new(Jieba::new);
static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Most bytes of a word that count; what is longer is cut. Nobody asks for the rest of a digest.
const MAX_WORD_BYTES: usize = 64;

/// What kind of piece of a text a term is. Weights were found on the development questions of seven
/// public sets (docs/BENCHMARKS.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stream {
    /// A word without its ending.
    Word,
    /// Two words that follow each other.
    WordPair,
    /// One Han character.
    Han,
    /// Two that follow each other.
    HanPair,
    /// A word of the dictionary.
    Dictionary,
}

impl Stream {
    pub(crate) const fn weight(self) -> f32 {
        match self {
            Self::Word | Self::Dictionary => 1.0,
            Self::WordPair => 0.1,
            Self::Han | Self::HanPair => 0.5,
        }
    }
}

/// What a text is ranked by.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// With repetitions.
    pub(crate) terms: Vec<(Stream, String)>,
    /// Words that say something; a Han character counts as half a word.
    pub(crate) length: f32,
}

/// Cuts a text into all that it is ranked by.
pub(crate) fn terms(text: &str) -> Terms {
    let mut cut = Terms::default();
    let text = normal(text);
    let mut last: Option<String> = None;
    for run in runs(&text) {
        match run {
            Run::Word(word) => {
                let Some(stem) = stem(word) else { continue };
                cut.length += 1.0;
                if let Some(last) = last.replace(stem.clone()) {
                    cut.terms.push((Stream::WordPair, format!("{last} {stem}")));
                }
                cut.terms.push((Stream::Word, stem));
            }
            Run::Han(run) => han(run, &mut cut),
        }
    }
    cut
}

fn han(run: &str, cut: &mut Terms) {
    let mut push = |stream, term: &str| cut.terms.push((stream, term.to_owned()));
    let mut length = 0.0;
    for c in run.chars() {
        length += 0.5;
        if !stop::is_character(c) {
            push(Stream::Han, c.encode_utf8(&mut [0; 4]));
        }
    }
    for pair in parts(run, 2) {
        if !stop::is_chinese(pair) && !pair.chars().all(stop::is_character) {
            push(Stream::HanPair, pair);
        }
    }
    for word in DICTIONARY.cut(run, true) {
        let word = word.word;
        let characters = word.chars().count();
        // A long word is found by the words in it, too.
        let inner = [2, 3].into_iter().filter(|width| characters > *width);
        let inner = inner.flat_map(|width| parts(word, width));
        let inner = inner.filter(|part| DICTIONARY.has_word(part));
        for word in std::iter::once(word).chain(inner) {
            if !stop::is_chinese(word) {
                push(Stream::Dictionary, word);
            }
        }
    }
    cut.length += length;
}

/// The words of a text that say something: English ones without their endings, Chinese as pairs of
/// neighbours.
pub fn stems(text: &str) -> BTreeSet<String> {
    let terms = terms(text).terms.into_iter();
    let is_wanted = |stream| matches!(stream, Stream::Word | Stream::HanPair);
    terms.filter(|(stream, _)| is_wanted(*stream)).map(|(_, term)| term).collect()
}

/// Words by which a question's places in a text are found: [`stems`], and characters that stand alone.
pub(crate) fn marks(question: &str) -> BTreeSet<String> {
    let question = normal(question);
    runs(&question).flat_map(|run| marks_of(&run)).map(|(_at, _length, mark)| mark).collect()
}

/// The same of a run as it is written: from which byte, how many bytes, and the word.
pub(crate) fn marks_of(run: &Run<'_>) -> Vec<(usize, usize, String)> {
    match run {
        Run::Word(word) => {
            let stem = stem(&normal(word));
            stem.map(|stem| (0, word.len(), stem)).into_iter().collect()
        }
        Run::Han(run) => {
            let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
            let width = starts.len().min(2);
            let all = starts.into_iter().zip(parts(run, width));
            let saying = all.filter(|(_at, part)| {
                !stop::is_chinese(part) && !part.chars().all(stop::is_character)
            });
            saying.map(|(at, part)| (at, part.len(), normal(part).into_owned())).collect()
        }
    }
}

/// True when a text asks for a time: "when" is among its first two words.
pub(crate) fn asks_when(text: &str) -> bool {
    let text = normal(text);
    let mut words = runs(&text).filter_map(|run| match run {
        Run::Word(word) => Some(word),
        Run::Han(_) => None,
    });
    words.by_ref().take(2).any(|word| word.split('\'').next() == Some("when"))
}

/// True when a text says that something is not so, or not to be done.
pub fn has_negation(text: &str) -> bool {
    const WORDS: [&str; 9] =
        ["not", "no", "never", "none", "without", "cannot", "neither", "nor", "nothing"];
    const CHARACTERS: [char; 6] = ['不', '没', '别', '勿', '非', '无'];
    let text = normal(text);
    runs(&text).any(|run| match run {
        Run::Han(run) => run.contains(CHARACTERS),
        Run::Word(word) => WORDS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t"),
    })
}

/// True when a text has a word.
pub fn has_words(text: &str) -> bool {
    runs(&normal(text)).next().is_some()
}

/// True when a text says more in Chinese characters than in other words; two characters count as a word.
pub(crate) fn is_mostly_han(text: &str) -> bool {
    let (mut characters, mut others) = (0, 0);
    for run in runs(&normal(text)) {
        match run {
            Run::Han(run) => characters += run.chars().count(),
            Run::Word(_word) => others += 1,
        }
    }
    characters > 2 * others
}

/// The set of words by which two texts are compared (spec b.2.3): Chinese words of two characters or
/// more, other words of three letters or more and all numbers, without endings where they are English. Words that say
/// nothing by themselves are left out.
pub fn keywords(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for run in runs(&normal(text)) {
        match run {
            Run::Han(run) => {
                let words = DICTIONARY.cut(run, false).into_iter().map(|word| word.word);
                let long = words.filter(|word| word.chars().nth(1).is_some());
                let long = long.filter(|word| !stop::is_chinese(word));
                found.extend(long.map(str::to_owned));
            }
            Run::Word(word) if word.chars().nth(2).is_some() || has_digit(word) => {
                found.extend(stem(word));
            }
            Run::Word(_too_short) => {}
        }
    }
    found
}

/// Compatible characters as one (NFKC), lower case.
fn normal(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.bytes().any(|c| c.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Owned(text.to_lowercase())
    } else {
        Cow::Owned(text.nfkc().collect::<String>().to_lowercase())
    }
}

/// A piece of a text.
pub(crate) enum Run<'a> {
    Han(&'a str),
    Word(&'a str),
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々' | '〇')
}

/// Runs of Han characters, and of letters and digits with apostrophes in them.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(char::is_alphanumeric)?;
        rest = rest.get(start..)?;
        let of_han = rest.starts_with(is_han);
        let mut end = 0;
        let mut characters = rest.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let is_inner = matches!(c, '\'' | '’')
                && !of_han
                && characters.peek().is_some_and(|(_, c)| c.is_alphanumeric() && !is_han(*c));
            if !(is_inner || (c.is_alphanumeric() && is_han(c) == of_han)) {
                break;
            }
            end = at + c.len_utf8();
        }
        let (run, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(if of_han { Run::Han(run) } else { Run::Word(run) })
    })
}

/// All parts of that many characters.
fn parts(text: &str, width: usize) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let ends: Vec<usize> = starts.iter().skip(width).copied().collect();
    starts.into_iter().zip(ends).filter_map(|(start, end)| text.get(start..end))
}

fn shortened(word: &str) -> &str {
    word.get(..agentd_domain::floor_char_boundary(word, MAX_WORD_BYTES)).unwrap_or(word)
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// A word without its ending; none for one that says nothing.
fn stem(word: &str) -> Option<String> {
    let word = shortened(word).replace('’', "'");
    let endings = ["'s", "'t", "'re", "'ve", "'ll", "'d", "'m"];
    let bare = endings.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(&word);
    let bare = bare.replace('\'', "");
    (!bare.is_empty() && !stop::is_english(&bare)).then(|| ENGLISH.stem(&bare).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_cut_into_words_of_their_scripts() {
        use Stream::{Dictionary, Han, HanPair, Word, WordPair};
        let check = |text: &str, expect: &[(Stream, &str)]| {
            let expect: Vec<_> = expect.iter().map(|(s, term)| (*s, (*term).to_owned())).collect();
            assert_eq!(terms(text).terms, expect, "{text}");
        };
        check(
            "The Databases weren't Ann’s",
            &[
                (Word, "databas"),
                (WordPair, "databas weren"),
                (Word, "weren"),
                (WordPair, "weren ann"),
                (Word, "ann"),
            ],
        );
        check(
            "数据库",
            &[
                (Han, "数"),
                (Han, "据"),
                (Han, "库"),
                (HanPair, "数据"),
                (HanPair, "据库"),
                (Dictionary, "数据库"),
                (Dictionary, "数据"),
                (Dictionary, "据库"),
            ],
        );
        check("ＡＢＣ 是的", &[(Word, "abc")]);
        check("?! _", &[]);
        assert!((terms("数据库 of the port").length - 2.5).abs() < f32::EPSILON);
        let words = |text: &str| keywords(text).into_iter().collect::<Vec<_>>();
        assert_eq!(words("The port is 80 or 8080"), ["80", "8080", "port"]);
        assert_eq!(words("用户喜欢用制表符"), ["制表符", "喜欢", "用户"]);
    }

    proptest! {
        #[test]
        fn en_01_any_text_has_words_within_bounds(text in ".{0,200}", n in 0_usize..200) {
            let long = "a".repeat(n) + "世😀é" + &text;
            let cut = terms(&long);
            prop_assert!(cut.terms.iter().all(|(_, term)| !term.is_empty() && term.len() <= 3 * MAX_WORD_BYTES));
            let words = keywords(&long);
            prop_assert!(words.iter().all(|word| !word.is_empty() && word.len() <= 3 * MAX_WORD_BYTES));
        }
    }
}
