//! Answers to what waits: keys of its overlay, and answers that somebody has to be told later.

use agentd_proto::v1;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::overlay::{Ask, Held, LineInput, TypedAnswer};
use super::{Effect, OpenSession, State, Tone};
use crate::conn::Command;

impl State {
    /// Takes a key for what waits; none when it goes elsewhere.
    pub(super) fn ask_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        if self.asks.reason.is_some() {
            return self.reason_key(key);
        }
        self.current_ask()?;
        if !self.asks.has_focus(self.composer.is_empty(), self.ticks)
            || key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
        {
            return None;
        }
        match key.code {
            KeyCode::Tab => self.asks.turn(false, self.ticks),
            KeyCode::BackTab => self.asks.turn(true, self.ticks),
            KeyCode::Esc => self.asks.hide(),
            KeyCode::PageUp | KeyCode::PageDown | KeyCode::Up | KeyCode::Down
                if self.scroll_ask(key.code) => {}
            _ => return self.decide(key),
        }
        Some(Vec::new())
    }

    /// Moves within what is asked, or among the choices of a question.
    fn scroll_ask(&mut self, code: KeyCode) -> bool {
        let (height, rows) = self.asks.drawn;
        let choices = match self.current_ask() {
            Some(Ask::Question(question)) => question.choices.len(),
            Some(Ask::Approval(_)) | None => 0,
        };
        match code {
            KeyCode::Up if choices > 0 => self.asks.choice = self.asks.choice.saturating_sub(1),
            KeyCode::Down if choices > 0 => {
                self.asks.choice = (self.asks.choice + 1).min(choices - 1);
            }
            _ if rows <= height => return false,
            _ => {
                let page = height.saturating_sub(1).max(1);
                let top = self.asks.top;
                self.asks.top = match code {
                    KeyCode::Up => top.saturating_sub(1),
                    KeyCode::Down => top + 1,
                    KeyCode::PageUp => top.saturating_sub(page),
                    _ => top + page,
                }
                .min(rows.saturating_sub(height));
            }
        }
        true
    }

    fn decide(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let can_have_been_read = self.asks.can_have_been_read(self.ticks);
        match self.current_ask()? {
            Ask::Approval(request) => {
                let id = request.approval_id.clone();
                let KeyCode::Char(letter) = key.code else { return None };
                match letter {
                    'e' => {
                        (self.asks.whole, self.asks.top) = (!self.asks.whole, 0);
                        Some(Vec::new())
                    }
                    'd' => {
                        self.asks.reason = Some(LineInput::default());
                        Some(Vec::new())
                    }
                    _ => {
                        let answer = TypedAnswer::of_letter(letter)?;
                        let allows = answer.decision == v1::ApprovalDecision::Allow;
                        if allows && !can_have_been_read {
                            self.too_soon();
                            return Some(Vec::new());
                        }
                        Some(self.answer(&id, answer, ""))
                    }
                }
            }
            Ask::Question(question) => {
                let choice = match key.code {
                    KeyCode::Enter if self.composer.is_empty() => {
                        question.choices.get(self.asks.choice)
                    }
                    KeyCode::Char(digit) => {
                        let number = digit.to_digit(10).and_then(|it| usize::try_from(it).ok());
                        number.and_then(|it| question.choices.get(it.checked_sub(1)?))
                    }
                    _ => None,
                };
                let (id, choice) = (question.question_id.clone(), choice?.clone());
                if !can_have_been_read {
                    self.too_soon();
                    return Some(Vec::new());
                }
                Some(self.answer_question(&id, &choice))
            }
        }
    }

    fn too_soon(&mut self) {
        self.notices.say(Tone::Warn, "this was only just asked: read it, then press the key again");
    }

    /// The reason of a no.
    fn reason_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        match key.code {
            KeyCode::Esc => self.asks.reason = None,
            KeyCode::Enter => {
                let reason = self.asks.reason.take()?;
                let Some(Ask::Approval(request)) = self.current_ask() else {
                    return Some(Vec::new());
                };
                let id = request.approval_id.clone();
                let (decision, scope) = (v1::ApprovalDecision::Deny, v1::ApprovalScope::Once);
                let answer = TypedAnswer { decision, scope, number: None };
                return Some(self.answer(&id, answer, reason.text()));
            }
            _ => {
                // A key that is none of the line, such as the one that leaves, goes on.
                if !self.asks.reason.as_mut()?.key(key)
                    && key.modifiers.contains(KeyModifiers::CONTROL)
                {
                    return None;
                }
            }
        }
        Some(Vec::new())
    }

    /// Answers as a line says, which is what was written.
    pub(super) fn answer_typed(&mut self, answer: TypedAnswer, reason: &str) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        let waiting: Vec<&v1::ApprovalRequested> =
            open.transcript.open_approvals().map(|(_, request)| request).collect();
        let found = match (answer.number, waiting.as_slice()) {
            (None, [only]) => Some(only.approval_id.clone()),
            (None, _) => None,
            (Some(number), _) => {
                let id = self.asks.named(number);
                let is_it =
                    |request: &&&v1::ApprovalRequested| id == Some(request.approval_id.as_str());
                waiting.iter().find(is_it).map(|request| request.approval_id.clone())
            }
        };
        let Some(approval_id) = found else {
            let text = match waiting.len() {
                0 => "nothing waits for an approval",
                1 => "no approval with this number waits",
                _ => "several wait: name one by its number, such as `y 2` or `/deny 2 REASON`",
            };
            self.notices.say(Tone::Warn, text);
            return Vec::new();
        };
        let allows = answer.decision == v1::ApprovalDecision::Allow;
        if allows && answer.number.is_none() && !self.asks.can_have_been_read(self.ticks) {
            self.too_soon();
            return Vec::new();
        }
        let mut effects = if self.composer.is_empty() { Vec::new() } else { self.typed_is_done() };
        effects.extend(self.answer(&approval_id, answer, reason));
        effects
    }

    /// Answers an approval, or keeps the answer until the daemon is there again.
    fn answer(&mut self, approval_id: &str, answer: TypedAnswer, reason: &str) -> Vec<Effect> {
        let TypedAnswer { decision, scope, number: _ } = answer;
        let (approval_id, reason) = (approval_id.to_owned(), reason.to_owned());
        let held = Held { approval_id, decision, scope, reason };
        if self.open.as_ref().is_some_and(|open| open.lost.is_some()) {
            self.hold(held);
            return Vec::new();
        }
        self.give(held).into_iter().collect()
    }

    fn give(&self, held: Held) -> Option<Effect> {
        let open = self.open.as_ref()?;
        let Held { approval_id, decision, scope, reason } = held;
        Some(Effect::Send(Command::AnswerApproval(v1::AnswerApprovalRequest {
            session_id: open.session_id.clone(),
            approval_id,
            decision: decision.into(),
            scope: scope.into(),
            reason,
            author: Some(self.author.clone()),
        })))
    }

    /// Keeps an answer.
    pub(super) fn hold(&mut self, held: Held) {
        let number = self.asks.number(&held.approval_id).unwrap_or_default();
        self.asks.hold(held, self.ticks);
        let text =
            format!("kept: #{number} gets this answer once the daemon is back, if it still waits");
        self.notices.say(Tone::Info, &text);
    }

    /// Gives the answers that were kept, once what has happened meanwhile is known.
    pub(super) fn give_held(&mut self) -> Vec<Effect> {
        let (given, told) = self.asks.release();
        for text in told {
            self.notices.say(Tone::Warn, &text);
        }
        given.into_iter().filter_map(|held| self.give(held)).collect()
    }

    /// Gives them again after a while when the session is followed all along: then it is commands alone
    /// that did not arrive, and nothing will say that they do again.
    pub(super) fn give_held_again(&mut self) -> Vec<Effect> {
        let follows = |open: &OpenSession| open.caught_up && open.lost.is_none();
        if self.asks.is_due(self.ticks) && self.open.as_deref().is_some_and(follows) {
            return self.give_held();
        }
        Vec::new()
    }

    /// Answers a question.
    pub(super) fn answer_question(&mut self, question_id: &str, choice: &str) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        vec![Effect::Send(Command::AnswerQuestion(v1::AnswerQuestionRequest {
            session_id: open.session_id.clone(),
            question_id: question_id.to_owned(),
            choice: choice.to_owned(),
            author: Some(self.author.clone()),
        }))]
    }
}
