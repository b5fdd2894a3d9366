//! What a line means: a message, an answer, a command of the table.

mod of_session;

use agentd_proto::v1;
use agentd_shared::input::pick;
use agentd_shared::input::slash::{self, Line, SlashCommand, Surface};
use agentd_shared::text::one_line;

use super::overlay::{Ask, Body, Overlay, Picker, Picks, TextOverlay, TypedAnswer, Wanted};
use super::{Effect, State, Tone};
use crate::conn::Command;
use crate::input::Action;

impl State {
    /// Does what is written.
    pub(super) fn on_line(&mut self) -> Vec<Effect> {
        let text = self.composer.text();
        // A long paste is a message, whatever it begins with.
        if self.composer.shown() != text {
            return self.submit(&text, v1::Delivery::Queue);
        }
        match slash::parse(&text, Surface::FullScreen) {
            Line::Empty => {
                self.composer.clear();
                Vec::new()
            }
            Line::Message(said) => self.said(said),
            Line::Steer(text) => self.submit(text, v1::Delivery::Steer),
            Line::Interrupt(text) => self.submit(text, v1::Delivery::Interrupt),
            Line::Command(command, argument) => {
                let mut effects = Vec::new();
                // What sends a text keeps it until that is accepted.
                if !sends(command, argument) {
                    effects = self.typed_is_done();
                }
                effects.extend(self.command(command, argument));
                effects
            }
            Line::Misused(usage) => {
                self.notices.say(Tone::Warn, &format!("say {usage}; /help shows all commands"));
                Vec::new()
            }
            Line::Unknown(name, nearest) => {
                let name = one_line(name, 40);
                let hint = match nearest {
                    Some(nearest) => format!("did you mean /{nearest}?"),
                    None => format!("see /help, or write //{name} to say it"),
                };
                self.notices.say(Tone::Warn, &format!("there is no /{name}; {hint}"));
                Vec::new()
            }
        }
    }

    /// Answers what waits with a text, or sends it.
    fn said(&mut self, text: &str) -> Vec<Effect> {
        let Some(open) = &self.open else { return self.submit(text, v1::Delivery::Queue) };
        let asks = open.transcript.open_approvals().next().is_some();
        if asks && let Some(answer) = TypedAnswer::parse(text) {
            return self.answer_typed(answer, "");
        }
        let question = open.transcript.open_questions().next();
        if let Some(question) = question {
            let turn = open.transcript.open_turn();
            let takes_text =
                question.free_text && turn.is_some_and(|turn| turn.turn_id == question.turn_id);
            let choice = pick::choice(&question.choices, text);
            if let Some(choice) = choice.or_else(|| takes_text.then(|| text.to_owned())) {
                let id = question.question_id.clone();
                let mut effects = self.typed_is_done();
                effects.extend(self.answer_question(&id, &choice));
                return effects;
            }
        }
        self.submit(text, v1::Delivery::Queue)
    }

    /// Does what a command of the table says.
    pub(super) fn command(&mut self, command: SlashCommand, argument: &str) -> Vec<Effect> {
        match command {
            SlashCommand::Help => return self.act(Action::Help),
            SlashCommand::New => return self.act(Action::NewSession),
            SlashCommand::Sessions => return self.pick_session(),
            SlashCommand::Quit => return self.leave(0),
            SlashCommand::Clear => return self.act(Action::ClearDisplay),
            SlashCommand::Status => {
                return self.ask_for("status", Wanted::Status, Command::GetStatus);
            }
            SlashCommand::Tools if argument.is_empty() => {
                return self.ask_for("tools", Wanted::Tools, Command::ListTools);
            }
            SlashCommand::Tools => {
                let request = v1::GetToolRequest { name: argument.to_owned() };
                let title = format!("tool {argument}");
                return self.ask_for(&title, Wanted::Tools, Command::GetTool(request));
            }
            SlashCommand::Search => {
                let question = argument.to_owned();
                let request = v1::SearchMessagesRequest { question, ..Default::default() };
                self.overlay = Some(Overlay::Picker(Picker::new(argument, Picks::Session, None)));
                return vec![Effect::Send(Command::SearchMessages(request))];
            }
            SlashCommand::Switch => return self.switch_to(argument),
            SlashCommand::Continue if !argument.is_empty() => return self.switch_to(argument),
            SlashCommand::Reasoning => {
                return self.turn(argument, self.settings.reasoning, Action::Reasoning);
            }
            SlashCommand::Verbose => {
                return self.turn(argument, self.settings.verbose, Action::Verbose);
            }
            SlashCommand::Theme if argument.is_empty() => {
                self.pick_theme();
                return Vec::new();
            }
            SlashCommand::Theme => {
                self.set_theme(argument);
                return Vec::new();
            }
            _ => {}
        }
        let Some(session_id) = self.open.as_ref().map(|open| open.session_id.clone()) else {
            self.notices.say(Tone::Warn, "no session is open yet; /new begins one");
            return Vec::new();
        };
        self.command_of_session(command, argument, session_id)
    }

    /// The directory that the open session works in, else the one where the client was started.
    pub(super) fn workspace(&self) -> String {
        let open = self.open.as_ref();
        let listed = open.and_then(|open| self.sessions.get(&open.session_id));
        let known = [
            open.map_or("", |open| open.transcript.workspace()),
            listed.map_or("", |session| session.workspace.as_str()),
        ];
        let known = known.into_iter().find(|workspace| !workspace.is_empty());
        known.unwrap_or(&self.settings.workspace).to_owned()
    }

    /// Opens a text that a reply will fill.
    fn ask_for(&mut self, title: &str, wanted: Wanted, command: Command) -> Vec<Effect> {
        let title = one_line(title, 60);
        self.overlay = Some(Overlay::Text(TextOverlay::waiting(title, wanted)));
        vec![Effect::Send(command)]
    }

    /// Fills the text that waits for a reply, if one of these is what it waits for.
    pub(super) fn fill(&mut self, wanted: &[Wanted], body: impl FnOnce(Wanted) -> Body) {
        if let Some(Overlay::Text(text)) = &mut self.overlay
            && let Some(wants) = text.wants.filter(|wants| wanted.contains(wants))
        {
            text.fill(body(wants));
        }
    }

    /// Changes the open session.
    pub(super) fn update(&self, change: v1::UpdateSessionRequest) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        vec![Effect::Send(Command::UpdateSession(v1::UpdateSessionRequest {
            session_id: open.session_id.clone(),
            author: Some(self.author.clone()),
            ..change
        }))]
    }

    fn turn(&mut self, argument: &str, is_on: bool, action: Action) -> Vec<Effect> {
        match argument {
            "on" if is_on => Vec::new(),
            "off" if !is_on => Vec::new(),
            _ => self.act(action),
        }
    }

    /// Goes to a session that is named by its id, by its beginning, or as `last`.
    fn switch_to(&mut self, argument: &str) -> Vec<Effect> {
        let here = self.open.as_ref().map_or("", |open| open.session_id.as_str());
        let wanted = argument.to_ascii_uppercase();
        let all = self.sessions.all();
        let found: Vec<String> = if argument == "last" {
            let others = all.iter().filter(|session| session.session_id != here);
            others.take(1).map(|session| session.session_id.clone()).collect()
        } else {
            let fits = all.iter().filter(|session| session.session_id.starts_with(&wanted));
            fits.map(|session| session.session_id.clone()).collect()
        };
        match found.as_slice() {
            [only] => {
                let only = only.clone();
                self.open_session(&only)
            }
            [] => {
                let text = format!(
                    "no session begins with {}; /sessions shows them",
                    one_line(argument, 40)
                );
                self.notices.say(Tone::Warn, &text);
                Vec::new()
            }
            many => {
                let text = format!("{} sessions begin with this; write more of the id", many.len());
                self.notices.say(Tone::Warn, &text);
                Vec::new()
            }
        }
    }

    /// What waits and is shown.
    pub fn current_ask(&self) -> Option<Ask<'_>> {
        self.open.as_ref().and_then(|open| self.asks.current(&open.transcript))
    }
}

fn sends(command: SlashCommand, argument: &str) -> bool {
    command == SlashCommand::Steer || (command == SlashCommand::Interrupt && !argument.is_empty())
}
