//! One line of text: a filter, a reason.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::TextArea;

/// Bytes of the longest line.
const LONGEST: usize = 4_096;

/// A line that can be edited with the keys of the composer.
#[derive(Debug, Clone)]
pub struct LineInput {
    area: TextArea<'static>,
}

impl Default for LineInput {
    fn default() -> Self {
        let mut area = TextArea::default();
        area.set_cursor_line_style(ratatui::style::Style::new());
        area.set_cursor_style(ratatui::style::Style::new());
        Self { area }
    }
}

impl LineInput {
    /// The text.
    pub fn text(&self) -> &str {
        self.area.lines().first().map_or("", String::as_str)
    }

    /// The widget.
    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// Takes a key; false when it writes and moves nothing.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            // It would begin another line.
            KeyCode::Char('m' | 'j') if control => false,
            KeyCode::Char('u') if control => self.area.delete_line_by_head(),
            KeyCode::Char(_) if !control && key.modifiers.is_empty() => {
                self.text().len() < LONGEST && self.area.input(key)
            }
            KeyCode::Char(_)
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End => {
                self.area.input(key);
                true
            }
            _ => false,
        }
    }

    /// Takes a text; its lines become one.
    pub fn paste(&mut self, text: &str) {
        let text = agentd_shared::text::one_line(text, LONGEST);
        if self.text().len() + text.len() <= LONGEST {
            self.area.insert_str(text);
        }
    }
}
