//! Whether two texts say the same, and one text out of two (spec b.6).

use std::collections::BTreeSet;

use agentd_domain::{Memory, MemoryCategory};
use agentd_search::{has_negation, keywords};

use crate::book::is_by_user;

/// Share of words that two memories have in common: Jaccard, times 1.1 when they are of one category.
/// Where one has no words, their characters are compared.
pub(crate) fn similarity(a: &Memory, b: &Memory) -> f64 {
    let (mut x, mut y) = (words(a), words(b));
    if x.is_empty() || y.is_empty() {
        (x, y) = (characters(a), characters(b));
    }
    let shared = x.intersection(&y).count();
    let all = x.len() + y.len() - shared;
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    let jaccard = if all == 0 { 0.0 } else { shared as f64 / all as f64 };
    if a.category == b.category { jaccard * 1.1 } else { jaccard }
}

/// How many words two memories have in common.
pub(crate) fn shared_words(a: &Memory, b: &Memory) -> usize {
    words(a).intersection(&words(b)).count()
}

fn words(memory: &Memory) -> BTreeSet<String> {
    let mut words = keywords(&memory.content);
    // Every statement about a user begins so.
    words.remove("user");
    words.extend(memory.tags.iter().cloned());
    words
}

fn characters(memory: &Memory) -> BTreeSet<String> {
    memory.content.chars().filter(|c| !c.is_whitespace()).map(String::from).collect()
}

/// True when two memories may become one: where they differ they say more, not something else.
///
/// What a user pinned only a user adds to. Reminders are two when their times are; what holds for ever
/// does not end because a note about the same does. A value in another's place, another order or a "not"
/// is another statement (W0-10).
pub(crate) fn may_merge(old: &Memory, new: &Memory) -> bool {
    // A reminder is about its time, and what the daemon made is about its sources.
    let is_own_kind =
        |it: &Memory| matches!(it.category, MemoryCategory::Reminder | MemoryCategory::Reflection);
    if is_own_kind(old)
        || is_own_kind(new)
        || (old.pinned && !is_by_user(new))
        || old.expires_at.is_some() != new.expires_at.is_some()
        || has_negation(&old.content) != has_negation(&new.content)
    {
        return false;
    }
    let (old_text, new_text) = (normal(&old.content), normal(&new.content));
    if holds(&old_text, &new_text) || holds(&new_text, &old_text) {
        return true;
    }
    let (x, y) = (words(old), words(new));
    let (only_old, only_new) = (x.difference(&y).count(), y.difference(&x).count());
    // One word in the place of another, or the same words in another order.
    let shared: BTreeSet<&String> = x.intersection(&y).collect();
    !(only_old == only_new && only_old <= 1)
        && in_order(&old.content, &shared) == in_order(&new.content, &shared)
}

/// Those of some words that stand in a text by themselves, in the order in which they first do.
fn in_order(text: &str, words: &BTreeSet<&String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let mut stems = keywords(word).into_iter();
        if let (Some(stem), None) = (stems.next(), stems.next())
            && words.contains(&stem)
            && !found.contains(&stem)
        {
            found.push(stem);
        }
    }
    found
}

/// The text as it is compared: one space between words.
pub(crate) fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True when a text holds another one from the border of a word to the border of a word.
fn holds(whole: &str, part: &str) -> bool {
    let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    whole.match_indices(part).any(|(at, found)| {
        let (before, rest) = whole.split_at(at);
        let after = rest.get(found.len()..).unwrap_or_default();
        let begins_inside = is_inner(before.chars().next_back()) && is_inner(part.chars().next());
        let ends_inside = is_inner(after.chars().next()) && is_inner(part.chars().next_back());
        !begins_inside && !ends_inside
    })
}

/// A text that says what both say: the one that holds the other, or both. None when that is too long:
/// nothing is ever left out.
pub(crate) fn joined(old: &str, new: &str) -> Option<String> {
    let (old_normal, new_normal) = (normal(old), normal(new));
    if holds(&old_normal, &new_normal) {
        return Some(old.to_owned());
    }
    if holds(&new_normal, &old_normal) {
        return Some(new.to_owned());
    }
    let both = format!("{old}\n{new}");
    (both.chars().count() <= Memory::MAX_CONTENT).then_some(both)
}

/// `new` put into `old`: the more important of both, the earlier end, all tags. The category stays, and
/// the origin too, unless only the new one is a person's: their words are not the daemon's to replace.
/// None when the texts do not fit together.
pub(crate) fn merged(old: &Memory, new: &Memory) -> Option<Memory> {
    let mut tags: BTreeSet<&String> = old.tags.iter().collect();
    tags.extend(&new.tags);
    if tags.len() > Memory::MAX_TAGS {
        return None;
    }
    Some(Memory {
        content: joined(&old.content, &new.content)?,
        priority: old.priority.min(new.priority),
        importance: old.importance.max(new.importance),
        tags: tags.into_iter().cloned().collect(),
        expires_at: match (old.expires_at, new.expires_at) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (one, other) => one.or(other),
        },
        pinned: old.pinned || new.pinned,
        origin: if is_by_user(new) && !is_by_user(old) { &new.origin } else { &old.origin }.clone(),
        ..old.clone()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_memory::memory;

    #[test]
    fn texts_that_say_the_same_are_one_and_others_are_not() {
        let check = |a: &str, b: &str, expect: bool| {
            let (a, b) = (memory(1, a), memory(2, b));
            let similar = similarity(&a, &b);
            let is_one = similar >= 0.6 && may_merge(&a, &b);
            assert_eq!(is_one, expect, "{} / {}: {similar}", a.content, b.content);
        };
        check("The user prefers tabs over spaces", "user prefers tabs over spaces in code", true);
        check("The user prefers tabs over spaces", "The user prefers dark themes", false);
        check("The user prefers tabs over spaces", "The user prefers spaces over tabs", false);
        check(
            "The user prefers tabs over spaces",
            "The user prefers spaces over tabs in Golang sources",
            false,
        );
        check("The user likes coffee", "The user likes football", false);
        check("The user lives in Berlin", "The user lives in Paris", false);
        check(
            "The staging server of the shop listens on port 8080",
            "The staging server of the shop listens on port 80",
            false,
        );
        check("Do not push to main", "push to main", false);
        check("用户喜欢用制表符缩进代码", "用户喜欢用制表符缩进", true);
        check("用户喜欢喝咖啡", "用户住在北京", false);
        check("👍🎉", "👍🎉", true);
    }

    #[test]
    fn reminders_pins_and_ends_are_not_merged_away() {
        let (a, b) = (memory(1, "Water the plants"), memory(2, "Water the plants"));
        let ends =
            |it: &Memory| Memory { expires_at: Some(agentd_domain::TimestampMs(9)), ..it.clone() };
        let reminder = Memory { category: MemoryCategory::Reminder, ..ends(&b) };
        assert!(may_merge(&a, &b) && may_merge(&ends(&a), &ends(&b)));
        assert!(!may_merge(&a, &reminder) && !may_merge(&a, &ends(&b)));
        assert!(!may_merge(&Memory { pinned: true, ..a }, &b));
    }

    #[test]
    fn w0_10_new_information_is_never_dropped() {
        let long = "The build server is called anvil. ".repeat(10);
        let joined = joined(&long, "It runs Debian.").unwrap();
        assert!(joined.contains(&long) && joined.contains("It runs Debian."));
        assert_eq!(super::joined("a  b c", "b c"), Some("a  b c".to_owned()));
        let port = super::joined("It listens on port 8080", "port 80").unwrap();
        assert!(port.ends_with("\nport 80"), "{port}");
        assert_eq!(super::joined(&"x".repeat(1990), &"y".repeat(20)), None);
    }

    proptest! {
        #[test]
        fn merging_never_loses_a_fact(old in ".{1,80}", new in ".{1,80}", tags in prop::collection::vec("[a-z]{1,5}", 0..8)) {
            let (half, rest) = tags.split_at(tags.len() / 2);
            let a = Memory { tags: half.to_vec(), ..memory(1, &old) };
            let b = Memory { tags: rest.to_vec(), ..memory(2, &new) };
            let both = merged(&a, &b).unwrap();
            let text = normal(&both.content);
            prop_assert!(text.contains(&normal(&old)) && text.contains(&normal(&new)));
            prop_assert!(tags.iter().all(|tag| both.tags.contains(tag)));
            prop_assert!(both.priority <= a.priority.min(b.priority));
        }
    }
}
