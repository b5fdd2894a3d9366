//! The part of a line that a match is in.

use std::ops::Range;

/// Longest line that is shown whole, in bytes.
const MAX_LINE: usize = 400;

/// Bytes that are shown before a match in a longer one.
const BEFORE: usize = 120;

/// The line without its end, or when it is long what is around `focus`, with markers that count what
/// is cut. Bytes that are not UTF-8 become replacement characters.
pub(super) fn excerpt(line: &[u8], focus: &Range<usize>) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MAX_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    let latest = line.len().saturating_sub(MAX_LINE);
    let start = boundary(line, focus.start.saturating_sub(BEFORE).min(latest));
    let end = boundary(line, start + MAX_LINE);
    let text = String::from_utf8_lossy(line.get(start..end).unwrap_or_default()).into_owned();
    let cut = |bytes: usize| (bytes > 0).then(|| format!("[{bytes} bytes cut]"));
    let parts = [cut(start), Some(text), cut(line.len() - end)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The next index at which no UTF-8 character is cut, if the bytes are UTF-8.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let is_inside = |index: &usize| bytes.get(*index).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at..=bytes.len().min(at + 3)).find(|index| !is_inside(index)).unwrap_or(at.min(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_shown_without_its_end() {
        let check =
            |line: &str, expect: &str| assert_eq!(excerpt(line.as_bytes(), &(0..1)), expect);
        check("plain\r\n", "plain");
        check("plain\n", "plain");
        check("", "");
        check(&"a".repeat(MAX_LINE), &"a".repeat(MAX_LINE));
    }

    #[test]
    fn en_01_a_long_line_is_cut_on_character_boundaries() {
        for what in ["世", "😀", "e\u{301}", "👨‍👩‍👧‍👦"] {
            for lead in 0..8 {
                let line = format!("{}{}", "a".repeat(lead), what.repeat(1_000));
                for at in (0..line.len()).step_by(7) {
                    let shown = excerpt(line.as_bytes(), &(at..at + 1));
                    assert!(!shown.contains('\u{fffd}'), "{what} {lead} {at}: {shown}");
                    assert!(shown.len() < MAX_LINE + 60);
                }
            }
        }
    }

    #[test]
    fn gg_01_what_is_around_the_match_is_shown() {
        let line = format!("{}needle{}", "x".repeat(1_000_000), "y".repeat(500));
        let shown = excerpt(line.as_bytes(), &(1_000_000..1_000_006));
        assert!(shown.starts_with("[999880 bytes cut] xxx"), "{shown}");
        assert!(shown.contains("xneedley"), "{shown}");
        assert!(shown.ends_with("y [226 bytes cut]"), "{shown}");
    }
}
