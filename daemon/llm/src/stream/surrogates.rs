//! Halves of UTF-16 pairs in JSON.
//!
//! JSON may escape half a pair, alone or in two deltas. Text cannot hold halves, so they arrive here as
//! bytes in WTF-8: UTF-8 in which a half is encoded like any other code point.

use std::borrow::Cow;

/// Builds a text from pieces, of which one may end with the first half of a character and the next
/// start with the second.
#[derive(Debug, Default, Clone)]
pub(crate) struct SurrogateJoiner {
    high: Option<u32>,
}

impl SurrogateJoiner {
    /// Appends a piece. Halves without partner and invalid bytes become U+FFFD, nothing else changes.
    pub(crate) fn push(&mut self, piece: &[u8], text: &mut String) {
        if self.high.is_none()
            && let Ok(piece) = std::str::from_utf8(piece)
        {
            text.push_str(piece);
            return;
        }
        let mut rest = piece;
        while !rest.is_empty() {
            if let Some((half, after)) = split_surrogate(rest) {
                rest = after;
                self.push_half(half, text);
                continue;
            }
            self.finish(text);
            let valid = match std::str::from_utf8(rest) {
                Ok(all) => all.len(),
                Err(error) => error.valid_up_to(),
            };
            if valid == 0 {
                text.push(char::REPLACEMENT_CHARACTER);
                rest = rest.get(1..).unwrap_or_default();
            } else {
                let (good, after) = rest.split_at(valid);
                text.push_str(&String::from_utf8_lossy(good));
                rest = after;
            }
        }
    }

    /// Gives up waiting for a second half.
    pub(crate) fn finish(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn push_half(&mut self, half: u32, text: &mut String) {
        let is_high = half < 0xDC00;
        match self.high.take() {
            Some(high) if !is_high => {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (half - 0xDC00);
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                return;
            }
            Some(_alone) => text.push(char::REPLACEMENT_CHARACTER),
            None => {}
        }
        if is_high {
            self.high = Some(half);
        } else {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Splits a half off that is encoded in three bytes.
fn split_surrogate(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match bytes {
        [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, rest @ ..] => {
            let half = 0xD000 | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F);
            Some((half, rest))
        }
        _ => None,
    }
}

/// Replaces escaped halves without partner in a JSON text by an escaped U+FFFD, so that any parser
/// takes it.
pub(crate) fn replace_lone_escapes(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u") {
        return Cow::Borrowed(json);
    }
    let mut repaired = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        // The escaped character may be of any length when the text is no JSON.
        let next = json.get(start + 1..).and_then(|rest| rest.chars().next());
        at = start + 1 + next.map_or(0, char::len_utf8);
        let Some(code) = escaped_unit(json, start) else { continue };
        at = start + 6;
        match code {
            0xD800..=0xDBFF if matches!(escaped_unit(json, at), Some(0xDC00..=0xDFFF)) => at += 6,
            0xD800..=0xDFFF => {
                repaired.push_str(json.get(kept..start).unwrap_or_default());
                repaired.push_str("\\ufffd");
                kept = at;
            }
            _ => {}
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    repaired.push_str(json.get(kept..).unwrap_or_default());
    Cow::Owned(repaired)
}

/// The UTF-16 unit that is escaped at this place.
fn escaped_unit(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        u32::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn en_02_halves_are_joined_across_pieces() {
        let check = |pieces: &[&[u8]], expect: &str| {
            let mut joiner = SurrogateJoiner::default();
            let mut text = String::new();
            for piece in pieces {
                joiner.push(piece, &mut text);
            }
            joiner.finish(&mut text);
            assert_eq!(text, expect, "{pieces:x?}");
        };
        let (high, low): (&[u8], &[u8]) = (b"\xED\xA0\xBD", b"\xED\xB8\x80");
        check(&[high, low], "😀");
        check(&[b"a\xED\xA0\xBD", b"\xED\xB8\x80b"], "a😀b");
        check(&[high], "\u{FFFD}");
        check(&[low], "\u{FFFD}");
        check(&[high, b"x", low], "\u{FFFD}x\u{FFFD}");
        check(&[high, high, low], "\u{FFFD}😀");
        check(&[high, b"", low], "😀");
        check(&[b"ok \xED\xA0\x80 end"], "ok \u{FFFD} end");
        check(&["世".as_bytes()], "世");
        check(&[b"a\xFFb"], "a\u{FFFD}b");
        check(&["퟿".as_bytes()], "퟿");
    }

    #[test]
    fn en_02_escaped_halves_are_replaced_where_they_stand_alone() {
        let check = |json: &str, expect: &str| assert_eq!(replace_lone_escapes(json), expect);
        check(r#"{"a":"\udf06"}"#, r#"{"a":"\ufffd"}"#);
        check(r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#);
        check(r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#);
        check(r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#);
        check(r#"{"a":"\u4f7f\n"}"#, r#"{"a":"\u4f7f\n"}"#);
        check(r"\ud83", r"\ud83");
        check(r"\u世", r"\u世");
        check("\\", "\\");
    }

    proptest! {
        #[test]
        fn en_02_repaired_json_parses(text in r#"([a-z世]|\\\\|\\n|\\"|\\u[dD][89a-fA-F][0-9]{2}|\\u0041){0,12}"#) {
            let json = format!("\"{text}\"");
            prop_assert!(serde_json::from_str::<String>(&replace_lone_escapes(&json)).is_ok());
        }
    }
}
