//! How well something that is sought fits a text: what lists and completion sort by.

/// What letters beside each other, and at the beginning of a word, count more.
const BESIDE: usize = 4;
const BEGINS: usize = 3;

/// How well a text has what is sought: all of it in one piece, or else its letters in their order. None
/// when it does not; more is better.
pub fn fit(sought: &str, text: &str) -> Option<usize> {
    let (sought, text) = (sought.to_lowercase(), text.to_lowercase());
    if text.contains(&sought) {
        let begins = if text.starts_with(&sought) { 100 } else { 0 };
        return Some(1_000 + sought.len() * BESIDE + begins);
    }
    let mut letters = text.chars();
    let (mut score, mut before, mut is_beside) = (0, ' ', false);
    for wanted in sought.chars().filter(|letter| *letter != ' ') {
        loop {
            let letter = letters.next()?;
            let begins = !before.is_alphanumeric();
            before = letter;
            if letter == wanted {
                score += 1 + if is_beside { BESIDE } else { 0 } + if begins { BEGINS } else { 0 };
                is_beside = true;
                break;
            }
            is_beside = false;
        }
    }
    Some(score)
}
