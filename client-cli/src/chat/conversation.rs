//! The loop of a chat: it owns the session on the screen and decides what comes next.

use std::sync::Arc;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::Tone;
use agentd_shared::format::card;
use agentd_shared::{
    AttachEvent, AttachPosition, AttachStream, Chosen, Client, Follow, ReadCursor, first_position,
    ids,
};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::canvas::{Canvas, Mode};
use super::editor::{EditorHandle, EditorSetup};
use super::editor_helper::joined;
use super::held::Held;
use super::input::{Input, PipeLines};
use super::screen::Live;
use super::sources::{Known, Sources};
use super::terminal::{Size, TerminalGuard};
use super::view::View;
use super::yes::Yes;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::look::Look;
use crate::signals::{Signals, Stop, stand_still};

/// Inputs that wait. The editor sends one at a time, the printer too.
const INPUTS: usize = 16;
/// Events that are drawn together.
const BATCH: usize = 256;
/// A second Ctrl-C within this time leaves.
const TWICE: Duration = Duration::from_secs(2);
/// Shortest time between two attempts to get a missing piece of live text.
const RESYNC_PAUSE: Duration = Duration::from_secs(1);

/// What wakes the loop.
enum Wake {
    Attach(Option<AttachEvent>),
    Input(Input),
    Frame,
    Spin,
    Yes,
    Stop(Stop),
}

/// A chat in one session at a time.
pub(crate) struct Conversation<'a> {
    pub(super) app: &'a App,
    pub(super) client: Client,
    pub(super) session_id: String,
    pub(super) view: View,
    sources: Arc<Sources>,
    /// Our own messages whose turns go on.
    pub(super) pending: Vec<Follow>,
    /// Those whose turns stand still until a question is answered.
    pub(super) asked: Vec<Follow>,
    /// What is answered with yes unseen; none: users are asked.
    pub(super) yes: Option<Yes>,
    /// The connection is gone, or what has happened meanwhile is still being told.
    pub(super) is_cut_off: bool,
    /// Answers to approvals that wait for it.
    pub(super) held: Vec<Held>,
    /// When the line that is being done was typed.
    pub(super) typed_at: Instant,
    /// Set when it is time to go.
    pub(super) leaving: bool,
    stream: AttachStream,
    pub(super) live: Option<Live>,
    inputs: mpsc::Receiver<Input>,
    /// Holds the channel open when there is no editor.
    _inputs_tx: mpsc::Sender<Input>,
    pipe: Option<PipeLines>,
    /// Stdin is a script: one line after the other, each when the one before is done.
    pub(super) scripted: bool,
    pub(super) exit: Exit,
    /// How far this terminal has read. A script has no place of its own to keep.
    cursor: Option<ReadCursor>,
    /// Something durable has happened since completion learned what there is.
    vocabulary_is_stale: bool,
    interrupted_at: Option<Instant>,
    resynced_at: Option<Instant>,
}

impl<'a> Conversation<'a> {
    /// Opens a chat, for a user or for a script on stdin.
    ///
    /// # Errors
    /// A report when the terminal cannot be used.
    pub(crate) async fn open(
        app: &'a App,
        client: Client,
        chosen: &Chosen,
        script: Option<PipeLines>,
        yes: bool,
    ) -> Result<Self, Failure> {
        let unusable = |error: &dyn std::fmt::Display| {
            Failure::new(Exit::Failed, "cannot use the terminal").because(error)
        };
        let (inputs_tx, inputs) = mpsc::channel(INPUTS);
        let sources = Arc::new(Sources::new(client.clone()));
        let scripted = script.is_some();
        let editable = !scripted && app.output.can_draw();
        let live = if editable {
            let setup = EditorSetup {
                config: app.config(),
                history_file: app.paths().history_file(),
                sources: Arc::clone(&sources),
                colored: app.output.colored(),
            };
            let editor = EditorHandle::start(setup, inputs_tx.clone());
            let editor = editor.map_err(|error| unusable(&error))?;
            let next_frame = Instant::now();
            Some(Live { editor, ready: false, printing: false, next_frame })
        } else {
            None
        };
        let pipe = script.or_else(|| live.is_none().then(PipeLines::new));
        let mode = match (&live, app.renders_markdown()) {
            (Some(_), _) => Mode::Live,
            (None, true) => Mode::Append,
            (None, false) => Mode::Raw,
        };
        let look = Look { width: Size::detect().text_width(), colored: app.output.colored() };
        let view = View::new(
            Canvas::new(mode, look),
            &app.identity().client_id,
            app.config().show_reasoning,
        );
        let position = position(app, &client, chosen, scripted).await;
        Ok(Self {
            app,
            session_id: chosen.session_id.clone(),
            view,
            sources,
            pending: Vec::new(),
            asked: Vec::new(),
            yes: yes.then(Yes::default),
            is_cut_off: false,
            held: Vec::new(),
            typed_at: Instant::now(),
            leaving: false,
            stream: app.attach(&client, &chosen.session_id, position),
            live,
            inputs,
            _inputs_tx: inputs_tx,
            pipe,
            scripted,
            exit: Exit::Ok,
            cursor: read_cursor(app, &client, &chosen.session_id, scripted),
            vocabulary_is_stale: true,
            interrupted_at: None,
            resynced_at: None,
            client,
        })
    }

    /// Talks until the user leaves.
    ///
    /// # Errors
    /// A report when the daemon refuses for good or the output cannot be written.
    pub(crate) async fn run(mut self, signals: &mut Signals) -> Result<Exit, Failure> {
        let guard = TerminalGuard::new(&self.app.output);
        match signals.unless(self.welcome()).await {
            Ok(welcome) => welcome?,
            Err(_stop) => return Ok(Exit::CtrlC),
        }
        self.refresh_vocabulary();
        self.begin_line(String::new());
        let ended = self.talk(signals).await;
        let _ = signals.unless(self.keep_place()).await;
        if let Some(live) = &mut self.live {
            // The editor has let go of the terminal, or is about to be cut off: what is left to
            // show goes straight to it.
            if std::mem::take(&mut live.ready) || live.printing {
                self.view.canvas.disturbed();
            }
            drop(guard);
            let rest = self.view.canvas.take_rows(Size::detect().reach());
            self.app.output.raw(&rest)?;
        }
        ended?;
        Ok(self.exit)
    }

    async fn talk(&mut self, signals: &mut Signals) -> Result<(), Failure> {
        while !self.leaving {
            self.flush()?;
            match self.wake(signals).await {
                Wake::Attach(Some(event)) => {
                    self.on_attach(event)?;
                    for _ in 0..BATCH {
                        let Some(event) = self.stream.try_next() else { break };
                        self.on_attach(event)?;
                    }
                    self.give_held().await?;
                    self.say_yes().await;
                    self.refresh_vocabulary();
                }
                Wake::Attach(None) => {
                    return Err(Failure::new(Exit::Failed, "the stream has ended"));
                }
                Wake::Input(input) => self.on_input(input, signals).await?,
                Wake::Frame => {}
                Wake::Spin => self.view.spin(),
                Wake::Yes => self.say_yes().await,
                Wake::Stop(Stop::Interrupt) => self.interrupt(signals).await?,
                Wake::Stop(Stop::Terminate | Stop::Hangup) => self.leave_at_once(),
            }
        }
        self.view.end_stream();
        self.flush()
    }

    async fn wake(&mut self, signals: &mut Signals) -> Wake {
        let live = self.live.as_ref().filter(|live| live.ready && !live.printing);
        let frame = live.filter(|_| self.view.is_due()).map(|live| live.next_frame);
        let spin = live.filter(|_| self.view.spins()).map(|live| live.next_frame + card::SPIN);
        let retry = self.yes.as_ref().and_then(Yes::retry_at);
        let reads_pipe = !self.scripted || self.pending.is_empty();
        tokio::select! {
            stop = signals.next() => Wake::Stop(stop),
            Some(input) = self.inputs.recv() => Wake::Input(input),
            input = next_line(self.pipe.as_mut()), if reads_pipe => Wake::Input(input),
            () = sleep_until(frame), if frame.is_some() => Wake::Frame,
            () = sleep_until(spin), if spin.is_some() => Wake::Spin,
            () = sleep_until(retry), if retry.is_some() => Wake::Yes,
            event = self.stream.next() => Wake::Attach(event),
        }
    }

    async fn on_input(&mut self, input: Input, signals: &mut Signals) -> Result<(), Failure> {
        match input {
            Input::Ready => self.set_ready(),
            Input::Printed => {
                if let Some(live) = &mut self.live {
                    live.printing = false;
                }
            }
            Input::Line { text: line, at } => {
                self.adopt_echo(&line)?;
                self.typed_at = at;
                self.interrupted_at = None;
                match signals.unless(self.on_line(&joined(&line))).await {
                    Ok(done) => done?,
                    Err(stop) => self.given_up(stop),
                }
                self.refresh_vocabulary();
                self.begin_line(String::new());
            }
            Input::TooLong => {
                self.view.aside(Tone::Error, "✗ a line of more than 1 MiB was not sent");
                let remedy = "  hint: name the file in the message and let the agent read it";
                self.view.aside(Tone::Dim, remedy);
                self.script_failed(Exit::Failed);
            }
            Input::Interrupt(line) => {
                self.erase_echo(&line)?;
                // It was meant for the turn, not for the line.
                let keeps = self.works();
                self.interrupt(signals).await?;
                self.begin_line(if keeps { line } else { String::new() });
            }
            Input::Suspend(line) => {
                self.erase_echo(&line)?;
                let stopped = stand_still().await;
                // The shell has written since.
                self.view.canvas.disturbed();
                if let Err(error) = stopped {
                    self.view.aside(Tone::Warn, &format!("cannot stop: {error}"));
                }
                self.begin_line(line);
            }
            Input::End => {
                self.erase_echo("")?;
                self.leaving = true;
            }
            Input::Failed(why) => {
                return Err(Failure::new(Exit::Failed, "cannot use the terminal").because(why));
            }
        }
        Ok(())
    }

    fn set_ready(&mut self) {
        if let Some(live) = &mut self.live {
            live.ready = true;
        }
    }

    fn begin_line(&mut self, text: String) {
        if let Some(live) = &self.live
            && !self.leaving
        {
            live.editor.begin_line(text);
        }
    }

    /// Ctrl-C: cancels the running turn; twice, or with nothing running twice, leaves.
    async fn interrupt(&mut self, signals: &mut Signals) -> Result<(), Failure> {
        let now = Instant::now();
        let again = self.interrupted_at.is_some_and(|before| now - before < TWICE);
        self.interrupted_at = Some(now);
        let works = self.works();
        if again && !self.scripted {
            self.leave_at_once();
        } else if works || self.scripted {
            match signals.unless(self.cancel_turn()).await {
                Ok(cancelled) => cancelled?,
                // The second one.
                Err(_stop) => self.leave_at_once(),
            }
            if self.scripted {
                self.leave_at_once();
            }
        } else {
            self.view.aside(Tone::Dim, "Ctrl-C again leaves, and so does Ctrl-D");
        }
        Ok(())
    }

    /// A turn runs, or a message of ours is about to get one: a model may be looked for.
    fn works(&self) -> bool {
        self.view.transcript.open_turn().is_some() || !self.pending.is_empty()
    }

    fn leave_at_once(&mut self) {
        self.exit = Exit::CtrlC;
        self.leaving = true;
    }

    /// A signal came while a line was being done.
    fn given_up(&mut self, stop: Stop) {
        self.view.aside(Tone::Warn, "given up; it may have reached the daemon all the same");
        if stop != Stop::Interrupt || self.scripted {
            self.leave_at_once();
        }
    }

    /// Remembers that a line of a script went wrong; the script goes on.
    pub(super) fn script_failed(&mut self, exit: Exit) {
        if self.scripted {
            self.exit = exit;
        }
    }

    fn on_attach(&mut self, event: AttachEvent) -> Result<(), Failure> {
        match &event {
            AttachEvent::Attached(attached) => self.view.attached(attached),
            AttachEvent::Event(event) => self.on_event(event),
            AttachEvent::Lost { .. } => self.is_cut_off = true,
            AttachEvent::CaughtUp { .. } => self.is_cut_off = false,
            _ => {}
        }
        if let Some(cursor) = &mut self.cursor {
            cursor.on(&event, self.view.transcript.last_seq());
        }
        match event {
            AttachEvent::Attached(_)
            | AttachEvent::Event(_)
            | AttachEvent::CaughtUp { .. }
            | AttachEvent::Lagged { .. } => {}
            AttachEvent::Lost { error }
                if error.is_stopping() && self.app.connector().may_start() =>
            {
                let text = "the daemon was stopped; waiting for it to come back \
                            (a message starts it)";
                self.view.aside(Tone::Warn, text);
            }
            AttachEvent::Lost { error } => self.view.aside(Tone::Warn, &error.loss()),
            AttachEvent::Restored => self.view.aside(Tone::Dim, "connected again"),
            AttachEvent::Failed(error) => {
                let what = format!("cannot follow session {}", ids::short(&self.session_id));
                return Err(rpc_failure(&what, error));
            }
        }
        Ok(())
    }

    fn on_event(&mut self, event: &v1::Event) {
        if let Some(yes) = &mut self.yes {
            let mut ours = self.pending.iter().chain(&self.asked);
            yes.asked(ours.find_map(|follow| follow.asks(event)));
        }
        self.follow(event);
        self.view.event(event);
        self.vocabulary_is_stale |= event.seq > 0;
        if self.view.transcript.needs_resync() {
            self.resync();
        }
    }

    /// Attaches again for a piece of live text that is missing.
    fn resync(&mut self) {
        let now = Instant::now();
        if self.resynced_at.is_some_and(|before| now - before < RESYNC_PAUSE) {
            return;
        }
        self.resynced_at = Some(now);
        let position = AttachPosition::FromSeq(self.view.transcript.last_seq() + 1);
        self.stream = self.app.attach(&self.client, &self.session_id, position);
    }

    /// Leaves the session behind: all that is on the screen has been read.
    async fn keep_place(&mut self) {
        if let Some(cursor) = self.cursor.take() {
            cursor.leave(self.view.transcript.last_seq()).await;
        }
    }

    /// Goes to another session.
    pub(super) async fn switch_to(&mut self, chosen: &Chosen) {
        self.view.end_stream();
        let position = position(self.app, &self.client, chosen, self.scripted).await;
        let seen = self.view.transcript.last_seq();
        let cursor = read_cursor(self.app, &self.client, &chosen.session_id, self.scripted);
        let left = std::mem::replace(&mut self.cursor, cursor);
        self.stream = self.app.attach(&self.client, &chosen.session_id, position);
        self.session_id.clone_from(&chosen.session_id);
        self.vocabulary_is_stale = true;
        self.view.switch();
        self.pending.clear();
        self.asked.clear();
        self.is_cut_off = false;
        self.held.clear();
        self.yes = self.yes.take().map(|_| Yes::default());
        // At the end: who does not wait for it is there all the same.
        if let Some(left) = left {
            left.leave(seen).await;
        }
    }

    fn refresh_vocabulary(&mut self) {
        if !std::mem::take(&mut self.vocabulary_is_stale) {
            return;
        }
        let transcript = &self.view.transcript;
        let queue = transcript
            .queue()
            .map(|message| (message.item_id.clone(), message.text.chars().take(60).collect()));
        let choices = transcript.open_questions().next().map(|question| question.choices.clone());
        self.sources.with(|Known { session_id, vocabulary }| {
            session_id.clone_from(&self.session_id);
            vocabulary.queue = queue.collect();
            vocabulary.choices = choices.unwrap_or_default();
        });
    }
}

/// Where to begin. A script is answered what it asks, and nothing of what was said before.
async fn position(app: &App, client: &Client, chosen: &Chosen, scripted: bool) -> AttachPosition {
    if scripted && !chosen.is_new {
        return AttachPosition::OnlyNew;
    }
    first_position(client, &app.identity().client_id, chosen).await
}

fn read_cursor(app: &App, client: &Client, session_id: &str, scripted: bool) -> Option<ReadCursor> {
    (!scripted).then(|| ReadCursor::new(client, session_id, &app.identity().client_id))
}

async fn next_line(pipe: Option<&mut PipeLines>) -> Input {
    match pipe {
        Some(pipe) => pipe.next().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(moment: Option<Instant>) {
    if let Some(moment) = moment {
        tokio::time::sleep_until(moment).await;
    }
}
