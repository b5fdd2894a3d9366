//! Whether two texts say the same, and one text out of two (spec b.6).

use std::collections::BTreeSet;

use agentd_domain::Memory;
use agentd_search::keywords;

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

fn words(memory: &Memory) -> BTreeSet<String> {
    let mut words = keywords(&memory.content);
    words.extend(memory.tags.iter().cloned());
    words
}

fn characters(memory: &Memory) -> BTreeSet<String> {
    memory.content.chars().filter(|c| !c.is_whitespace()).map(String::from).collect()
}

/// The text as it is compared: one space between words.
pub(crate) fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text that says what both say: the one that holds the other, or both. None when that is too long:
/// nothing is ever left out.
pub(crate) fn joined(old: &str, new: &str) -> Option<String> {
    let (old_normal, new_normal) = (normal(old), normal(new));
    if old_normal.contains(&new_normal) {
        return Some(old.to_owned());
    }
    if new_normal.contains(&old_normal) {
        return Some(new.to_owned());
    }
    let both = format!("{old}\n{new}");
    (both.chars().count() <= Memory::MAX_CONTENT).then_some(both)
}

/// `new` put into `old`: the more important of both, the earlier end, all tags. The category and the
/// origin stay. None when the texts do not fit together.
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
        ..old.clone()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_memory::memory;

    #[test]
    fn texts_that_say_the_same_are_similar() {
        let check = |a: &str, b: &str, expect: bool| {
            let similar = similarity(&memory(1, a), &memory(2, b));
            assert_eq!(similar >= 0.6, expect, "{a} / {b}: {similar}");
        };
        check("The user prefers tabs over spaces", "user prefers tabs over spaces in code", true);
        check("The user prefers tabs over spaces", "The user prefers dark themes", false);
        check("用户喜欢用制表符缩进代码", "用户喜欢用制表符缩进", true);
        check("用户喜欢喝咖啡", "用户住在北京", false);
        check("👍🎉", "👍🎉", true);
    }

    #[test]
    fn w0_10_new_information_is_never_dropped() {
        let long = "The build server is called anvil. ".repeat(10);
        let joined = joined(&long, "It runs Debian.").unwrap();
        assert!(joined.contains(&long) && joined.contains("It runs Debian."));
        assert_eq!(super::joined("a  b c", "b c"), Some("a  b c".to_owned()));
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
