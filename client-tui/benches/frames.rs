//! How long a frame takes while an answer streams, and what a very long session costs.
//!
//! `cargo bench -p agent-tui --bench frames`. The terminal is a buffer, and time is counted in frames: sixty of them
//! are a second. What the terminal and the daemon add is measured by `cargo xtask bench tui`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark prints times and stops at what it did not expect"
)]

use std::cell::Cell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use agent_tui::conn::{Report, StreamId};
use agent_tui::input::Input;
use agent_tui::state::{Settings, State};
use agent_tui::view;
use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::AttachEvent;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{TerminalOptions, Viewport};

const DELTAS_PER_SECOND: usize = 20_000;
const FRAMES_PER_SECOND: usize = 60;
const SECONDS: usize = 10;
const AIM: Duration = Duration::from_millis(16);
const STREAM: StreamId = StreamId(1);

/// Counts what is written and drops it.
#[derive(Clone, Default)]
struct Sink(Rc<Cell<usize>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal of so many columns and rows that writes to a sink.
fn terminal(columns: u16, rows: u16, sink: Sink) -> Terminal<CrosstermBackend<Sink>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    Terminal::with_options(CrosstermBackend::new(sink), TerminalOptions { viewport }).unwrap()
}

fn state(columns: u16, rows: u16) -> State {
    let mut state = State::new(v1::Author::default(), Settings::default());
    state.on(Input::Resized { columns, rows });
    state.open_session("01JZ0000000000000000000000");
    tell(&mut state, AttachEvent::Attached(v1::Attached { from_seq: 1, ..Default::default() }));
    tell(&mut state, AttachEvent::CaughtUp { seq: 0 });
    state
}

fn tell(state: &mut State, event: AttachEvent) {
    state.on(Input::Report(Report::Stream { stream: STREAM, event: Some(event) }));
}

fn event(state: &mut State, seq: u64, body: Body) {
    let event = v1::Event { seq, at_ms: 0, turn_id: "T".to_owned(), body: Some(body) };
    tell(state, AttachEvent::Event(Box::new(event)));
}

fn delta(state: &mut State, offset: usize, text: &str) {
    let delta = v1::ItemDelta {
        item_id: "A".to_owned(),
        channel: v1::DeltaChannel::Text.into(),
        offset: u64::try_from(offset).unwrap(),
        text: text.to_owned(),
    };
    event(state, 0, Body::ItemDelta(delta));
}

fn streaming(columns: u16, rows: u16) {
    let written = Sink::default();
    let mut terminal = terminal(columns, rows, written.clone());
    let mut state = state(columns, rows);
    event(&mut state, 1, Body::TurnStarted(v1::TurnStarted::default()));
    let words = ["a ", "list ", "of `code` ", "in **bold** ", "words. ", "\n\n", "- 世界 ", "\n"];
    let mut words = words.iter().cycle();
    let (mut frames, mut offset) = (Vec::new(), 0);
    for _ in 0..SECONDS * FRAMES_PER_SECOND {
        let start = Instant::now();
        for _ in 0..DELTAS_PER_SECOND / FRAMES_PER_SECOND {
            let text = words.next().unwrap();
            delta(&mut state, offset, text);
            offset += text.len();
        }
        terminal.draw(|frame| view::draw(frame, &mut state)).unwrap();
        frames.push(start.elapsed());
    }
    let shown = state.open.as_ref().unwrap().transcript.live().first().unwrap().text.len();
    assert_eq!(shown, offset, "all deltas are in the transcript");
    let busy: Duration = frames.iter().sum();
    frames.sort_unstable();
    let at = |percent: usize| frames.get(frames.len() * percent / 100 - 1).copied().unwrap();
    let (half, last) = (at(50), at(99));
    let reached = if last <= AIM { "yes" } else { "NO" };
    println!(
        "| {columns}x{rows}: {DELTAS_PER_SECOND} deltas/s for {SECONDS} s, {offset} bytes | \
         frame p50 {half:.2?} | p99 {last:.2?} (aim {AIM:?}: {reached}) | of one core {:.0} % | \
         {} bytes a frame |",
        100.0 * busy.as_secs_f64() / f64::from(u32::try_from(SECONDS).unwrap()),
        written.0.get() / frames.len(),
    );
}

fn main() {
    for (columns, rows) in [(80, 24), (200, 60)] {
        streaming(columns, rows);
    }
}
