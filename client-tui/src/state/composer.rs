//! The message that is being written.

use crossterm::event::KeyEvent;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use unicode_width::UnicodeWidthStr as _;

/// Bytes of the longest message, as the daemon takes it.
const MAX_BYTES: usize = 1 << 20;
/// Sent texts that are kept.
const HISTORY: usize = 1_000;

/// The text, its cursor, and what was sent before.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    history: Vec<String>,
    /// Which entry of the history is shown, and what was written before it was looked at.
    recalled: Option<(usize, String)>,
}

impl Default for Composer {
    fn default() -> Self {
        Self { area: empty(), history: Vec::new(), recalled: None }
    }
}

fn empty() -> TextArea<'static> {
    area(Vec::new())
}

fn area(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(lines);
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(ratatui::style::Style::new());
    area
}

impl Composer {
    /// What is written.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// The widget.
    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// Takes a key that means no action.
    pub fn key(&mut self, key: KeyEvent) {
        self.area.input(key);
    }

    /// Begins another line.
    pub fn new_line(&mut self) {
        self.area.insert_newline();
    }

    /// Takes a text as one, with its line ends. Too long a one is cut.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let room = MAX_BYTES.saturating_sub(self.text().len());
        let fits = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
        let end = fits.take_while(|end| *end <= room).last().unwrap_or_default();
        self.area.insert_str(text.get(..end).unwrap_or_default());
    }

    /// Replaces what is written; the cursor goes to its end.
    pub fn set(&mut self, text: &str) {
        self.area = area(text.split('\n').map(str::to_owned).collect());
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// Returns what is written, keeps it in the history and begins anew.
    pub fn take(&mut self) -> String {
        let text = self.text();
        if self.history.last().is_none_or(|last| *last != text) {
            if self.history.len() >= HISTORY {
                self.history.remove(0);
            }
            self.history.push(text.clone());
        }
        self.area = empty();
        self.recalled = None;
        text
    }

    /// Shows what was sent before.
    pub fn history_back(&mut self) {
        let (at, draft) = match self.recalled.take() {
            Some((at, draft)) => (at.saturating_sub(1), draft),
            None => match self.history.len().checked_sub(1) {
                Some(last) => (last, self.text()),
                None => return,
            },
        };
        if let Some(text) = self.history.get(at).cloned() {
            self.set(&text);
        }
        self.recalled = Some((at, draft));
    }

    /// Shows what was sent after, and at last what was written.
    pub fn history_forward(&mut self) {
        let Some((at, draft)) = self.recalled.take() else { return };
        match self.history.get(at + 1).cloned() {
            Some(text) => {
                self.set(&text);
                self.recalled = Some((at + 1, draft));
            }
            None => self.set(&draft),
        }
    }

    /// Rows that the text takes in so many columns, at least one.
    pub fn rows(&self, width: u16) -> u16 {
        let width = usize::from(width.max(1));
        let rows = self.area.lines().iter().map(|line| (line.width() / width) + 1);
        u16::try_from(rows.sum::<usize>()).unwrap_or(u16::MAX)
    }

    /// Whether the cursor stands in the first or in the last line.
    pub fn at_edge(&self) -> (bool, bool) {
        let row = self.area.cursor().0;
        (row == 0, row + 1 >= self.area.lines().len())
    }
}
