//! The part of a text that shows why it was found.

use std::collections::BTreeSet;

use crate::words::{self, Run};

/// Characters by which a cut is moved so that it falls between words.
const TO_A_WORD: usize = 16;

/// What part of the room before the first match is for what leads to it.
const BEFORE: usize = 3;

/// At most `most` characters of a text, in one line, around the place that has the most different words
/// of the question; the beginning where it has none. `…` stands for what is cut off, beside those.
/// Control characters become spaces.
pub fn snippet(text: &str, question: &str, most: usize) -> String {
    let line = one_line(text);
    let starts: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
    if starts.len() <= most {
        return line;
    }
    let found = matches(&line, &words::marks(question));
    let (first, last) = best(&found, &starts, most).unwrap_or((0, 0));
    let spare = most.saturating_sub(last - first);
    let mut begin = first.saturating_sub(spare / BEFORE).min(starts.len() - most);
    let mut end = begin + most;
    let is_space = |place: usize| {
        starts.get(place).and_then(|at| line.get(*at..)).is_some_and(|it| it.starts_with(' '))
    };
    if begin > 0 {
        let word = (begin..first.min(begin + TO_A_WORD)).find(|place| is_space(*place));
        begin = word.map_or(begin, |space| space + 1);
    }
    if end < starts.len() {
        let word =
            (last.max(end.saturating_sub(TO_A_WORD))..=end).rev().find(|place| is_space(*place));
        end = word.filter(|space| *space > begin).unwrap_or(end);
    }
    let at = |place: usize| starts.get(place).copied().unwrap_or(line.len());
    let shown = line.get(at(begin)..at(end)).unwrap_or_default().trim();
    let before = if begin > 0 { "…" } else { "" };
    let after = if end < starts.len() { "…" } else { "" };
    format!("{before}{shown}{after}")
}

/// White space and control characters as single spaces.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A word of the question in a text, from byte to byte.
struct Match {
    from: usize,
    to: usize,
    word: String,
}

fn matches(text: &str, wanted: &BTreeSet<String>) -> Vec<Match> {
    let mut found = Vec::new();
    let mut after = 0;
    for run in words::runs(text) {
        let (Run::Han(part) | Run::Word(part)) = &run;
        // Between two runs there is nothing that a run begins with.
        let Some(from) = text.get(after..).and_then(|rest| rest.find(part)).map(|at| after + at)
        else {
            break;
        };
        after = from + part.len();
        for (at, length, word) in words::marks_of(&run) {
            if wanted.contains(&word) {
                found.push(Match { from: from + at, to: from + at + length, word });
            }
        }
    }
    found
}

/// The characters from and to which the best window of that many goes; none when nothing matches.
fn best(found: &[Match], starts: &[usize], most: usize) -> Option<(usize, usize)> {
    let place = |at: usize| starts.partition_point(|start| *start < at);
    let mut best: Option<((usize, usize), (usize, usize))> = None;
    for (number, begin) in found.iter().enumerate() {
        let first = place(begin.from);
        let fits = found.iter().skip(number).take_while(|it| place(it.to) <= first + most);
        let (mut kinds, mut count, mut last) = (BTreeSet::new(), 0, place(begin.to));
        for it in fits {
            kinds.insert(it.word.as_str());
            count += 1;
            last = place(it.to);
        }
        let worth = (kinds.len(), count);
        if best.is_none_or(|(better, _)| worth > better) {
            best = Some((worth, (first, last)));
        }
    }
    best.map(|(_worth, window)| window)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_snippet_is_where_most_words_of_the_question_are() {
        let filler = "nothing to see here ".repeat(30);
        let text =
            format!("deploy once. {filler}the key of the deploy host is on the shelf. {filler}");
        let got = snippet(&text, "Where are the deploy keys?", 60);
        assert!(got.contains("key of the deploy host"), "{got}");
        assert!(got.starts_with('…') && got.ends_with('…'), "{got}");
        assert!(got.chars().count() <= 62, "{got}");
        assert_eq!(snippet("short\n and\tplain\u{7}", "x", 60), "short and plain");
        assert!(snippet(&text, "zebra", 20).starts_with("deploy once."), "nothing matches");
    }

    #[test]
    fn a_snippet_of_chinese_is_found_by_its_words() {
        let filler = "今天天气很好我们去散步。".repeat(20);
        let text = format!("{filler}数据库的密码在保险箱里。{filler}");
        let got = snippet(&text, "数据库密码在哪", 20);
        assert!(got.contains("数据库的密码"), "{got}");
        assert!(got.chars().count() <= 22, "{got}");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_to_one_line_within_bounds(text in ".{0,200}", question in ".{0,20}", most in 1_usize..60) {
            let text = text.clone() + "世界 é\n" + &text + &question;
            let got = snippet(&text, &question, most);
            prop_assert!(got.chars().count() <= most + 2, "{got}");
            prop_assert!(!got.contains(char::is_control), "{got:?}");
        }
    }
}
