//! What somebody picks by a number, a name or an id.

/// The choice that a text names, by itself or by its number.
pub fn choice(choices: &[String], text: &str) -> Option<String> {
    let text = text.trim();
    let by_number = text.parse::<usize>().ok().and_then(|it| choices.get(it.checked_sub(1)?));
    let by_name = choices.iter().find(|choice| choice.eq_ignore_ascii_case(text));
    by_name.or(by_number).cloned()
}

/// A queued message by its number, with or without a `#`, its id, or the only one.
pub fn queued<'q>(waiting: &[&'q str], wanted: &str) -> Option<&'q str> {
    if wanted.is_empty() {
        return match waiting {
            [only] => Some(only),
            _ => None,
        };
    }
    // Ids begin with a zero.
    if !wanted.starts_with('0')
        && let Ok(number) = wanted.trim_start_matches('#').parse::<usize>()
        && let Some(found) = number.checked_sub(1).and_then(|index| waiting.get(index))
    {
        return Some(found);
    }
    let wanted = wanted.to_ascii_uppercase();
    let mut fits = waiting.iter().filter(|item_id| item_id.starts_with(&wanted));
    let found = fits.next()?;
    fits.next().is_none().then_some(*found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_named_or_numbered() {
        let choices = ["continue".to_owned(), "stop".to_owned()];
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(choice(&choices, text).as_deref(), expect, "{text:?}");
        };
        check("continue", Some("continue"));
        check(" STOP ", Some("stop"));
        check("1", Some("continue"));
        check("2", Some("stop"));
        check("0", None);
        check("3", None);
        check("go on please", None);
    }

    #[test]
    fn a_queued_message_is_numbered_named_or_the_only_one() {
        let check = |waiting: &[&str], wanted: &str, expect: Option<&str>| {
            assert_eq!(queued(waiting, wanted), expect, "{wanted:?}");
        };
        check(&["01A", "01B"], "2", Some("01B"));
        check(&["01A", "01B"], "#2", Some("01B"));
        check(&["01A", "01B"], "01a", Some("01A"));
        check(&["01A", "01B"], "01", None);
        check(&["01A", "01B"], "", None);
        check(&["01A"], "", Some("01A"));
        check(&[], "1", None);
    }
}
