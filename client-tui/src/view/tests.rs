//! What stands around the transcript, on small, usual and large terminals.

mod pages;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::AttachEvent;
use crossterm::event::KeyCode;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::draw;
use crate::conn::Reply;
use crate::state::State;
use crate::state::tests::{
    SESSION, author, event, key, memories, opened, queued, reply, snapshot, started, stream,
    summary, typed,
};
use crate::theme::Theme;

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (200, 60)];
const LONG: &str = "把今年的预算和去年的支出放在一起比较，并写一份给董事会的报告 👩‍👩‍👧‍👦 with a very long english tail that does not end";

fn drawn(state: &mut State, (columns, rows): (u16, u16)) -> Buffer {
    state.size = (columns, rows);
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame, state)).unwrap();
    terminal.backend().buffer().clone()
}

/// The rows as text, without what is empty at their ends. A wide character takes the cell after it.
fn text(buffer: &Buffer) -> String {
    use unicode_width::UnicodeWidthStr as _;
    let area = buffer.area;
    let mut rows = Vec::new();
    for y in 0..area.height {
        let (mut row, mut skip) = (String::new(), 0);
        for x in 0..area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                row.push_str(symbol);
                skip = symbol.width().max(1);
            }
            skip -= 1;
        }
        rows.push(row.trim_end().to_owned());
    }
    rows.join("\n")
}

fn check(name: &str, mut state: impl FnMut() -> State) {
    for size in SIZES {
        let shown = text(&drawn(&mut state(), size));
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), shown);
    }
}

fn status(kind: &str, model: &str) -> Reply {
    let provider = v1::ProviderStatus {
        kind: kind.to_owned(),
        base_url: "https://llm.example/v1".to_owned(),
        model: model.to_owned(),
        ..v1::ProviderStatus::default()
    };
    Reply::Status(Box::new(v1::GetStatusResponse {
        provider: Some(provider),
        ..v1::GetStatusResponse::default()
    }))
}

fn known(kind: &str, model: &str) -> State {
    let mut state = opened();
    drop(state.on(reply(status(kind, model))));
    drop(state.on(reply(Reply::Tools(vec![v1::Tool::default(); 31]))));
    let count = v1::MemoryCount {
        status: v1::MemoryStatus::Active.into(),
        count: 12,
        ..v1::MemoryCount::default()
    };
    let stats = v1::GetMemoryStatsResponse { counts: vec![count], ..Default::default() };
    drop(state.on(reply(Reply::MemoryStats(Box::new(stats)))));
    let mut here = summary(SESSION, "");
    here.session.as_mut().unwrap().effort = v1::Effort::High.into();
    drop(state.on(snapshot(vec![here])));
    state
}

/// Sessions that do all there is to do, with titles in several scripts.
fn with_sessions() -> State {
    let mut state = known("openai-compatible", "large-model-2026");
    let mut waits = summary("01JZ000000000000000000000A", LONG);
    waits.session.as_mut().unwrap().open_approvals = 1;
    let mut runs = summary("01JZ000000000000000000000B", "日本語の題名");
    runs.session.as_mut().unwrap().status = v1::SessionStatus::Running.into();
    let mut queued = summary("01JZ000000000000000000000C", "e\u{301}tude");
    queued.session.as_mut().unwrap().queued_messages = 3;
    let mut unread = summary("01JZ000000000000000000000D", "evil \u{1b}[31m\u{202e}title");
    unread.session.as_mut().unwrap().news_seq = 9;
    let here = summary(SESSION, "the open one");
    drop(state.on(snapshot(vec![waits, runs, queued, unread, here])));
    state
}

/// A turn that runs, a plan, a queue and somebody else.
fn busy() -> State {
    let mut state = with_sessions();
    let participant = |client_id: &str, name: &str| v1::Participant {
        author: Some(v1::Author { client_id: client_id.to_owned(), name: name.to_owned() }),
        attached_at_ms: 1,
    };
    let participants = vec![participant("me", "ann@pts/3"), participant("bo", "bo@pts/9")];
    let attached = v1::Attached { participants, ..v1::Attached::default() };
    drop(state.on(stream(AttachEvent::Attached(attached))));
    let turn = v1::TurnStarted {
        model: "small-model".to_owned(),
        effort_requested: v1::Effort::High.into(),
        effort_effective: v1::Effort::Medium.into(),
        ..v1::TurnStarted::default()
    };
    drop(state.on(event(1, state.now_ms - 75_000, Body::TurnStarted(turn))));
    let step = |objective: &str, status: v1::PlanStepStatus| v1::PlanStep {
        objective: objective.to_owned(),
        status: status.into(),
        ..v1::PlanStep::default()
    };
    let plan = v1::Plan {
        goal: "比较预算".to_owned(),
        steps: vec![
            step("read both tables", v1::PlanStepStatus::Done),
            step(LONG, v1::PlanStepStatus::Running),
            step("write the report", v1::PlanStepStatus::Pending),
            step("send it", v1::PlanStepStatus::Failed),
        ],
        revision: 1,
        ..v1::Plan::default()
    };
    drop(state.on(event(2, 2, Body::PlanChanged(v1::PlanChanged { plan: Some(plan) }))));
    drop(state.on(queued(3, "q1", "and then the charts", author())));
    let bo = v1::Author { client_id: "bo".to_owned(), name: "bo@pts/9".to_owned() };
    drop(state.on(queued(4, "q2", LONG, bo)));
    let context = v1::GetContextResponse {
        window_tokens: 100_000,
        layers: vec![v1::ContextLayer { tokens: 42_000, ..v1::ContextLayer::default() }],
        ..v1::GetContextResponse::default()
    };
    let context = Box::new(context);
    drop(state.on(reply(Reply::Context { session_id: SESSION.to_owned(), context })));
    state
}

fn memory_pane() -> State {
    let mut state = busy();
    drop(state.on(key(KeyCode::F(3))));
    let evil = "line\none \u{1b}[2J of two";
    drop(state.on(reply(memories(&["ann likes green tea", LONG, evil]))));
    drop(state.on(key(KeyCode::Down)));
    state
}

#[test]
fn the_welcome_screen_tells_where_you_are_and_three_keys() {
    check("welcome", || known("openai-compatible", "large-model-2026"));
}

#[test]
fn the_welcome_screen_says_how_to_get_a_model_when_there_is_none() {
    check("welcome_offline", || known("offline", ""));
}

#[test]
fn a_busy_session_has_its_plan_queue_presence_and_standing_around_it() {
    check("busy", busy);
}

#[test]
fn sessions_are_told_by_a_mark_and_a_word() {
    check("sessions", || {
        let mut state = with_sessions();
        // Where they stand beside the transcript anyway, a key gives them the keys.
        state.sessions.has_keys = true;
        state
    });
}

#[test]
fn memories_are_listed_in_a_pane() {
    check("memories", memory_pane);
}

#[test]
fn a_tool_is_shown_with_its_schema() {
    check("tool", || {
        let mut state = opened();
        drop(state.on(key(KeyCode::F(4))));
        let tool = v1::Tool {
            name: "read_file".to_owned(),
            description: format!("Reads a file. {LONG}"),
            parameters_json: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#
                .to_owned(),
            capabilities: Some(v1::ToolCapabilities {
                effect: v1::ToolEffect::WorkspaceRead.into(),
                ..v1::ToolCapabilities::default()
            }),
            ..v1::Tool::default()
        };
        drop(state.on(reply(Reply::Tools(vec![tool]))));
        drop(state.on(key(KeyCode::Enter)));
        state
    });
}

#[test]
fn usage_is_summed_in_a_pane() {
    check("usage", || {
        let mut state = opened();
        drop(state.on(key(KeyCode::F(6))));
        let row = |key: &str, nano_usd: u64| v1::UsageRow {
            key: key.to_owned(),
            requests: 12,
            exact: Some(v1::Usage { prompt_tokens: 1_234_567, ..v1::Usage::default() }),
            cost: Some(v1::Cost { nano_usd, ..v1::Cost::default() }),
            ..v1::UsageRow::default()
        };
        let usage = v1::GetUsageResponse {
            rows: vec![row("2026-11-29", 1_230_000_000), row("2026-11-30", 45_000_000)],
            total: Some(row("", 1_275_000_000)),
            ..v1::GetUsageResponse::default()
        };
        drop(state.on(reply(Reply::Usage(Box::new(usage)))));
        state
    });
}

#[test]
fn words_are_written_where_the_keys_of_a_pane_stand() {
    check("search", || {
        let mut state = opened();
        drop(state.on(key(KeyCode::F(8))));
        typed(&mut state, "绿茶 green");
        state
    });
}

#[test]
fn without_colour_no_cell_has_one() {
    for make in [busy, with_sessions, memory_pane, || known("offline", "")] {
        let colored = |theme: Theme| {
            let mut state = make();
            state.settings.theme = theme;
            state.notices.say(crate::state::Tone::Error, "something went wrong");
            state.sessions.has_keys = true;
            let buffer = drawn(&mut state, (120, 30));
            buffer
                .content
                .iter()
                .filter(|cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset))
                .count()
        };
        assert_eq!(colored(Theme::PLAIN), 0);
        assert!(colored(Theme::COLORED) > 0, "the test can fail");
        assert!(colored(Theme::DARK) > 0 && colored(Theme::LIGHT) > 0);
    }
}

#[test]
fn any_size_is_drawn_whatever_is_shown() {
    for make in [busy, with_sessions, memory_pane, || known("offline", "")] {
        for columns in [1, 2, 5, 20, 39, 99, 100, 101] {
            for rows in [1, 2, 5, 9, 16] {
                let mut state = make();
                drop(drawn(&mut state, (columns, rows)));
                state.sessions.has_keys = true;
                drop(drawn(&mut state, (columns, rows)));
            }
        }
    }
}

#[test]
fn what_ran_is_counted_from_its_beginning() {
    let mut state = opened();
    drop(state.on(started(1, state.now_ms - 5_400)));
    let shown = text(&drawn(&mut state, (80, 24)));
    assert!(shown.contains("working 5 s"), "{shown}");
}
