//! `agentctl watch`: all sessions, as they change.

mod frame;
mod lines;

use std::time::Duration;

use agentd_shared::{BoardChange, SessionBoard, SessionWatchStream, WatchEvent};
use clap::Args;
use tokio::time::sleep;

use self::frame::Frame;
use self::lines::Lines;
use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::WatchView;
use crate::signals::Signals;

/// Options of `watch`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WatchArgs {
    /// Most sessions to show first, of those used last; others are shown when they change
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(crate) limit: u32,
    /// Show how it is now and end
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON Lines: a snapshot, then each change
    #[arg(long)]
    pub(crate) json: bool,
}

/// Events that are shown together.
const BATCH: usize = 256;
/// How often ages are brought up to date.
const AGING: Duration = Duration::from_secs(5);

/// How the overview leaves us.
enum Form {
    /// Redrawn in place.
    Frame(Frame),
    /// A line for each change that can be seen.
    Lines(Lines),
    /// JSON Lines.
    Json,
}

/// Shows all sessions until Ctrl-C, or once.
pub(super) async fn run(args: &WatchArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let mut signals = Signals::new()
        .map_err(|error| Failure::new(Exit::Failed, "cannot listen for signals").because(error))?;
    let mut stream = app.watch(&client, args.limit);
    let form = match (args.json, app.output.can_draw() && !args.once) {
        (true, _) => Form::Json,
        (false, true) => Form::Frame(Frame::default()),
        (false, false) => Form::Lines(Lines::default()),
    };
    let mut overview = Overview { app, board: SessionBoard::default(), form };
    loop {
        let next = tokio::select! {
            _stop = signals.next() => {
                overview.leave()?;
                return Ok(Exit::CtrlC);
            }
            next = stream.next() => match next {
                Some(next) => Some(next),
                None => return Err(Failure::new(Exit::Failed, "the stream has ended")),
            },
            () = sleep(AGING), if overview.ages() => None,
        };
        overview.take(next, &mut stream)?;
        if args.once && overview.board.is_filled() {
            return Ok(Exit::Ok);
        }
    }
}

struct Overview<'a> {
    app: &'a App,
    board: SessionBoard,
    form: Form,
}

impl Overview<'_> {
    /// Takes an event in, and those that wait behind it.
    fn take(
        &mut self,
        mut next: Option<WatchEvent>,
        stream: &mut SessionWatchStream,
    ) -> Result<(), Failure> {
        for _ in 0..BATCH {
            let Some(event) = next else { break };
            self.on(event)?;
            next = stream.try_next();
        }
        match &mut self.form {
            Form::Frame(frame) => frame.draw(&self.board, &self.app.output),
            Form::Lines(_) | Form::Json => Ok(()),
        }
    }

    fn on(&mut self, event: WatchEvent) -> Result<(), Failure> {
        let change = self.board.apply(&event);
        match event {
            WatchEvent::Failed(error) => {
                self.leave()?;
                return Err(rpc_failure("cannot watch the sessions", error));
            }
            WatchEvent::Lost { error } => self.tell(Some(error.loss())),
            WatchEvent::Restored => self.tell(None),
            WatchEvent::Snapshot(_) | WatchEvent::Changed(_) | WatchEvent::Deleted { .. } => {}
        }
        if change == BoardChange::Nothing {
            return Ok(());
        }
        let output = &self.app.output;
        match &mut self.form {
            // It is drawn when all that has come is taken in.
            Form::Frame(_) => Ok(()),
            Form::Lines(lines) => lines.on(&change, &self.board, output),
            Form::Json => output.json_line(&WatchView::new(&change, &self.board)),
        }
    }

    /// Says that the connection is lost and why, or that it is back.
    fn tell(&mut self, trouble: Option<String>) {
        match &mut self.form {
            Form::Frame(frame) => frame.trouble = trouble,
            Form::Lines(_) | Form::Json => {
                self.app.output.note(trouble.as_deref().unwrap_or("connected again"));
            }
        }
    }

    fn ages(&self) -> bool {
        matches!(self.form, Form::Frame(_)) && self.board.is_filled()
    }

    /// Leaves the screen with the last that was shown.
    fn leave(&mut self) -> Result<(), Failure> {
        match &mut self.form {
            Form::Frame(frame) => frame.draw(&self.board, &self.app.output),
            Form::Lines(_) | Form::Json => Ok(()),
        }
    }
}
