//! `agentctl tail`: the newest events of a session, one a line, and those that follow.

use agentd_proto::v1;
use agentd_shared::format::trace;
use agentd_shared::{AttachEvent, AttachPosition, Client, ids};
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::exit::{Exit, Failure};
use crate::json::EventView;
use crate::signals::Signals;

/// Options of `tail`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TailArgs {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) session: String,
    /// Newest events to print first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) lines: u64,
    /// Go on with what comes later
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Columns of a line where there is no terminal.
const USUAL_WIDTH: usize = 200;

/// Prints the newest events, and follows if asked to.
pub(super) async fn run(args: &TailArgs, app: &App) -> Result<Exit, Failure> {
    let client = app.client().await?;
    let session_id = ids::resolve(&client, &args.session).await?;
    let request = v1::GetSessionRequest { session_id: session_id.clone() };
    let found = client.session().get_session(request).await;
    let found = found.map_err(|status| rpc_failure("cannot show the session", status))?;
    let head = found.into_inner().session.map_or(0, |session| session.last_seq);
    let from = head.saturating_sub(args.lines) + 1;
    let tail = Tail { app, json: args.json };
    if args.follow {
        tail.follow(&client, &session_id, from).await
    } else {
        tail.pages(&client, session_id, (from, head)).await
    }
}

struct Tail<'a> {
    app: &'a App,
    json: bool,
}

impl Tail<'_> {
    /// Prints what there is in the log of these positions.
    async fn pages(
        &self,
        client: &Client,
        session_id: String,
        (mut from, until): (u64, u64),
    ) -> Result<Exit, Failure> {
        while from != 0 && from <= until {
            let request = v1::ListEventsRequest {
                session_id: session_id.clone(),
                from_seq: from,
                page_size: 0,
            };
            let page = client.event().list_events(request).await;
            let page = page.map_err(|status| rpc_failure("cannot read the session", status))?;
            let v1::ListEventsResponse { events, next_seq } = page.into_inner();
            for event in events.iter().filter(|event| event.seq <= until) {
                self.print(event)?;
            }
            from = next_seq;
        }
        Ok(Exit::Ok)
    }

    async fn follow(&self, client: &Client, session_id: &str, from: u64) -> Result<Exit, Failure> {
        let mut signals = Signals::new().map_err(|error| {
            Failure::new(Exit::Failed, "cannot listen for signals").because(error)
        })?;
        let mut stream = self.app.attach(client, session_id, AttachPosition::FromSeq(from));
        loop {
            let Ok(next) = signals.unless(stream.next()).await else { return Ok(Exit::CtrlC) };
            match next {
                // Text that is being written and who comes and goes are no events of the log.
                Some(AttachEvent::Event(event)) if event.seq > 0 => self.print(&event)?,
                Some(AttachEvent::Lost { error }) => self.app.output.note(&error.loss()),
                Some(AttachEvent::Restored) => self.app.output.note("connected again"),
                Some(AttachEvent::Failed(error)) => {
                    return Err(rpc_failure("cannot follow the session", error));
                }
                Some(
                    AttachEvent::Event(_)
                    | AttachEvent::Attached(_)
                    | AttachEvent::CaughtUp { .. }
                    | AttachEvent::Lagged { .. },
                ) => {}
                None => return Err(Failure::new(Exit::Failed, "the stream has ended")),
            }
        }
    }

    fn print(&self, event: &v1::Event) -> Result<(), Failure> {
        let output = &self.app.output;
        if self.json {
            return match EventView::new(event) {
                Some(view) => output.json_line(&view),
                None => Ok(()),
            };
        }
        let width = if output.is_terminal() { Size::detect().text_width() } else { USUAL_WIDTH };
        output.line(&line(event, width))
    }
}

/// When it was, its number, its kind, and the little of it that fits.
fn line(event: &v1::Event, width: usize) -> String {
    let at = match Timestamp::from_millisecond(event.at_ms) {
        Ok(at) => at.to_zoned_datetime(TimeZone::system()).strftime("%m-%d %H:%M:%S").to_string(),
        Err(_out_of_range) => event.at_ms.to_string(),
    };
    let event = trace::line(event, width.saturating_sub(at.width() + 1));
    format!("{at} {event}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_inert_and_fits() {
        let message = v1::MessageAccepted {
            text: "\u{1b}[2J世界 ".repeat(50),
            ..v1::MessageAccepted::default()
        };
        let body = Some(v1::event::Body::MessageAccepted(message));
        let event = v1::Event { seq: 7, at_ms: 1_700_000_000_000, body, ..v1::Event::default() };
        for width in [60, 80, 200] {
            let line = line(&event, width);
            assert!(line.width() <= width && !line.contains('\u{1b}'), "{width}: {line}");
            assert!(line.contains("7  message_accepted"), "{line}");
        }
    }
}
