//! The loop: it waits for the terminal, the daemon and signals, lets the state decide, and does what
//! follows.
//!
//! It draws at most sixty times a second: whatever came in between is drawn at once.

use std::io;
use std::time::Duration;

use agentd_shared::client_ids::now_ms;
use crossterm::event::EventStream;
use futures_util::StreamExt as _;
use ratatui::layout::{Position, Rect};
use tokio::time::Instant;
use tonic::Status;

use crate::conn::{Conn, Reply, Report};
use crate::file_lists::FileLists;
use crate::history_file::HistoryFile;
use crate::input::Input;
use crate::state::{Effect, State, Tone};
use crate::terminal::{self, Screen, Signals, TerminalGuard, editor};
use crate::view;

/// Shortest time between two frames.
const FRAME: Duration = Duration::from_micros(16_667);
/// Time between two steps of what moves by itself.
const TICK: Duration = Duration::from_millis(100);
/// Longest wait for the history at the end.
const FINISH: Duration = Duration::from_secs(2);
/// Reports that are taken at once before anything is drawn.
const BATCH: usize = 4_096;

/// A terminal, a daemon and what lies between them.
#[derive(Debug)]
pub struct App {
    state: State,
    conn: Conn,
    guard: TerminalGuard,
    screen: Screen,
    signals: Signals,
    history: HistoryFile,
    files: FileLists,
    /// What the terminal brings; none while the terminal is not ours.
    events: Option<EventStream>,
    /// Something has changed since the last frame.
    stale: bool,
    next_frame: Instant,
    next_tick: Instant,
    title: String,
}

/// How somebody left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The exit code.
    pub code: u8,
    /// What to tell once the terminal is given back; empty: nothing.
    pub farewell: String,
}

/// What woke the loop.
enum Wake {
    Input(Input),
    Frame,
    /// Nothing that means anything.
    Nothing,
    /// The terminal is gone.
    Gone,
}

impl App {
    /// Takes the terminal for a state and its daemon.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn new(
        mut state: State,
        conn: Conn,
        guard: TerminalGuard,
        signals: Signals,
        history: HistoryFile,
    ) -> io::Result<Self> {
        let screen = terminal::screen()?;
        let size = screen.size()?;
        state.size = (size.width, size.height);
        let now = Instant::now();
        Ok(Self {
            state,
            conn,
            guard,
            screen,
            signals,
            history,
            files: FileLists::default(),
            events: Some(EventStream::new()),
            stale: true,
            next_frame: now,
            next_tick: now + TICK,
            title: String::new(),
        })
    }

    /// Runs until somebody leaves, and gives the terminal back.
    ///
    /// # Errors
    /// When the terminal cannot be used any longer.
    pub async fn run(mut self, first: Vec<Effect>) -> io::Result<Left> {
        let mut ended = self.perform(first)?;
        while ended.is_none() {
            ended = match self.wake().await {
                Wake::Input(input) => self.take(input)?,
                Wake::Frame => {
                    self.draw()?;
                    None
                }
                Wake::Nothing => None,
                Wake::Gone => Some(terminal::Stop::Hangup.exit_code()),
            };
        }
        // A file system that hangs must not keep anybody here.
        let kept = tokio::time::timeout(FINISH, self.history.finish()).await;
        if kept.is_err() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the history cannot be written"));
        }
        Ok(Left { code: ended.unwrap_or_default(), farewell: self.state.farewell() })
    }

    async fn wake(&mut self) -> Wake {
        let Self { signals, events, conn, history, files, .. } = self;
        let event = async {
            match events {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            stop = signals.next() => Wake::Input(Input::Stop(stop)),
            // Before everything else that is much: a key must not wait for a stream.
            event = event => match event {
                Some(Ok(event)) => Input::of(event).map_or(Wake::Nothing, Wake::Input),
                Some(Err(_)) | None => Wake::Gone,
            },
            () = tokio::time::sleep_until(self.next_frame), if self.stale => Wake::Frame,
            () = tokio::time::sleep_until(self.next_tick), if self.state.moves() => {
                self.next_tick = Instant::now() + TICK;
                Wake::Input(Input::Tick)
            }
            input = history.next() => Wake::Input(input),
            input = files.next() => Wake::Input(input),
            report = conn.next() => Wake::Input(Input::Report(report)),
        }
    }

    /// Takes an input and, if it is of the daemon, all that is there beside it.
    fn take(&mut self, input: Input) -> io::Result<Option<u8>> {
        self.stale = true;
        self.state.now_ms = i64::try_from(now_ms()).unwrap_or(i64::MAX);
        let is_report = matches!(input, Input::Report(_));
        let effects = self.state.on(input);
        let mut ended = self.perform(effects)?;
        if is_report {
            for _ in 0..BATCH {
                let Some(report) = self.conn.try_next() else { break };
                let effects = self.state.on(Input::Report(report));
                ended = ended.or(self.perform(effects)?);
            }
        }
        Ok(ended)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> io::Result<Option<u8>> {
        for effect in effects {
            match effect {
                Effect::Send(command) => {
                    if let Err(command) = self.conn.send(command) {
                        // As if the daemon had refused it: a message comes back to whoever wrote it.
                        let error = Status::resource_exhausted("too much waits to be sent").into();
                        let failed = Report::Reply(Reply::Failed { command, error });
                        // What follows asks the daemon for nothing.
                        let _ = self.state.on(Input::Report(failed));
                    }
                }
                Effect::Attach { stream, session_id, position } => {
                    self.conn.attach(stream, &session_id, position);
                }
                Effect::Detach(stream) => self.conn.detach(stream),
                Effect::Copy(text) => terminal::copy(&text)?,
                Effect::Ring => terminal::ring()?,
                Effect::Notify(text) => terminal::notify(&text)?,
                Effect::Watch => self.conn.watch(),
                Effect::Retake => self.retake()?,
                Effect::Redraw => self.refresh()?,
                Effect::ListFiles(directory) => self.files.list(directory),
                Effect::Remember(text) => self.history.remember(text),
                Effect::Edit(text) => self.edit(&text)?,
                Effect::Suspend => {
                    self.away(terminal::stop_process)??;
                }
                Effect::Quit(code) => return Ok(Some(code)),
            }
        }
        Ok(None)
    }

    fn draw(&mut self) -> io::Result<()> {
        if !self.guard.is_ours() {
            // What it panicked with stands on the terminal already.
            return Err(io::Error::other("a part of the client panicked"));
        }
        self.stale = false;
        self.next_frame = Instant::now() + FRAME;
        let title = self.state.window_title();
        if title != self.title {
            terminal::set_title(&title)?;
            self.title = title;
        }
        let state = &mut self.state;
        self.screen.draw(|frame| view::draw(frame, state))?;
        Ok(())
    }

    /// Takes the terminal once more: whoever had it may have changed its modes.
    fn retake(&mut self) -> io::Result<()> {
        self.guard.enter()?;
        self.refresh()
    }

    /// Draws every cell anew, in the size that the terminal has now.
    fn refresh(&mut self) -> io::Result<()> {
        let size = self.screen.size()?;
        // Not `clear`, which asks the terminal where the cursor is: its answer would come as an event.
        self.screen.resize(Rect::from((Position::ORIGIN, size)))?;
        self.state.size = (size.width, size.height);
        self.stale = true;
        Ok(())
    }

    /// Gives the terminal back for as long as something else runs in it.
    fn away<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        // It would take keys that are meant for somebody else.
        self.events = None;
        self.guard.give_back();
        let done = run();
        self.guard.enter()?;
        self.events = Some(EventStream::new());
        self.refresh()?;
        Ok(done)
    }

    fn edit(&mut self, text: &str) -> io::Result<()> {
        let edited = match self.away(|| editor::edit(text))? {
            Ok(edited) => edited,
            Err(error) => {
                self.state.notices.say(Tone::Error, &error.to_string());
                None
            }
        };
        let effects = self.state.on(Input::Edited(edited));
        self.perform(effects).map(drop)
    }
}
