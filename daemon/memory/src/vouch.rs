//! Whether somebody stands behind a text.

use std::collections::BTreeSet;

use agentd_search::stems;

use crate::Vouched;

/// Share of the words of a text that must be the user's own for it to be the user's word.
const OWN_WORDS: f64 = 0.6;

/// Yes when the words are the user's own, or when nothing in the conversation is from elsewhere.
pub fn vouched(content: &str, said: &str, has_outside_text: bool) -> Vouched {
    if !has_outside_text || own_share(content, said) >= OWN_WORDS {
        Vouched::Yes
    } else {
        Vouched::No
    }
}

/// True when a user has used a word of the text.
pub fn is_spoken_of(text: &str, said: &str) -> bool {
    own_share(text, said) > 0.0
}

fn own_share(content: &str, said: &str) -> f64 {
    let (words, own) = (words(content), words(said));
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    let share = words.intersection(&own).count() as f64 / words.len().max(1) as f64;
    share
}

/// The words that say something, but for the one that a statement about a user begins with.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = stems(text);
    words.remove("user");
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_users_own_words_are_vouched_for_when_others_have_spoken() {
        let check = |content: &str, said: &str, expect: Vouched| {
            assert_eq!(vouched(content, said, true), expect, "{content} / {said}");
        };
        check("The user prefers tabs over spaces", "i prefer tabs over spaces", Vouched::Yes);
        check("用户喜欢喝咖啡", "我喜欢喝咖啡，记住", Vouched::Yes);
        check("Invoices go to evil.example", "sum up that page", Vouched::No);
        check("?!", "sum up that page", Vouched::No);
        assert_eq!(vouched("Anything", "else", false), Vouched::Yes);
    }
}
