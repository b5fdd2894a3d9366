//! What follows from inputs, and how it looks.

mod asked;
mod pressed;
mod shown;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::AttachEvent;
use agentd_shared::client_ids::new_ulid;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::conn::{Command, Reply, Report, StreamId};
use crate::input::Input;
use crate::state::{Effect, Settings, State};

/// The session that is open.
const SESSION: &str = "01JSESSION";

/// A state with a session, to which things happen.
struct Desk {
    state: State,
    seq: u64,
    stream: StreamId,
}

impl Desk {
    fn new() -> Self {
        let author = v1::Author { client_id: new_ulid(), name: "me".into() };
        let mut state =
            State::new(author, Settings { workspace: "/w".into(), ..Settings::default() });
        state.open_session(SESSION);
        let stream = state.open.as_ref().unwrap().stream;
        let mut desk = Self { state, seq: 0, stream };
        desk.stream(AttachEvent::Attached(v1::Attached { from_seq: 1, ..Default::default() }));
        desk.stream(AttachEvent::CaughtUp { seq: 0 });
        desk
    }

    fn stream(&mut self, event: AttachEvent) -> Vec<Effect> {
        let report = Report::Stream { stream: self.stream, event: Some(event) };
        self.state.on(Input::Report(report))
    }

    fn event(&mut self, body: Body) -> Vec<Effect> {
        self.seq += 1;
        self.stream(AttachEvent::Event(Box::new(v1::Event {
            seq: self.seq,
            turn_id: "01JTURN".into(),
            body: Some(body),
            ..Default::default()
        })))
    }

    fn reply(&mut self, reply: Reply) -> Vec<Effect> {
        self.state.on(Input::Report(Report::Reply(reply)))
    }

    fn turn_runs(&mut self) {
        self.event(Body::TurnStarted(v1::TurnStarted::default()));
    }

    fn asks(&mut self, id: &str, action: v1::Action) {
        self.event(Body::ApprovalRequested(v1::ApprovalRequested {
            approval_id: id.into(),
            call_id: format!("call-{id}"),
            tool: "run_command".into(),
            action: Some(action),
            because: "no rule allows it".into(),
            ..Default::default()
        }));
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Vec<Effect> {
        self.state.on(Input::Key(KeyEvent::new(code, modifiers)))
    }

    fn press(&mut self, code: KeyCode) -> Vec<Effect> {
        self.key(code, KeyModifiers::NONE)
    }

    fn write(&mut self, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|letter| self.press(KeyCode::Char(letter))).collect()
    }

    /// Writes a line and sends it; what was offered is closed first.
    fn line(&mut self, text: &str) -> Vec<Effect> {
        self.state.composer.set(text);
        self.state.popup = None;
        self.press(KeyCode::Enter)
    }

    fn ticks(&mut self, count: usize) {
        for _ in 0..count {
            self.state.on(Input::Tick);
        }
    }

    fn notice(&self) -> &str {
        self.state.notices.current().map_or("", |notice| notice.text.as_str())
    }

    /// The screen, row by row, with `█` where the cursor is.
    fn screen(&mut self, columns: u16, rows: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        self.state.size = (columns, rows);
        let state = &mut self.state;
        terminal.draw(|frame| crate::view::draw(frame, state)).unwrap();
        let cursor = terminal.get_cursor_position().unwrap();
        let buffer = terminal.backend().buffer();
        let mut out = Vec::new();
        for row in 0..rows {
            let mut line = String::new();
            let mut skip = 0;
            for column in 0..columns {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = buffer[(column, row)].symbol();
                skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                if (cursor.x, cursor.y) == (column, row) {
                    line.push('█');
                    if symbol != " " {
                        line.push_str(symbol);
                    }
                } else {
                    line.push_str(symbol);
                }
            }
            out.push(line.trim_end().to_owned());
        }
        out.join("\n")
    }
}

/// What is asked of the daemon.
fn sent(effects: &[Effect]) -> Vec<&Command> {
    let sent = effects.iter().filter_map(|effect| match effect {
        Effect::Send(command) => Some(command),
        _ => None,
    });
    sent.collect()
}

fn runs(argv: &[&str]) -> v1::Action {
    use v1::action_target::Target;

    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    let run = v1::RunTarget { argv, cwd: String::new(), confinement: None };
    v1::Action {
        summary: "run a command".into(),
        targets: vec![v1::ActionTarget { target: Some(Target::Run(run)) }],
    }
}
