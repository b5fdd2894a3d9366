//! Cutting text at limits without breaking characters.

use unicode_segmentation::UnicodeSegmentation as _;

/// The largest index not above `index` that is a character boundary of `text`.
pub fn floor_char_boundary(text: &str, index: usize) -> usize {
    if index >= text.len() {
        return text.len();
    }
    (0..=index).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Cuts `text` to one line of at most `max_graphemes` user-perceived characters, an ellipsis
/// included. White space runs become one space; control characters vanish.
pub fn cut_line(text: &str, max_graphemes: usize) -> String {
    let mut line = String::new();
    let mut graphemes = 0;
    let mut gap = false;
    for grapheme in text.graphemes(true) {
        if grapheme.chars().all(char::is_whitespace) {
            gap = !line.is_empty();
            continue;
        }
        if grapheme.chars().any(char::is_control) {
            continue;
        }
        let needed = usize::from(gap) + 1;
        if graphemes + needed > max_graphemes {
            // Make room for the ellipsis.
            if let Some((at, _)) = line.grapheme_indices(true).nth(max_graphemes.saturating_sub(1))
            {
                line.truncate(at);
            }
            line.truncate(line.trim_end().len());
            line.push('…');
            return line;
        }
        if gap {
            line.push(' ');
            gap = false;
        }
        line.push_str(grapheme);
        graphemes += needed;
    }
    line
}

/// How far from the middle a cut may move to fall on a line end, in bytes (spec c.9).
const LINE_SEARCH: usize = 256;

/// Keeps head and tail of a text longer than `max_bytes`, with a marker that says how much is
/// missing. Cuts fall on line ends when one is near, else on character boundaries. The result is at
/// most `max_bytes` plus the marker's length.
pub fn cut_head_tail(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let half = max_bytes / 2;
    let head_end = floor_char_boundary(text, half);
    let head = text.get(..head_end).unwrap_or_default();
    let near = floor_char_boundary(head, head.len().saturating_sub(LINE_SEARCH));
    let head = match head.get(near..).and_then(|end| end.rfind('\n')) {
        Some(at) => head.get(..=near + at).unwrap_or(head),
        None => head,
    };

    let tail_start = ceil_char_boundary(text, text.len() - half);
    let tail = text.get(tail_start..).unwrap_or_default();
    let near = floor_char_boundary(tail, LINE_SEARCH);
    let tail = match tail.get(..near).and_then(|start| start.find('\n')) {
        Some(at) => tail.get(at + 1..).unwrap_or(tail),
        None => tail,
    };
    let missing = text.len() - head.len() - tail.len();
    format!("{head}\n[... {missing} bytes left out ...]\n{tail}")
}

fn ceil_char_boundary(text: &str, index: usize) -> usize {
    (index..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn en_01_lines_are_cut_between_graphemes() {
        for end in ["世", "😀", "e\u{301}", "👨‍👩‍👧‍👦"] {
            for limit in [1, 2, 20, 80] {
                let text = format!("{}{end}{end}", "a".repeat(limit - 1));
                let cut = cut_line(&text, limit);
                assert_eq!(cut, format!("{}…", "a".repeat(limit - 1)), "{end} at {limit}");
            }
        }
    }

    #[test]
    fn a_line_has_no_line_breaks_or_escapes() {
        assert_eq!(cut_line("  one\n two\t\x1b[2Jthree ", 50), "one two [2Jthree");
    }

    #[test]
    fn a_short_line_is_kept() {
        assert_eq!(cut_line("日本語の題名", 6), "日本語の題名");
    }

    #[test]
    fn head_and_tail_are_cut_on_line_ends() {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n}")).collect();
        let text = lines.join("\n") + "\n";
        let cut = cut_head_tail(&text, 60);
        assert_eq!(
            cut,
            "line 0\nline 1\nline 2\nline 3\n\n[... 738 bytes left out ...]\nline 97\nline 98\nline 99\n"
        );
    }

    proptest! {
        #[test]
        fn en_01_cuts_never_panic_and_are_bounded(text in "[a-z世😀é\u{301}\n ]{0,200}", max in 0_usize..120) {
            let cut = cut_head_tail(&text, max);
            prop_assert!(cut.len() <= max.max(text.len().min(max)) + 48);
            prop_assert!(cut_line(&text, max.max(1)).graphemes(true).count() <= max.max(1));
            prop_assert!(text.is_char_boundary(floor_char_boundary(&text, max)));
        }
    }
}
