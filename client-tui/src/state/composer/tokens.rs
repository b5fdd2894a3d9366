//! Tokens of long pastes in the text: each is deleted and passed as one.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Composer;

impl Composer {
    /// Deletes the token that a key would delete a piece of.
    pub(super) fn delete_token(&mut self, key: KeyEvent) -> bool {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let back = match key.code {
            KeyCode::Backspace => true,
            KeyCode::Delete => false,
            KeyCode::Char('h') if ctrl || alt => true,
            KeyCode::Char('w') if ctrl => true,
            KeyCode::Char('d') if ctrl || alt => false,
            _ => return false,
        };
        let (row, column) = (self.area.cursor().0, self.area.cursor().1);
        let line = self.area.lines().get(row).cloned().unwrap_or_default();
        let edge = |span: &(usize, usize)| if back { span.1 == column } else { span.0 == column };
        let found = self.pastes.spans(&line).find(edge);
        let Some((start, end)) = found else { return false };
        self.jump(row, start);
        self.area.delete_str(end - start);
        true
    }

    /// Deletes what is left of a token at the cursor after a part of it was deleted.
    pub(super) fn drop_pieces(&mut self, before: &[String]) {
        let gone: Vec<String> = {
            let now: Vec<&str> = self.pastes.present(self.area.lines()).collect();
            let were = self.pastes.present(before);
            were.filter(|token| !now.contains(token)).map(str::to_owned).collect()
        };
        let Some(token) = gone.first() else { return };
        let (row, column) = (self.area.cursor().0, self.area.cursor().1);
        let line: Vec<char> =
            self.area.lines().get(row).map_or(Vec::new(), |l| l.chars().collect());
        let (head, tail) = line.split_at(column.min(line.len()));
        let token: Vec<char> = token.chars().collect();
        let longest = |fits: &dyn Fn(usize) -> bool| (2..token.len()).rev().find(|k| fits(*k));
        let ahead = longest(&|k| tail.starts_with(token.get(token.len() - k..).unwrap_or(&token)));
        let behind = longest(&|k| head.ends_with(token.get(..k).unwrap_or(&token)));
        if let Some(count) = ahead {
            self.area.delete_str(count);
        }
        if let Some(count) = behind {
            self.jump(row, column - count);
            self.area.delete_str(count);
        }
    }

    /// The cursor never stands within a token: it goes on to the side where it was going.
    pub(super) fn leave_token(&mut self, from: (usize, usize)) {
        let (row, column) = (self.area.cursor().0, self.area.cursor().1);
        let line = self.area.lines().get(row).cloned().unwrap_or_default();
        let within = |span: &(usize, usize)| span.0 < column && column < span.1;
        let found = self.pastes.spans(&line).find(within);
        if let Some((start, end)) = found {
            self.jump(row, if (row, column) > from { end } else { start });
        }
    }
}
