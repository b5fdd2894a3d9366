//! One line that is being written: a title, words to look for.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

/// Characters of the longest line.
const MAX_CHARS: usize = 200;

/// A line with its cursor at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
}

impl LineEdit {
    /// Begins with a text.
    pub fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.paste(text);
        line
    }

    /// What is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes a text in one line, as far as there is room.
    pub fn paste(&mut self, text: &str) {
        let room = MAX_CHARS.saturating_sub(self.text.chars().count());
        let inert = text.chars().map(|char| if char.is_control() { ' ' } else { char });
        self.text.extend(inert.take(room));
    }

    /// Takes a key. Keys that are no text and delete nothing are left alone.
    pub fn key(&mut self, key: KeyEvent) {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if ctrl => self.text.clear(),
            KeyCode::Char('w') if ctrl => {
                let kept =
                    self.text.trim_end().trim_end_matches(|char: char| !char.is_whitespace());
                self.text.truncate(kept.len());
            }
            KeyCode::Char('h') if ctrl => self.delete(),
            KeyCode::Backspace => self.delete(),
            KeyCode::Char(char) if !ctrl && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.paste(char.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
    }

    fn delete(&mut self) {
        let last = self.text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
        self.text.truncate(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_text_and_gives_up_whole_graphemes_and_words() {
        let check = |keys: &[(KeyCode, KeyModifiers)], expect: &str| {
            let mut line = LineEdit::new("two 日本👩‍👩‍👧‍👦");
            for (code, modifiers) in keys {
                line.key(KeyEvent::new(*code, *modifiers));
            }
            assert_eq!(line.text(), expect);
        };
        let plain = KeyModifiers::NONE;
        check(&[(KeyCode::Backspace, plain)], "two 日本");
        check(&[(KeyCode::Char('w'), KeyModifiers::CONTROL)], "two ");
        check(&[(KeyCode::Char('u'), KeyModifiers::CONTROL)], "");
        check(&[(KeyCode::Char('x'), KeyModifiers::SHIFT)], "two 日本👩‍👩‍👧‍👦x");
        check(&[(KeyCode::Char('x'), KeyModifiers::ALT), (KeyCode::Enter, plain)], "two 日本👩‍👩‍👧‍👦");
    }

    #[test]
    fn what_is_pasted_stays_one_bounded_inert_line() {
        let mut line = LineEdit::new("a\nb\u{1b}c");
        assert_eq!(line.text(), "a b c");
        line.paste(&"世".repeat(500));
        assert_eq!(line.text().chars().count(), MAX_CHARS);
    }
}
