//! Text from outside, without what acts on a terminal or hides from readers.

/// The text with line breaks and tabs, but without control characters, characters that turn the
/// direction of writing, and tag characters, which nobody sees.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' | '\u{2028}' | '\u{2029}' => plain.push('\n'),
            '\n' | '\t' => plain.push(c),
            c if is_hidden(c) => {}
            c => plain.push(c),
        }
    }
    plain
}

/// [`plain`] on one line, with single spaces.
pub(super) fn plain_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_acts_on_a_terminal_or_hides() {
        assert_eq!(plain("a\r\nb\rc\td\u{1b}[31m\u{9b}1m\u{7f}\0"), "a\nb\nc\td[31m1m");
        assert_eq!(plain("x\u{202e}y\u{e0041}z👨‍👩‍👧"), "xyz👨‍👩‍👧");
        assert_eq!(plain_line(" a \n\n b\u{1b}]0;t\u{7} "), "a b]0;t");
    }
}
