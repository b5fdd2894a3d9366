//! Escapes that stand for half a character.
//!
//! JSON lets `\ud83d` stand alone, text in UTF-8 does not, and the parser would refuse the whole
//! call for it. Only that spot is replaced.

use std::borrow::Cow;

/// Replaces each `\uD800`-`\uDFFF` that has no partner by `\ufffd`.
pub(super) fn replace_lone(text: &str) -> Cow<'_, str> {
    let mut fixed = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let Some(first) = escape(text, at) else {
            // Another escape: the character after the backslash is part of it.
            at += 1 + text
                .get(at + 1..)
                .and_then(|rest| rest.chars().next())
                .map_or(0, char::len_utf8);
            continue;
        };
        let is_pair = is_high(first) && escape(text, at + ESCAPE).is_some_and(is_low);
        if is_pair {
            at += 2 * ESCAPE;
            continue;
        }
        if is_high(first) || is_low(first) {
            fixed.push_str(text.get(copied..at).unwrap_or_default());
            fixed.push_str("\\ufffd");
            copied = at + ESCAPE;
        }
        at += ESCAPE;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    fixed.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(fixed)
}

/// Length of `\uXXXX`.
const ESCAPE: usize = 6;

fn escape(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn en_02_only_halves_without_a_partner_are_replaced() {
        let check = |input: &str, expect: &str| assert_eq!(replace_lone(input), expect, "{input}");
        check(r#"{"a":"plain 世界"}"#, r#"{"a":"plain 世界"}"#);
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""\ud83d""#, r#""\ufffd""#);
        check(r#""x\udf06y""#, r#""x\ufffdy""#);
        check(r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#);
        check(r#""\\ud83d""#, r#""\\ud83d""#);
        check(r#""\\\ud83d""#, r#""\\\ufffd""#);
        check(r#""\ud83"#, r#""\ud83"#);
        check("\\", "\\");
        check("\\世\\ud800", "\\世\\ufffd");
    }
}
