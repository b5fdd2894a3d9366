//! What is offered while somebody writes, and the keys that take it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::completion::{self, Source};
use super::{Effect, State};
use crate::conn::Command;
use crate::input::Action;
use agentd_proto::v1;

impl State {
    /// Offers what fits the word before the cursor, and fetches what is not known of it.
    pub(super) fn offer(&mut self) -> Vec<Effect> {
        let (before, is_first) = self.composer.before_cursor();
        if !self.composer.takes_text() {
            self.popup = None;
            return Vec::new();
        }
        let effects = match completion::source(&before, is_first) {
            Some(Source::Models) if self.models.is_none() => {
                vec![Effect::Send(Command::ListModels(v1::ListModelsRequest::default()))]
            }
            Some(Source::Tools) if self.vocabulary.tools.is_empty() => {
                vec![Effect::Send(Command::ListTools)]
            }
            Some(Source::Sessions) if self.sessions.all().is_empty() => {
                vec![Effect::Send(Command::ListSessions(v1::ListSessionsRequest::default()))]
            }
            Some(Source::Files) if self.vocabulary.files.is_empty() && self.settings.local => {
                vec![Effect::ListFiles(self.workspace())]
            }
            _ => Vec::new(),
        };
        self.learn();
        self.popup = completion::complete(&before, is_first, &self.vocabulary);
        effects
    }

    /// Takes what is known anyway into what can be completed.
    fn learn(&mut self) {
        let sessions = self.sessions.all().iter();
        let sessions = sessions.map(|it| (it.session_id.clone(), it.title.clone()));
        self.vocabulary.sessions = sessions.collect();
        let models = self.models.iter().flat_map(|known| &known.models);
        let models = models.filter(|model| model.available).map(|model| model.name.clone());
        self.vocabulary.models = models.chain(["default".to_owned()]).collect();
        if let Some(open) = &self.open {
            let queue = open.transcript.queue();
            let queue = queue.map(|message| (message.item_id.clone(), message.text.clone()));
            self.vocabulary.queue = queue.collect();
            let choices = open.transcript.open_questions().next().map(|it| it.choices.clone());
            self.vocabulary.choices = choices.unwrap_or_default();
        }
    }

    /// Takes a key while something is offered; none when it has nothing to do with it.
    pub(super) fn popup_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let popup = self.popup.as_mut()?;
        if !key.modifiers.is_empty() && key.modifiers != KeyModifiers::SHIFT {
            return None;
        }
        match key.code {
            KeyCode::Up => popup.step(true),
            KeyCode::Down => popup.step(false),
            KeyCode::Esc => self.popup = None,
            KeyCode::Tab => return Some(self.accept()),
            KeyCode::Enter => {
                let chosen = popup.chosen.and_then(|at| popup.candidates.get(at));
                let completes = chosen.map(|candidate| candidate.completes);
                match completes {
                    // Nothing was chosen: what is written counts.
                    None => {
                        self.popup = None;
                        return None;
                    }
                    Some(false) => return Some(self.accept()),
                    Some(true) => {
                        self.accept();
                        self.popup = None;
                        return Some(self.on_line());
                    }
                }
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Writes what is chosen.
    fn accept(&mut self) -> Vec<Effect> {
        let Some(popup) = self.popup.take() else { return Vec::new() };
        if let Some(candidate) = popup.pick() {
            self.composer.replace_back_to(popup.start, &candidate.text);
        }
        self.offer()
    }

    /// Offers what fits, or lets keys go to what waits.
    pub(super) fn complete_or_focus(&mut self) -> Vec<Effect> {
        if self.composer.is_empty() && self.asks.focus(self.ticks) {
            return Vec::new();
        }
        let effects = self.offer();
        if self.popup.as_ref().is_some_and(|popup| popup.candidates.len() == 1) {
            return self.accept();
        }
        if self.popup.is_none() && effects.is_empty() && !self.asks.focus(self.ticks) {
            let key = self.keymap.name(Action::Help);
            let text = format!("nothing completes this ({key} shows commands)");
            self.notices.say(super::Tone::Info, &text);
        }
        effects
    }
}
