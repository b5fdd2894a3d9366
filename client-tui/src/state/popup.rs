//! What is offered while somebody writes, and the keys that take it.

use agentd_proto::v1;
use agentd_shared::input::completion::{self, Candidate, Source};
use agentd_shared::input::slash::Surface;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Effect, State};
use crate::conn::Command;
use crate::input::Action;

/// Memories that are kept for completion at most.
const MEMORIES: usize = 500;

/// What is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    /// Column of the word's beginning, in characters.
    pub start: usize,
    /// What can stand in its place, the best first.
    pub candidates: Vec<Candidate>,
    /// Which is chosen; none when nothing was typed that points to one.
    pub chosen: Option<usize>,
}

impl Popup {
    /// What can stand for the word before the cursor.
    fn of(before: &str, is_first_line: bool, known: &completion::Vocabulary) -> Option<Self> {
        let found = completion::complete(before, is_first_line, Surface::FullScreen, known)?;
        let start = before.get(..found.start)?.chars().count();
        Some(Self { start, candidates: found.candidates, chosen: found.points.then_some(0) })
    }

    /// Moves the choice, around at the ends.
    pub fn step(&mut self, back: bool) {
        let count = self.candidates.len();
        self.chosen = match (self.chosen, back) {
            (None, false) => Some(0),
            (None, true) => count.checked_sub(1),
            (Some(at), false) => Some((at + 1) % count.max(1)),
            (Some(at), true) => Some((at + count - 1) % count.max(1)),
        };
    }

    /// What is chosen, if not the first.
    pub fn pick(&self) -> Option<&Candidate> {
        self.candidates.get(self.chosen.unwrap_or(0))
    }
}

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
            Some(Source::Memories) if !self.memories_asked => {
                self.memories_asked = true;
                vec![Effect::Send(self.memories_here(""))]
            }
            Some(Source::Files) if self.vocabulary.files.is_empty() && self.settings.local => {
                vec![Effect::ListFiles(self.workspace())]
            }
            _ => Vec::new(),
        };
        self.learn();
        self.popup = Popup::of(&before, is_first, &self.vocabulary);
        effects
    }

    /// Offers what has become known of a source, if the word before the cursor waits for it.
    pub(super) fn learned(&mut self, source: Source) {
        let (before, is_first) = self.composer.before_cursor();
        let is_seen = self.overlay.is_none() && self.pane.is_none() && self.composer.takes_text();
        if is_seen && completion::source(&before, is_first) == Some(source) {
            self.learn();
            self.popup = Popup::of(&before, is_first, &self.vocabulary);
        }
    }

    /// Keeps memories, so that what they say can be completed.
    pub(super) fn learn_memories(&mut self, found: &v1::ListMemoriesResponse) {
        let known = &mut self.vocabulary.memories;
        for memory in found.memories.iter().filter_map(|found| found.memory.as_ref()) {
            if known.len() < MEMORIES && !known.iter().any(|(id, _)| *id == memory.memory_id) {
                known.push((memory.memory_id.clone(), memory.content.clone()));
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn popup(typed: &str) -> Popup {
        let known = completion::Vocabulary { models: vec!["l".into()], ..Default::default() };
        Popup::of(typed, true, &known).unwrap()
    }

    #[test]
    fn nothing_is_chosen_before_something_is_typed_and_the_choice_goes_around() {
        assert_eq!(popup("/model ").chosen, None);
        assert_eq!(popup("/effort l").chosen, Some(0));
        let mut all = popup("/effort ");
        all.step(true);
        assert_eq!(all.chosen, Some(6));
        all.step(false);
        assert_eq!(all.chosen, Some(0));
    }

    #[test]
    fn a_word_is_found_by_its_column() {
        let known = completion::Vocabulary { files: vec!["a.rs".into()], ..Default::default() };
        assert_eq!(Popup::of("世界 @a", true, &known).unwrap().start, 3);
    }
}
