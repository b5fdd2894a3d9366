//! `agentctl send`: one message, its answer on stdout, and an exit code.

mod answer;
mod choices;

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::format::{Row, card, notes};
use agentd_shared::transcript::TextChannel;
use agentd_shared::{
    AttachEvent, AttachPosition, Change, Client, Follow, Outcome, Outgoing, Transcript,
    WhichSession, Wishes, submit::waits, which, with_deadline,
};
use clap::Args;
use tokio::io::AsyncReadExt as _;

use crate::app::{App, rpc_failure};
use crate::chat::terminal::Size;
use crate::command::approvals;
use crate::exit::{Exit, Failure};
use crate::json::EventView;
use crate::signals::{Signals, Stop};

use answer::Answer;
use choices::{DeliveryChoice, PriorityChoice};

/// Options of `send`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SendArgs {
    /// The message; several words are joined by spaces
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Which session.
    #[command(flatten)]
    pub(crate) which: WhichSession,
    /// Model and effort.
    #[command(flatten)]
    pub(crate) wishes: Wishes,
    /// What to do when a turn is running
    #[arg(long, value_enum, default_value_t)]
    pub(crate) delivery: DeliveryChoice,
    /// How important the message is: among those that wait, the more important run first
    #[arg(long, value_enum, default_value_t)]
    pub(crate) priority: PriorityChoice,
    /// When it is too late to begin, such as 90s or 1h30m; without it the daemon decides
    #[arg(long, value_name = "DURATION", value_parser = agentd_shared::input::duration::parse)]
    pub(crate) ttl: Option<Duration>,
    /// Let everything run that the turns of its own messages ask for; those of others are left to them
    #[arg(long, conflicts_with = "no_wait")]
    pub(crate) yes: bool,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
    /// Return when the message is stored; do not wait for the answer
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// Longest message that is read from stdin, in bytes; the daemon takes as much.
const MAX_MESSAGE_BYTES: u64 = 1024 * 1024;
/// Longest wait for the daemon to take an interrupt when we leave by Ctrl-C.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(5);

/// Sends a message and prints the answer.
pub(super) async fn run(args: &SendArgs, app: &App) -> Result<Exit, Failure> {
    let text = message(args).await?;
    // Before a session is made for it.
    if text.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "there is no message")
            .because("neither the arguments nor stdin hold more than blanks")
            .hint("agentctl send \"your question\""));
    }
    let client = app.client().await?;
    let chosen = which::choose(&client, app.author(), &args.which, &args.wishes).await?;
    if chosen.is_new && !args.json {
        app.output.dim_note(&format!("session {}", chosen.session_id));
    }
    if args.json && !args.no_wait {
        let kind = "session";
        app.output.json_line(&Opening { kind, session_id: &chosen.session_id })?;
    }
    let mut signals = Signals::new()
        .map_err(|error| Failure::new(Exit::Failed, "cannot listen for signals").because(error))?;
    let mut outgoing = Outgoing::new(app.author(), &chosen.session_id, &text, args.delivery.into())
        .ranked(args.priority.into(), args.ttl);
    if app.is_unattended() && !args.yes {
        outgoing = outgoing.unattended();
    }
    let Ok(sent) = signals.unless(outgoing.send(app.connector(), &client)).await else {
        app.output.note("given up; the message may have reached the daemon all the same");
        return Ok(Exit::CtrlC);
    };
    let accepted = sent.map_err(|error| rpc_failure("cannot send the message", error))?;
    if let Some(waits) = waits(args.delivery.into(), accepted.queue_position)
        && !args.json
    {
        app.output.dim_note(&waits);
    }
    if args.no_wait {
        if args.json {
            app.output.json_line(&Accepted {
                session_id: &chosen.session_id,
                item_id: &accepted.item_id,
                seq: accepted.seq,
                queue_position: accepted.queue_position,
            })?;
        }
        return Ok(Exit::Ok);
    }
    let mut wait = Wait {
        app,
        client: &client,
        session_id: &chosen.session_id,
        item_id: &accepted.item_id,
        follow: Follow::new(accepted.item_id.clone()),
        yes: args.yes,
        printer: if args.json { Printer::Json } else { Printer::Plain(Box::default()) },
    };
    wait.run(accepted.seq, &mut signals).await
}

/// The message: arguments, else stdin. Stdin is not touched when there is an argument: whoever
/// started us may keep it open for ever.
async fn message(args: &SendArgs) -> Result<String, Failure> {
    if !args.text.is_empty() && args.text != ["-"] {
        return Ok(args.text.join(" "));
    }
    let mut bytes = Vec::new();
    let read = tokio::io::stdin().take(MAX_MESSAGE_BYTES + 1).read_to_end(&mut bytes).await;
    read.map_err(|error| Failure::new(Exit::Failed, "cannot read stdin").because(error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_MESSAGE_BYTES {
        return Err(Failure::new(Exit::Usage, "the message is too long")
            .because("stdin holds more than 1 MiB")
            .hint("name the file in the message and let the agent read it"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line of `--json`, before the events.
#[derive(Debug, serde::Serialize)]
struct Opening<'a> {
    kind: &'static str,
    session_id: &'a str,
}

/// What `--no-wait --json` prints.
#[derive(Debug, serde::Serialize)]
struct Accepted<'a> {
    session_id: &'a str,
    item_id: &'a str,
    seq: u64,
    queue_position: u32,
}

enum Printer {
    Json,
    Plain(Box<Answer>),
}

struct Wait<'a> {
    app: &'a App,
    client: &'a Client,
    session_id: &'a str,
    item_id: &'a str,
    follow: Follow,
    /// What the turn asks is answered with yes.
    yes: bool,
    printer: Printer,
}

impl Wait<'_> {
    async fn run(&mut self, from_seq: u64, signals: &mut Signals) -> Result<Exit, Failure> {
        let position = AttachPosition::FromSeq(from_seq);
        let mut stream = self.app.attach(self.client, self.session_id, position);
        let mut transcript = Transcript::default();
        let mut is_caught_up = false;
        loop {
            if is_caught_up && let Some(outcome) = self.follow.blocked() {
                return self.end(&outcome);
            }
            let next = match signals.unless(stream.next()).await {
                Ok(next) => next,
                Err(stop) => {
                    self.end_line()?;
                    // A terminal that goes away takes no turn with it.
                    if stop != Stop::Hangup {
                        // Whoever asks twice does not want to wait for the daemon.
                        let _ = signals.unless(self.call_off()).await;
                    }
                    return Ok(Exit::CtrlC);
                }
            };
            match next {
                Some(AttachEvent::Event(event)) => {
                    let known = event.seq > 0 && event.seq <= transcript.last_seq();
                    let change = transcript.apply(&event);
                    if known || (event.seq == 0 && change == Change::Nothing) {
                        continue;
                    }
                    let outcome = self.follow.on(&event);
                    self.print(&event, &change, &transcript)?;
                    self.say_yes(&event).await;
                    if let Some(outcome) = outcome {
                        return self.end(&outcome);
                    }
                }
                // A script must not wait for somebody who may never come.
                Some(AttachEvent::Lost { error }) if error.is_stopping() => {
                    self.end_line()?;
                    return Err(Failure::new(Exit::Unreachable, "the daemon was stopped")
                        .because("the turn goes on, or asks, when it runs again")
                        .hint(format!("agentctl attach {}", self.session_id)));
                }
                Some(AttachEvent::Lost { error }) => self.app.output.note(&error.loss()),
                Some(AttachEvent::Restored) => self.app.output.note("connected again"),
                Some(AttachEvent::Failed(error)) => {
                    return Err(rpc_failure("cannot follow the session", error));
                }
                Some(AttachEvent::CaughtUp { .. }) => is_caught_up = true,
                Some(AttachEvent::Attached(_) | AttachEvent::Lagged { .. }) => is_caught_up = false,
                None => return Err(Failure::new(Exit::Failed, "the stream has ended")),
            }
        }
    }

    /// Lets the call run that the turn asks for. One that somebody else has answered meanwhile is
    /// nothing to stop for.
    async fn say_yes(&self, event: &v1::Event) {
        let Some(asked) = self.follow.asks(event).filter(|_| self.yes) else { return };
        let author = self.app.author();
        let sent = approvals::send(
            self.client,
            author,
            self.session_id,
            &asked.approval_id,
            approvals::Answer::YES,
        );
        if let Err(failure) = sent.await {
            self.app.output.failure(&failure);
        }
    }

    fn print(
        &mut self,
        event: &v1::Event,
        change: &Change,
        transcript: &Transcript,
    ) -> Result<(), Failure> {
        let output = &self.app.output;
        let Printer::Plain(answer) = &mut self.printer else {
            return match EventView::new(event) {
                Some(view) => output.json_line(&view),
                None => Ok(()),
            };
        };
        // Pieces of live text may come without a turn; they belong to the one that is open.
        let open = transcript.open_turn().map(|turn| turn.turn_id.as_str());
        let is_ours = self.follow.concerns(event)
            || (event.seq == 0 && open.is_some() && open == self.follow.turn_id());
        if !is_ours {
            return Ok(());
        }
        if let Some(Body::AssistantMessage(message)) = &event.body {
            return output.raw(&output.clean(&answer.complete(&message.item_id, &message.text)));
        }
        if let Change::LiveText { item_id, channel: TextChannel::Text, .. } = change {
            let text = transcript.assistant(item_id).map_or("", |item| item.text.as_str());
            return output.raw(&output.clean(&answer.grow(item_id, text)));
        }
        if let Some(rows) = call_rows(event, transcript) {
            output.raw(answer.end_line())?;
            for row in &rows {
                output.dim_note(row);
            }
            return Ok(());
        }
        if let Some(line) = notes::event(event, &self.app.identity().client_id) {
            output.raw(answer.end_line())?;
            output.dim_note(&line.text);
        }
        Ok(())
    }

    fn end(&mut self, outcome: &Outcome) -> Result<Exit, Failure> {
        self.end_line()?;
        self.tell(outcome);
        Ok(outcome.into())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        match &mut self.printer {
            Printer::Json => Ok(()),
            Printer::Plain(answer) => self.app.output.raw(answer.end_line()),
        }
    }

    fn tell(&self, outcome: &Outcome) {
        let output = &self.app.output;
        match outcome {
            Outcome::Completed(completed) => match completed.end() {
                v1::TurnEnd::OutputLimit => {
                    output.note("note: the model's output limit cut the answer");
                }
                v1::TurnEnd::Refused => output.note("the provider refused to answer"),
                v1::TurnEnd::RoundsLimit => output.note("note: the limit of rounds ended the turn"),
                v1::TurnEnd::Unspecified | v1::TurnEnd::Answered => {}
            },
            Outcome::Failed(error) => output.failure(
                &Failure::new(Exit::Failed, "the turn failed")
                    .because(&error.message)
                    .hint(error.hint.clone()),
            ),
            Outcome::Interrupted(by) => {
                let by = by.as_ref().map_or(String::new(), |author| format!(" by {}", author.name));
                output.note(&format!("the turn was interrupted{by}"));
            }
            Outcome::Asked(asked) => output.failure(
                &Failure::new(Exit::Waiting, "the turn waits for an answer")
                    .because(format!("{} [{}]", asked.prompt, asked.choices.join(" | ")))
                    .hint(format!("agentctl chat --session {}", self.session_id)),
            ),
            Outcome::Blocked(asked) => output.failure(
                &Failure::new(Exit::Waiting, "the message is queued behind a turn that asks")
                    .because(format!("{} [{}]", asked.prompt, asked.choices.join(" | ")))
                    .hint(format!(
                        "answer with `agentctl chat --session {}`; the message stays queued",
                        self.session_id
                    )),
            ),
            Outcome::Expired => output.failure(
                &Failure::new(Exit::Failed, "the message expired before a turn had it")
                    .hint("send it again, with a longer --ttl or a higher --priority"),
            ),
            Outcome::Withdrawn(by) => {
                let by = by.as_ref().map_or(String::new(), |author| format!(" by {}", author.name));
                output.note(&format!("the message was taken back{by}"));
            }
        }
    }

    /// Cancels the turn, or takes the message back when no turn has it yet.
    async fn call_off(&self) {
        let author = Some(self.app.author());
        let session_id = self.session_id.to_owned();
        let mut turn = self.client.turn();
        // We leave whatever the daemon says; the turn is named, so that no other is hit.
        if let Some(turn_id) = self.follow.turn_id() {
            let turn_id = turn_id.to_owned();
            let request = v1::InterruptTurnRequest { session_id, turn_id, author };
            drop(turn.interrupt_turn(with_deadline(request, INTERRUPT_PATIENCE)).await);
        } else {
            let item_id = self.item_id.to_owned();
            let request = v1::WithdrawMessageRequest { session_id, item_id, author };
            drop(turn.withdraw_message(with_deadline(request, INTERRUPT_PATIENCE)).await);
        }
    }
}

/// What an event tells of a call, in rows. Nothing can be drawn anew here: only a call that may take
/// long is told twice.
fn call_rows(event: &v1::Event, transcript: &Transcript) -> Option<Vec<String>> {
    let width = Size::detect().text_width();
    match event.body.as_ref()? {
        Body::ToolCallStarted(started) if started.effect() == v1::ToolEffect::Process => {
            Some(vec![card::started(transcript.tool_call(&started.call_id)?, width).text()])
        }
        Body::ToolCallFinished(finished) => {
            let rows = card::finished(transcript.tool_call(&finished.call_id)?, width);
            Some(rows.iter().map(Row::text).collect())
        }
        _ => None,
    }
}
