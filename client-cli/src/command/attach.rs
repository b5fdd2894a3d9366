//! `agentctl attach`: watches a session.

use agentd_proto::v1;
use agentd_shared::format::Tone;
use agentd_shared::format::card;
use agentd_shared::{
    AttachEvent, AttachPosition, AttachStream, Change, ReadCursor, Transcript, ids,
};
use clap::Args;
use tokio::time::sleep;

use crate::app::{App, rpc_failure};
use crate::chat::canvas::{Canvas, Mode};
use crate::chat::terminal::Size;
use crate::chat::view::View;
use crate::exit::{Exit, Failure};
use crate::json::EventView;
use crate::look::Look;
use crate::signals::Signals;

/// Options of `attach`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AttachArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// First event to show; without it: what this terminal has not seen
    #[arg(long, value_name = "SEQ")]
    pub(crate) from: Option<u64>,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Events that are drawn together; Ctrl-C is looked for in between.
const BATCH: usize = 256;

/// Follows a session until Ctrl-C.
pub(super) async fn run(args: &AttachArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let position = args.from.map_or(AttachPosition::ReadCursor, AttachPosition::FromSeq);
    let signals = Signals::new()
        .map_err(|error| Failure::new(Exit::Failed, "cannot listen for signals").because(error))?;
    let cursor =
        app.keeps_place().then(|| ReadCursor::new(&client, &session_id, &app.identity().client_id));
    let stream = app.attach(&client, &session_id, position);
    let transcript = Transcript::default();
    let mut watch = Watch { app, view: view(app), transcript, signals, cursor };
    let ended = if args.json { watch.json(stream).await } else { watch.rows(stream).await };
    if let Some(cursor) = watch.cursor.take() {
        let seen = watch.transcript.last_seq().max(watch.view.transcript.last_seq());
        // A second Ctrl-C does not wait for the daemon.
        let _ = watch.signals.unless(cursor.leave(seen)).await;
    }
    ended
}

fn view(app: &App) -> View {
    let mode = match (app.output.can_draw(), app.renders_markdown()) {
        (true, true) => Mode::Live,
        (false, true) => Mode::Append,
        (_, false) => Mode::Raw,
    };
    let look = Look { width: Size::detect().text_width(), colored: app.output.colored() };
    View::new(Canvas::new(mode, look), &app.identity().client_id, app.config().show_reasoning)
        .watching()
}

struct Watch<'a> {
    app: &'a App,
    view: View,
    transcript: Transcript,
    signals: Signals,
    cursor: Option<ReadCursor>,
}

impl Watch<'_> {
    async fn json(&mut self, mut stream: AttachStream) -> Result<Exit, Failure> {
        loop {
            let Some(next) = self.next(&mut stream).await? else { return Ok(Exit::CtrlC) };
            if let AttachEvent::Event(event) = &next {
                self.json_event(event)?;
            }
            if let Some(cursor) = &mut self.cursor {
                cursor.on(&next, self.transcript.last_seq());
            }
            match next {
                AttachEvent::Lost { error } => self.app.output.note(&error.loss()),
                AttachEvent::Restored => self.app.output.note("connected again"),
                AttachEvent::Failed(error) => {
                    return Err(rpc_failure("cannot follow the session", error));
                }
                AttachEvent::Event(_)
                | AttachEvent::Attached(_)
                | AttachEvent::CaughtUp { .. }
                | AttachEvent::Lagged { .. } => {}
            }
        }
    }

    fn json_event(&mut self, event: &v1::Event) -> Result<(), Failure> {
        let known = event.seq > 0 && event.seq <= self.transcript.last_seq();
        let change = self.transcript.apply(event);
        if known || (event.seq == 0 && change == Change::Nothing) {
            return Ok(());
        }
        match EventView::new(event) {
            Some(view) => self.app.output.json_line(&view),
            None => Ok(()),
        }
    }

    async fn rows(&mut self, mut stream: AttachStream) -> Result<Exit, Failure> {
        loop {
            let spin = self.view.spins().then_some(card::SPIN);
            let mut next = tokio::select! {
                next = self.next(&mut stream) => {
                    let Some(next) = next? else {
                        self.view.end_stream();
                        self.flush()?;
                        return Ok(Exit::CtrlC);
                    };
                    Some(next)
                }
                // Nothing happens, but that calls go on.
                () = sleep(spin.unwrap_or_default()), if spin.is_some() => None,
            };
            if next.is_none() {
                self.view.spin();
            }
            for _ in 0..BATCH {
                let Some(event) = next else { break };
                self.on(event)?;
                next = stream.try_next();
            }
            self.flush()?;
        }
    }

    fn on(&mut self, event: AttachEvent) -> Result<(), Failure> {
        match &event {
            AttachEvent::Attached(attached) => self.view.attached(attached),
            AttachEvent::Event(event) => self.view.event(event),
            _ => {}
        }
        if let Some(cursor) = &mut self.cursor {
            cursor.on(&event, self.view.transcript.last_seq());
        }
        match event {
            AttachEvent::Lost { error } => self.view.note(Tone::Warn, &error.loss()),
            AttachEvent::Restored => self.view.note(Tone::Dim, "connected again"),
            AttachEvent::Failed(error) => {
                self.flush()?;
                return Err(rpc_failure("cannot follow the session", error));
            }
            AttachEvent::Attached(_)
            | AttachEvent::Event(_)
            | AttachEvent::CaughtUp { .. }
            | AttachEvent::Lagged { .. } => {}
        }
        Ok(())
    }

    /// The next event; `None` at Ctrl-C or another signal.
    async fn next(&mut self, stream: &mut AttachStream) -> Result<Option<AttachEvent>, Failure> {
        match self.signals.unless(stream.next()).await {
            Ok(Some(event)) => Ok(Some(event)),
            Ok(None) => Err(Failure::new(Exit::Failed, "the stream has ended")),
            Err(_stop) => Ok(None),
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let output = &self.app.output;
        if self.view.canvas.mode() == Mode::Raw {
            let (raw, notes) = self.view.canvas.take_raw();
            if !raw.is_empty() {
                output.raw(&output.clean(&raw))?;
            }
            for note in notes {
                output.note(&note);
            }
            return Ok(());
        }
        let size = Size::detect();
        self.view.resize(size);
        self.view.draw_open();
        if self.view.canvas.is_due() {
            output.raw(&self.view.canvas.take_rows(size.reach()))?;
        }
        Ok(())
    }
}
