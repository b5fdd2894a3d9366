//! What actions do.

use agentd_proto::v1;
use agentd_shared::client_ids::new_ulid;
use agentd_shared::text::{one_line, sanitize};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::composer::{MAX_BYTES, TooLong};
use super::overlay::{Asks, Item, Overlay, Picker, Picks};
use super::{Effect, Facts, OpenSession, PaneKind, PlanShown, State, Tone};
use crate::conn::Command;
use crate::document::{Direction, Landmark, Look};
use crate::input::Action;
use crate::terminal::Stop;

/// Rows that two windows have in common when a page is turned.
const OVERLAP: usize = 2;

impl State {
    /// Does what a key asks for.
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Send => return self.on_line(),
            Action::Steer => return self.steer(),
            Action::NewLine => self.composer.new_line(),
            Action::HistoryBack => self.composer.history_back(),
            Action::HistoryForward => self.composer.history_forward(),
            Action::Undo => self.composer.undo(),
            Action::Redo => self.composer.redo(),
            Action::Edit => return vec![Effect::Edit(self.composer.text())],
            Action::PageUp => return self.scroll(self.page()),
            Action::PageDown => return self.scroll(-self.page()),
            Action::Top => {
                if let Some(open) = &mut self.open {
                    open.document.to_top(&open.transcript);
                    open.goes_to_top = true;
                }
                return self.go_on_to_top();
            }
            Action::Latest => {
                if let Some(open) = &mut self.open {
                    open.document.to_latest();
                    open.goes_to_top = false;
                }
            }
            Action::Interrupt => return self.interrupt(),
            Action::Reasoning => {
                self.settings.reasoning = !self.settings.reasoning;
                let state = if self.settings.reasoning { "shown" } else { "hidden" };
                self.notices.say(Tone::Info, &format!("reasoning is {state}"));
            }
            Action::Verbose => {
                self.settings.verbose = !self.settings.verbose;
                let state = if self.settings.verbose { "shown" } else { "hidden" };
                self.notices.say(Tone::Info, &format!("what is decided on the way is {state}"));
            }
            Action::NewSession => {
                return vec![Effect::Send(Command::CreateSession(self.new_session()))];
            }
            Action::Sessions => self.turn_sessions(),
            Action::Plan => self.plan = PlanShown::turned(self.plan_lines() > 0),
            Action::Withdraw => return self.withdraw_one(),
            Action::Memory => return self.open_pane(PaneKind::Memory),
            Action::Tools => return self.open_pane(PaneKind::Tools),
            Action::Usage => return self.open_pane(PaneKind::Usage),
            Action::Sweeps => return self.open_pane(PaneKind::Sweeps),
            Action::SearchAll => return self.open_pane(PaneKind::Search),
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            Action::Quit => return self.leave(0),
            Action::QuitIfIdle => {
                if !self.composer.is_empty() {
                    // As in a shell: the key deletes where there is something to delete.
                    let delete = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
                    self.composer.key(delete);
                    return Vec::new();
                }
                if !self.is_running() {
                    return self.leave(0);
                }
                self.notices.say(Tone::Info, "Ctrl-C leaves; the turn goes on");
            }
            Action::TurnBack => return self.jump(Landmark::Turn, Direction::Back),
            Action::TurnForward => return self.jump(Landmark::Turn, Direction::Forward),
            Action::BlockBack => return self.jump(Landmark::Block, Direction::Back),
            Action::BlockForward => return self.jump(Landmark::Block, Direction::Forward),
            Action::ErrorBack => return self.jump(Landmark::Error, Direction::Back),
            Action::ErrorForward => return self.jump(Landmark::Error, Direction::Forward),
            Action::DiffBack => return self.jump(Landmark::Diff, Direction::Back),
            Action::DiffForward => return self.jump(Landmark::Diff, Direction::Forward),
            Action::Search => self.begin_search(),
            Action::Copy => return self.copy_answer(),
            Action::ClearDisplay => {
                if let Some(open) = &mut self.open {
                    open.document.clear(&open.transcript);
                }
            }
            Action::Complete => return self.complete_or_focus(),
            Action::HistorySearch => self.search_history(),
            Action::Help => self.show_help(),
        }
        Vec::new()
    }

    /// Opens a session in place of the one on the screen.
    pub fn open_session(&mut self, session_id: &str) -> Vec<Effect> {
        let stream = self.next_stream();
        let look = Look {
            width: self.size.0,
            theme: self.settings.theme,
            reasoning: self.settings.reasoning,
            verbose: self.settings.verbose,
        };
        let opened = OpenSession::new(
            session_id.to_owned(),
            stream,
            self.settings.turns,
            look,
            &self.author.client_id,
        );
        let position = opened.position();
        self.facts = Facts {
            tools: self.facts.tools,
            memories: self.facts.memories,
            wanted_place: self.facts.wanted_place.take(),
            ..Facts::default()
        };
        self.sessions.select(session_id);
        self.composer.switch(self.open.as_ref().map(|open| open.session_id.as_str()), session_id);
        let left = self.open.replace(Box::new(opened));
        (self.asks, self.popup) = (Asks::default(), None);
        // Those of another workspace.
        self.vocabulary.files.clear();
        self.vocabulary.memories.clear();
        self.memories_asked = false;
        let mut effects: Vec<Effect> =
            left.iter().flat_map(|left| left.streams()).map(Effect::Detach).collect();
        effects.push(Effect::Attach { stream, session_id: session_id.to_owned(), position });
        effects
    }

    /// A new session in the directory where the client was started.
    pub fn new_session(&self) -> v1::CreateSessionRequest {
        v1::CreateSessionRequest {
            workspace: self.settings.workspace.clone(),
            ..v1::CreateSessionRequest::default()
        }
    }

    /// Leaves. What is written and not sent stays in the history.
    pub(super) fn leave(&mut self, code: u8) -> Vec<Effect> {
        let unsent = self.composer.unsent();
        let mut effects = Vec::new();
        for text in unsent {
            if self.composer.remember(&text) {
                effects.push(Effect::Remember(text));
            }
        }
        effects.push(Effect::Quit(code));
        effects
    }

    /// Tells the running turn what is written.
    fn steer(&mut self) -> Vec<Effect> {
        let text = self.composer.text();
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.submit(&text, v1::Delivery::Steer)
    }

    /// Lists what was sent before.
    fn search_history(&mut self) {
        let items = self.composer.history().map(|text| Item {
            value: text.to_owned(),
            label: one_line(text, 500),
            ..Item::default()
        });
        let picker = Picker::new("sent before", Picks::History, Some(items.collect()));
        self.overlay = Some(Overlay::Picker(picker));
    }

    /// Sends a text as what is written, and keeps what was typed in the history.
    pub(super) fn submit(&mut self, text: &str, delivery: v1::Delivery) -> Vec<Effect> {
        let Some(open) = &mut self.open else {
            self.notices.say(Tone::Warn, "no session is open yet");
            return Vec::new();
        };
        if text.len() > MAX_BYTES {
            self.notices.say(Tone::Error, &TooLong.to_string());
            return Vec::new();
        }
        open.document.to_latest();
        let session_id = open.session_id.clone();
        let mut effects = self.typed_is_done();
        effects.push(Effect::Send(Command::Submit(v1::SubmitMessageRequest {
            session_id,
            client_message_id: new_ulid(),
            text: text.to_owned(),
            delivery: delivery.into(),
            author: Some(self.author.clone()),
            ..v1::SubmitMessageRequest::default()
        })));
        effects
    }

    /// What is written has been understood: it goes to the history.
    pub(super) fn typed_is_done(&mut self) -> Vec<Effect> {
        let text = self.composer.take();
        if self.composer.remember(&text) { vec![Effect::Remember(text)] } else { Vec::new() }
    }

    fn interrupt(&mut self) -> Vec<Effect> {
        if self.notices.current().is_some_and(|notice| notice.tone != Tone::Info) {
            self.notices.dismiss();
            return Vec::new();
        }
        if !self.is_running() {
            return Vec::new();
        }
        self.cancel_turn()
    }

    /// Cancels the turn that runs or waits.
    pub(super) fn cancel_turn(&mut self) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        let Some(turn) = open.transcript.open_turn() else {
            self.notices.say(Tone::Info, "no turn runs");
            return Vec::new();
        };
        vec![Effect::Send(Command::Interrupt(v1::InterruptTurnRequest {
            session_id: open.session_id.clone(),
            turn_id: turn.turn_id.clone(),
            author: Some(self.author.clone()),
        }))]
    }

    /// Moves the window up or, if negative, down. At the top older turns are looked for.
    pub(super) fn scroll(&mut self, up: isize) -> Vec<Effect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        open.goes_to_top = false;
        open.document.scroll(&open.transcript, open.height, up);
        if up > 0 { self.look_for_earlier() } else { Vec::new() }
    }

    /// Goes to the first turn of the session for whoever wants to be there, once all turns are read.
    pub(super) fn go_on_to_top(&mut self) -> Vec<Effect> {
        if self.open.as_ref().is_none_or(|open| !open.goes_to_top) {
            return Vec::new();
        }
        let stream = self.next_stream();
        let Some(open) = &mut self.open else { return Vec::new() };
        if open.is_whole() {
            open.goes_to_top = false;
            open.document.to_top(&open.transcript);
            return Vec::new();
        }
        let Some(position) = open.read_all(stream) else { return Vec::new() };
        vec![Effect::Attach { stream, session_id: open.session_id.clone(), position }]
    }

    /// Reads older turns when the window shows the first that are known.
    pub(super) fn look_for_earlier(&mut self) -> Vec<Effect> {
        let at_top = self
            .open
            .as_mut()
            .is_some_and(|open| open.document.window(&open.transcript, open.height).at_top);
        if !at_top {
            return Vec::new();
        }
        let stream = self.next_stream();
        let Some(open) = &mut self.open else { return Vec::new() };
        let Some(position) = open.read_earlier(stream) else { return Vec::new() };
        vec![Effect::Attach { stream, session_id: open.session_id.clone(), position }]
    }

    fn page(&self) -> isize {
        let height = self.open.as_ref().map_or(1, |open| open.height);
        isize::try_from(height.saturating_sub(OVERLAP).max(1)).unwrap_or(1)
    }

    /// The title of the window of the terminal.
    pub fn window_title(&self) -> String {
        let title = self.open.as_ref().map_or("", |open| open.transcript.title());
        if title.is_empty() { "agentd".to_owned() } else { sanitize(title).into_owned() }
    }
}

impl State {
    /// Does what a signal asks for.
    pub(super) fn stop(&mut self, stop: Stop) -> Vec<Effect> {
        match stop {
            Stop::Suspend => vec![Effect::Suspend],
            Stop::Resumed => vec![Effect::Retake],
            Stop::Interrupt | Stop::Terminate | Stop::Hangup => self.leave(stop.exit_code()),
        }
    }
}
