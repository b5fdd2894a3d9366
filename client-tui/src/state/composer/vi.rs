//! Keys as in vi: two modes, the usual motions, operators with counts.

mod motion;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::{CursorMove, TextArea};

use motion::{at_line_end, stay_within, step, to_u16};

/// Most times that a count repeats something.
const MOST: usize = 999;

/// How keys are understood now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    /// Letters are text.
    #[default]
    Insert,
    /// Letters are commands.
    Normal,
}

/// What a key came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was a command.
    Taken,
    /// The cursor would leave the text at its beginning or at its end.
    Above,
    /// See [`Outcome::Above`].
    Below,
    /// It is none of ours.
    Other,
}

/// The first keys of a command that is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Begun {
    #[default]
    Nothing,
    Go,
    Replace,
    Find {
        letter: char,
    },
}

/// The state of the keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Vi {
    pub(super) mode: Mode,
    operator: Option<char>,
    begun: Begun,
    count: Option<usize>,
    /// What was taken last are whole lines.
    lines: bool,
}

impl Vi {
    /// Begins to write.
    pub(super) fn insert(&mut self) {
        *self = Self { lines: self.lines, ..Self::default() };
    }

    /// Begins to command.
    pub(super) fn normal(&mut self, area: &mut TextArea<'_>) {
        *self = Self { mode: Mode::Normal, lines: self.lines, ..Self::default() };
        if area.cursor().1 > 0 {
            area.move_cursor(CursorMove::Back);
        }
    }

    /// Whether a command has begun that the next key goes on with.
    pub(super) fn is_midway(&self) -> bool {
        self.operator.is_some() || self.begun != Begun::Nothing || self.count.is_some()
    }

    /// Takes a key in normal mode.
    pub(super) fn key(&mut self, key: KeyEvent, area: &mut TextArea<'_>) -> Outcome {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('r') {
            area.redo();
            return Outcome::Taken;
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Outcome::Other;
        }
        let letter = match key.code {
            KeyCode::Char(letter) => letter,
            KeyCode::Esc if self.is_midway() => {
                *self = Self { mode: Mode::Normal, lines: self.lines, ..Self::default() };
                return Outcome::Taken;
            }
            KeyCode::Backspace | KeyCode::Left => 'h',
            KeyCode::Right => 'l',
            KeyCode::Up => 'k',
            KeyCode::Down => 'j',
            KeyCode::Home => '0',
            KeyCode::End => '$',
            KeyCode::Delete => 'x',
            _ => return Outcome::Other,
        };
        let outcome = self.letter(letter, area);
        if self.mode == Mode::Normal && !self.is_midway() {
            stay_within(area);
        }
        outcome
    }

    fn letter(&mut self, letter: char, area: &mut TextArea<'_>) -> Outcome {
        match std::mem::take(&mut self.begun) {
            Begun::Nothing => {}
            Begun::Replace => {
                if area.delete_next_char() {
                    area.insert_char(letter);
                    area.move_cursor(CursorMove::Back);
                }
                self.count = None;
                return Outcome::Taken;
            }
            Begun::Go => {
                if letter == 'g' {
                    self.motion('g', None, area);
                }
                self.done();
                return Outcome::Taken;
            }
            Begun::Find { letter: how } => {
                self.motion(how, Some(letter), area);
                self.done();
                return Outcome::Taken;
            }
        }
        match letter {
            '1'..='9' => self.digit(letter),
            '0' if self.count.is_some() => self.digit(letter),
            'g' => self.begun = Begun::Go,
            'f' | 'F' | 't' | 'T' => self.begun = Begun::Find { letter },
            'd' | 'c' | 'y' if self.operator.is_none() => self.operator = Some(letter),
            'd' | 'c' | 'y' => {
                if self.operator == Some(letter) {
                    self.whole_lines(letter, area);
                }
                self.done();
            }
            'j' | 'k' if self.operator.is_none() => {
                let outcome = self.up_or_down(letter, area);
                self.done();
                return outcome;
            }
            'h' | 'l' | ' ' | 'w' | 'b' | 'e' | '0' | '^' | '$' | 'G' => {
                self.motion(letter, None, area);
                self.done();
            }
            _ if self.operator.is_some() => self.done(),
            _ => return self.command(letter, area),
        }
        Outcome::Taken
    }

    fn digit(&mut self, digit: char) {
        let digit = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
        let count = self.count.unwrap_or(0) * 10 + digit.unwrap_or(0);
        self.count = Some(count.min(MOST));
    }

    fn done(&mut self) {
        (self.operator, self.count) = (None, None);
    }

    fn times(&self) -> usize {
        self.count.unwrap_or(1)
    }

    fn up_or_down(&self, letter: char, area: &mut TextArea<'_>) -> Outcome {
        let (towards, outcome) = match letter {
            'k' => (CursorMove::Up, Outcome::Above),
            _ => (CursorMove::Down, Outcome::Below),
        };
        for _ in 0..self.times() {
            let before = area.screen_cursor().row;
            area.move_cursor(towards);
            if area.screen_cursor().row == before {
                return outcome;
            }
        }
        Outcome::Taken
    }

    /// Moves, or lets the operator take what lies between.
    fn motion(&mut self, letter: char, sought: Option<char>, area: &mut TextArea<'_>) {
        let from = area.cursor();
        let operator = self.operator;
        // `cw` leaves the blank behind the word.
        let letter = if operator == Some('c') && letter == 'w' { 'e' } else { letter };
        if operator.is_some() {
            area.start_selection();
        }
        for _ in 0..self.times() {
            step(letter, sought, area);
        }
        let Some(operator) = operator else { return };
        let to = area.cursor();
        if letter == 'w' && to.0 > from.0 {
            // A word is taken, not the end of its line.
            area.move_cursor(CursorMove::Jump(to_u16(from.0), to_u16(from.1)));
            area.cancel_selection();
            area.start_selection();
            area.move_cursor(CursorMove::End);
        }
        if matches!(letter, 'e' | 'f' | 't') && to != from {
            area.move_cursor(CursorMove::Forward);
        }
        self.lines = false;
        self.take(operator, area);
    }

    /// Takes what is selected.
    fn take(&mut self, operator: char, area: &mut TextArea<'_>) {
        if operator == 'y' {
            let start = area.selection_range().map(|(start, _)| start);
            area.copy();
            if let Some((row, column)) = start {
                area.move_cursor(CursorMove::Jump(to_u16(row), to_u16(column)));
            }
        } else {
            area.cut();
        }
        area.cancel_selection();
        if operator == 'c' {
            self.mode = Mode::Insert;
        }
    }

    fn whole_lines(&mut self, operator: char, area: &mut TextArea<'_>) {
        let last = area.lines().len().saturating_sub(1);
        let row = area.cursor().0;
        let end = (row + self.times() - 1).min(last);
        area.move_cursor(CursorMove::Head);
        area.start_selection();
        area.move_cursor(CursorMove::Jump(to_u16(end), 0));
        area.move_cursor(CursorMove::End);
        self.take(operator, area);
        self.lines = true;
        if operator == 'd' {
            // The line itself goes too.
            let is_last = area.cursor().0 + 1 >= area.lines().len();
            if is_last {
                area.delete_newline();
            } else {
                area.delete_next_char();
            }
            area.move_cursor(CursorMove::Head);
        }
    }

    fn command(&mut self, letter: char, area: &mut TextArea<'_>) -> Outcome {
        let times = self.times();
        match letter {
            'i' => self.insert(),
            'a' => {
                if !at_line_end(area) {
                    area.move_cursor(CursorMove::Forward);
                }
                self.insert();
            }
            'I' => {
                step('^', None, area);
                self.insert();
            }
            'A' => {
                area.move_cursor(CursorMove::End);
                self.insert();
            }
            'o' => {
                area.move_cursor(CursorMove::End);
                area.insert_newline();
                self.insert();
            }
            'O' => {
                area.move_cursor(CursorMove::Head);
                area.insert_newline();
                area.move_cursor(CursorMove::Up);
                self.insert();
            }
            'x' | 's' => {
                area.start_selection();
                for _ in 0..times {
                    if !at_line_end(area) {
                        area.move_cursor(CursorMove::Forward);
                    }
                }
                self.lines = false;
                self.take('d', area);
                if letter == 's' {
                    self.insert();
                }
            }
            'X' => {
                for _ in 0..times {
                    if area.cursor().1 > 0 {
                        area.delete_char();
                    }
                }
            }
            'D' | 'C' => {
                if !at_line_end(area) {
                    area.delete_line_by_end();
                }
                if letter == 'C' {
                    self.insert();
                }
            }
            'J' => {
                area.move_cursor(CursorMove::End);
                if area.delete_next_char() {
                    area.insert_char(' ');
                    area.move_cursor(CursorMove::Back);
                }
            }
            'r' => self.begun = Begun::Replace,
            'u' => {
                for _ in 0..times {
                    area.undo();
                }
            }
            'p' | 'P' => self.put(letter, area),
            _ => return Outcome::Other,
        }
        if self.begun == Begun::Nothing {
            self.count = None;
        }
        Outcome::Taken
    }

    fn put(&self, letter: char, area: &mut TextArea<'_>) {
        let text = area.yank_text();
        match (self.lines, letter) {
            (true, 'p') => {
                area.move_cursor(CursorMove::End);
                area.insert_str(format!("\n{text}"));
            }
            (true, _) => {
                area.move_cursor(CursorMove::Head);
                area.insert_str(format!("{text}\n"));
                area.move_cursor(CursorMove::Up);
            }
            (false, 'p') => {
                if !at_line_end(area) {
                    area.move_cursor(CursorMove::Forward);
                }
                area.insert_str(text);
                area.move_cursor(CursorMove::Back);
            }
            (false, _) => {
                area.insert_str(text);
                area.move_cursor(CursorMove::Back);
            }
        }
    }
}

#[cfg(test)]
mod tests;
