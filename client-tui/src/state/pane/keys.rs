//! What keys do in a pane.

use agentd_proto::v1;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{
    Asker, Confirm, Content, Pane, PaneKind, PaneWish, by, memories, search, sweeps, tools, usage,
};
use crate::conn::Command;
use crate::state::LineEdit;

/// Lines that a page of a list moves.
const PAGE: usize = 10;

impl Pane {
    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent, author: &v1::Author, now_ms: i64) -> PaneWish {
        let asker = Asker { author, now_ms };
        if let Some(confirm) = self.confirm.take() {
            return match key.code {
                KeyCode::Char('y' | 'Y') => self.sent(by(confirm.command, author)),
                _ => PaneWish::Nothing,
            };
        }
        if self.line.is_some() {
            return self.key_in_line(key, asker);
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return PaneWish::Nothing;
        }
        self.said = None;
        match key.code {
            KeyCode::Tab | KeyCode::Right if self.detail.is_none() => {
                return PaneWish::Switch(self.kind.beside(true));
            }
            KeyCode::BackTab | KeyCode::Left if self.detail.is_none() => {
                return PaneWish::Switch(self.kind.beside(false));
            }
            _ => {}
        }
        if let Some(detail) = &mut self.detail {
            match key.code {
                KeyCode::Esc | KeyCode::Char('q') | KeyCode::Left => {
                    self.detail = None;
                    return PaneWish::Nothing;
                }
                KeyCode::Up | KeyCode::Char('k') => detail.up(1),
                KeyCode::Down | KeyCode::Char('j') => detail.down(1),
                KeyCode::PageUp => detail.up(PAGE),
                KeyCode::PageDown => detail.down(PAGE),
                KeyCode::Home => detail.up(usize::MAX),
                code => return self.act(code, asker),
            }
            return PaneWish::Nothing;
        }
        let last = self.rows(now_ms).len().saturating_sub(1);
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return PaneWish::Leave,
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.selected = (self.selected + 1).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(PAGE),
            KeyCode::PageDown => self.selected = (self.selected + PAGE).min(last),
            KeyCode::Home | KeyCode::Char('g') => self.selected = 0,
            KeyCode::End | KeyCode::Char('G') => self.selected = last,
            KeyCode::Char('/') if self.is_searched() => {
                (self.line, self.adds) = (Some(LineEdit::new(&self.words)), false);
            }
            KeyCode::Char('a') if self.kind == PaneKind::Memory => {
                (self.line, self.adds) = (Some(LineEdit::default()), true);
            }
            code => return self.act(code, asker),
        }
        PaneWish::Nothing
    }

    fn is_searched(&self) -> bool {
        matches!(self.kind, PaneKind::Memory | PaneKind::Tools | PaneKind::Search)
    }

    fn key_in_line(&mut self, key: KeyEvent, asker: Asker<'_>) -> PaneWish {
        let Some(line) = &mut self.line else { return PaneWish::Nothing };
        match key.code {
            KeyCode::Enter if self.adds => {
                let text = line.text().trim().to_owned();
                self.line = None;
                if !text.is_empty() {
                    return self.sent(memories::add(text, asker));
                }
            }
            KeyCode::Esc => {
                self.line = None;
                if matches!(self.content, Content::Nothing) {
                    return PaneWish::Leave;
                }
            }
            KeyCode::Enter => {
                self.words = line.text().trim().to_owned();
                self.line = None;
                self.selected = 0;
                self.detail = None;
                let command = match self.kind {
                    PaneKind::Memory => memories::list(&self.words),
                    PaneKind::Search if !self.words.is_empty() => search::find(&self.words),
                    _ => return PaneWish::Nothing,
                };
                return self.sent(command);
            }
            _ => line.key(key),
        }
        PaneWish::Nothing
    }

    /// What a key does with the chosen line.
    fn act(&mut self, code: KeyCode, asker: Asker<'_>) -> PaneWish {
        match &self.content {
            Content::Nothing => PaneWish::Nothing,
            Content::Memories(page) => match memories::act(page, self.selected, code, asker) {
                memories::Act::Nothing => PaneWish::Nothing,
                memories::Act::Send(command) => self.sent(*command),
                memories::Act::Ask(question, command) => self.asked(question, *command),
            },
            Content::Tools(tools) => {
                if code == KeyCode::Enter {
                    self.detail = tools::detail(tools, &self.words, self.selected);
                }
                PaneWish::Nothing
            }
            Content::Usage(report) => {
                if let Some(grouping) = usage::grouping(code) {
                    self.selected = 0;
                    self.detail = None;
                    return self.sent(usage::sums(grouping));
                }
                if code == KeyCode::Enter {
                    self.detail = usage::detail(report, self.selected);
                }
                PaneWish::Nothing
            }
            Content::Sweeps(stats) => match sweeps::act(self.selected, code) {
                sweeps::Act::Nothing => PaneWish::Nothing,
                sweeps::Act::Show => {
                    self.detail = sweeps::detail(stats, self.selected, asker.now_ms);
                    PaneWish::Nothing
                }
                sweeps::Act::Send(command) => self.sent(command),
                sweeps::Act::Ask(question, command) => self.asked(question.to_owned(), command),
            },
            Content::Found(found) => match code {
                KeyCode::Enter => search::place(found, self.selected),
                KeyCode::Char('r') => self.sent(search::find(&self.words)),
                _ => PaneWish::Nothing,
            },
        }
    }

    fn sent(&mut self, command: Command) -> PaneWish {
        self.is_waiting = true;
        self.wants_undo = command == Command::GetMemoryStats;
        PaneWish::send(command)
    }

    pub(super) fn asked(&mut self, question: String, command: Command) -> PaneWish {
        self.confirm = Some(Confirm { question, command });
        PaneWish::Nothing
    }
}
