//! The message that is being written.

mod graphemes;
mod history;
mod pastes;
mod tokens;
mod vi;

use std::borrow::Cow;
use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget as _;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use history::History;
use pastes::Pastes;
use vi::{Mode, Outcome, Vi};

/// Bytes of the longest message, as the daemon takes it.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Sent texts that are kept unless the configuration says otherwise.
const HISTORY: usize = 10_000;
/// Sessions whose unsent messages are kept.
const DRAFTS: usize = 64;

/// The text, its cursor, and what was sent before.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    pastes: Pastes,
    history: History,
    /// Keys as in vi, when they are.
    vi: Option<Vi>,
    /// What was being written in other sessions.
    drafts: HashMap<String, Draft>,
}

/// A message that was not sent.
#[derive(Debug)]
struct Draft {
    area: TextArea<'static>,
    pastes: Pastes,
}

/// A text has no room in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message takes 1 MiB at most; put the text into a file and name the file instead")]
pub struct TooLong;

/// What a key came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// It wrote, deleted or moved.
    Taken,
    /// It went up from the first row.
    Above,
    /// It went down from the last row.
    Below,
    /// It means nothing here.
    Other,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            area: empty(),
            pastes: Pastes::default(),
            history: History::new(HISTORY),
            vi: None,
            drafts: HashMap::new(),
        }
    }
}

fn empty() -> TextArea<'static> {
    area(Vec::new())
}

fn area(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(lines);
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(ratatui::style::Style::new());
    area.set_cursor_style(ratatui::style::Style::new());
    area
}

/// A text without what a terminal or a line cannot hold: line ends are line feeds, controls are gone.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|char| matches!(char, '\n' | '\t') || !char.is_control()).collect()
}

impl Composer {
    /// Takes how many sent texts are kept, and whether keys are as in vi.
    pub fn configure(&mut self, history: usize, is_vi: bool) {
        self.history = History::new(history);
        self.vi = is_vi.then(Vi::default);
    }

    /// What is written, with what was pasted.
    pub fn text(&self) -> String {
        self.pastes.expand(&self.shown())
    }

    /// What is written, with tokens for long pastes.
    pub fn shown(&self) -> String {
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

    /// The letter of vi's mode, when keys are as in vi.
    pub fn mode(&self) -> Option<char> {
        self.vi.as_ref().map(|vi| if vi.mode == Mode::Normal { 'N' } else { 'I' })
    }

    /// Whether letters are text.
    pub fn takes_text(&self) -> bool {
        self.vi.as_ref().is_none_or(|vi| vi.mode == Mode::Insert)
    }

    /// Leaves the writing of vi, or a command that was begun. False when there is nothing to leave.
    pub fn escape(&mut self) -> bool {
        let Some(vi) = &mut self.vi else { return false };
        let leaves = vi.is_midway() || (vi.mode == Mode::Insert && !self.area.is_empty());
        if leaves {
            vi.normal(&mut self.area);
            // A command stands at the beginning of a token.
            self.leave_token((usize::MAX, 0));
        }
        leaves
    }

    /// Whether vi has a meaning for a key that another table may have one for, too.
    pub fn wants(&self, key: KeyEvent) -> bool {
        let Some(vi) = self.vi.as_ref().filter(|vi| vi.mode == Mode::Normal) else { return false };
        let is_redo = key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char('r');
        is_redo || (vi.is_midway() && matches!(key.code, KeyCode::Char(_)))
    }

    /// Takes a key that means no action.
    pub fn key(&mut self, key: KeyEvent) -> Typed {
        let (at, before) = (self.area.cursor(), self.area.lines().to_vec());
        let typed = self.typed(key);
        let is_changed = self.area.lines() != before;
        if is_changed {
            self.history.touched();
        }
        if !self.pastes.is_empty() {
            if is_changed {
                self.drop_pieces(&before);
            } else {
                self.leave_token((at.0, at.1));
            }
        }
        typed
    }

    fn typed(&mut self, key: KeyEvent) -> Typed {
        let commands =
            self.vi.as_ref().is_some_and(|vi| vi.mode == Mode::Normal && !vi.is_midway());
        if commands
            && key.code == KeyCode::Char('x')
            && self.delete_token(KeyEvent::new(KeyCode::Delete, KeyModifiers::NONE))
        {
            return Typed::Taken;
        }
        if let Some(vi) = self.vi.as_mut().filter(|vi| vi.mode == Mode::Normal) {
            return match vi.key(key, &mut self.area) {
                Outcome::Taken => Typed::Taken,
                Outcome::Above => Typed::Above,
                Outcome::Below => Typed::Below,
                Outcome::Other => Typed::Other,
            };
        }
        let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        let ctrl = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Up if plain && self.at_edge().0 => return Typed::Above,
            KeyCode::Down if plain && self.at_edge().1 => return Typed::Below,
            // The widget would take the last change back.
            KeyCode::Char('u') if ctrl => {
                self.area.delete_line_by_head();
                return Typed::Taken;
            }
            KeyCode::Backspace | KeyCode::Delete | KeyCode::Char('h' | 'w' | 'd')
                if self.delete_token(key) =>
            {
                return Typed::Taken;
            }
            KeyCode::Esc | KeyCode::F(_) => return Typed::Other,
            _ => {}
        }
        if !self.step(key) {
            self.area.input(key);
        }
        Typed::Taken
    }

    /// Moves over, or deletes, what is seen as one character where that is more than the widget, which
    /// counts `char`s, would take for one.
    fn step(&mut self, key: KeyEvent) -> bool {
        let (back, deletes) =
            match (key.modifiers, key.code) {
                (KeyModifiers::NONE, KeyCode::Left)
                | (KeyModifiers::CONTROL, KeyCode::Char('b')) => (true, false),
                (KeyModifiers::NONE, KeyCode::Right)
                | (KeyModifiers::CONTROL, KeyCode::Char('f')) => (false, false),
                (KeyModifiers::NONE, KeyCode::Backspace)
                | (KeyModifiers::CONTROL, KeyCode::Char('h')) => (true, true),
                (KeyModifiers::NONE, KeyCode::Delete)
                | (KeyModifiers::CONTROL, KeyCode::Char('d')) => (false, true),
                _ => return false,
            };
        let (row, column) = (self.area.cursor().0, self.area.cursor().1);
        let Some(line) = self.area.lines().get(row) else { return false };
        let (before, behind) = graphemes::around(line, column);
        let (from, to) = if back { (before, column) } else { (column, behind) };
        if self.area.is_selecting() || to.saturating_sub(from) < 2 {
            return false;
        }
        if deletes {
            self.jump(row, from);
            self.area.delete_str(to - from);
        } else {
            self.jump(row, if back { from } else { to });
        }
        true
    }

    /// The text as it is to be drawn. The widget draws the `char` under the cursor apart from those behind
    /// it; where that would tear what is seen as one character, its cursor stands behind that.
    pub fn drawn(&self) -> Cow<'_, TextArea<'static>> {
        let (row, column) = (self.area.cursor().0, self.area.cursor().1);
        let line = self.area.lines().get(row).map_or("", String::as_str);
        let whole = graphemes::untorn(line, column);
        if whole == column {
            return Cow::Borrowed(&self.area);
        }
        let mut area = self.area.clone();
        let [row, whole] = [row, whole].map(|number| u16::try_from(number).unwrap_or(u16::MAX));
        area.move_cursor(CursorMove::Jump(row, whole));
        Cow::Owned(area)
    }

    fn jump(&mut self, row: usize, column: usize) {
        let [row, column] = [row, column].map(|number| u16::try_from(number).unwrap_or(u16::MAX));
        self.area.move_cursor(CursorMove::Jump(row, column));
    }

    /// Begins another line.
    pub fn new_line(&mut self) {
        self.area.insert_newline();
    }

    /// Takes the last change back.
    pub fn undo(&mut self) {
        self.area.undo();
    }

    /// Makes the change again that was taken back.
    pub fn redo(&mut self) {
        self.area.redo();
    }

    /// Takes a text as one; a long one stands as a token until it is sent.
    ///
    /// # Errors
    /// Tells that it would be too long; nothing is changed then.
    pub fn paste(&mut self, text: &str) -> Result<(), TooLong> {
        let text = clean(text);
        let written: usize = self.area.lines().iter().map(|line| line.len() + 1).sum();
        if written + self.pastes.len() + text.len() > MAX_BYTES {
            return Err(TooLong);
        }
        self.history.touched();
        if let Some(vi) = &mut self.vi {
            vi.insert();
        }
        let shown = self.pastes.add(text);
        self.area.insert_str(shown);
        Ok(())
    }

    /// Replaces what is written; the cursor goes to its end.
    pub fn set(&mut self, text: &str) {
        self.pastes.clear();
        self.area = area(clean(text).split('\n').map(str::to_owned).collect());
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
        if let Some(vi) = &mut self.vi {
            vi.insert();
        }
    }

    /// Replaces the characters before the cursor, back to a column of its line, by a text.
    pub fn replace_back_to(&mut self, column: usize, text: &str) {
        let (row, end) = (self.area.cursor().0, self.area.cursor().1);
        self.jump(row, column);
        self.area.delete_str(end.saturating_sub(column));
        self.area.insert_str(clean(text));
        self.history.touched();
    }

    /// The line that the cursor is in, up to the cursor, and whether it is the first.
    pub fn before_cursor(&self) -> (String, bool) {
        let (row, column) = (self.area.cursor().0, self.area.cursor().1);
        let line = self.area.lines().get(row).map_or("", String::as_str);
        (line.chars().take(column).collect(), row == 0)
    }

    /// Returns what is written, and begins anew.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.clear();
        text
    }

    /// Forgets what is written.
    pub fn clear(&mut self) {
        self.area = empty();
        self.pastes.clear();
        if let Some(vi) = &mut self.vi {
            vi.insert();
        }
    }

    /// Keeps a text for later, and tells whether it is worth keeping in the file too.
    pub fn remember(&mut self, text: &str) -> bool {
        self.history.add(text)
    }

    /// Takes what was sent before this client began.
    pub fn history_loaded(&mut self, earlier: Vec<String>) {
        self.history.loaded(earlier);
    }

    /// What was sent, the newest first.
    pub fn history(&self) -> impl Iterator<Item = &str> {
        self.history.newest_first()
    }

    /// Shows what was sent before.
    pub fn history_back(&mut self) {
        let written = self.text();
        if let Some(text) = self.history.back(&written) {
            self.set(&text);
        }
    }

    /// Shows what was sent after, and at last what was written.
    pub fn history_forward(&mut self) {
        if let Some(text) = self.history.forward() {
            self.set(&text);
        }
    }

    /// Puts away what is written in one session, and takes up what was written in another.
    pub fn switch(&mut self, from: Option<&str>, to: &str) {
        if from == Some(to) {
            return;
        }
        let next = self.drafts.remove(to);
        let next = next.unwrap_or_else(|| Draft { area: empty(), pastes: Pastes::default() });
        // What was written before a session was there belongs to the first that comes.
        let Some(from) = from else { return };
        let left = Draft {
            area: std::mem::replace(&mut self.area, next.area),
            pastes: std::mem::replace(&mut self.pastes, next.pastes),
        };
        self.history.touched();
        if !left.area.is_empty() && self.drafts.len() < DRAFTS {
            self.drafts.insert(from.to_owned(), left);
        }
    }

    /// All that was written and not sent, here and in other sessions.
    pub fn unsent(&self) -> Vec<String> {
        let drafts = self.drafts.values();
        let texts = drafts.map(|draft| draft.pastes.expand(&draft.area.lines().join("\n")));
        texts.chain([self.text()]).filter(|text| !text.trim().is_empty()).collect()
    }

    /// Rows that the text takes in so many columns, at least one, at most a little more than `most`.
    pub fn rows(&self, width: u16, most: u16) -> u16 {
        let lines = self.area.lines();
        if lines.len() >= usize::from(most) {
            return most;
        }
        // Asked of the widget itself; more than the window can hold need not be laid out for it.
        let enough = usize::from(width.max(1)) * usize::from(most + 1);
        let lines = lines.iter().map(|line| line.chars().take(enough).collect());
        let mut copy = area(lines.collect());
        let place = Rect::new(0, 0, width.max(1), 1);
        (&copy).render(place, &mut Buffer::empty(place));
        copy.move_cursor(CursorMove::Bottom);
        copy.move_cursor(CursorMove::End);
        u16::try_from(copy.screen_cursor().row + 1).unwrap_or(u16::MAX)
    }

    /// Whether the cursor stands in the first or in the last row.
    fn at_edge(&self) -> (bool, bool) {
        let row = self.area.screen_cursor().row;
        let mut end = self.area.clone();
        end.move_cursor(CursorMove::Bottom);
        end.move_cursor(CursorMove::End);
        (row == 0, row == end.screen_cursor().row)
    }
}

#[cfg(test)]
mod tests;
