//! What the daemon brings.

use agentd_proto::v1;
use agentd_shared::transcript::TurnState;
use agentd_shared::{AttachEvent, AttachPosition, Change, Transcript, WatchEvent};

use super::open_session::Next;
use super::{Effect, State, Tone};
use crate::conn::{Command, Reply, Report, StreamId};

/// A turn that takes longer is left alone by whoever waits for it.
const LONG_TURN_MS: i64 = 10_000;

impl State {
    pub(super) fn on_report(&mut self, report: Report) -> Vec<Effect> {
        match report {
            Report::Stream { stream, event: Some(event) } => self.on_stream(stream, &event),
            // The event before told why.
            Report::Stream { event: None, .. } => Vec::new(),
            Report::Reply(reply) => self.on_reply(reply),
            Report::Watch(event) => self.on_watch(&event),
        }
    }

    fn on_stream(&mut self, stream: StreamId, event: &AttachEvent) -> Vec<Effect> {
        let Some(open) = &mut self.open else { return vec![Effect::Detach(stream)] };
        let mut effects = Vec::new();
        let rings = self.settings.bell && !self.has_focus;
        let (mut is_over, mut is_news) = (false, false);
        let mut changed = |transcript: &Transcript, event: &v1::Event, change: &Change| {
            if let Some(what) = calls_somebody(transcript, event, change).filter(|_| rings) {
                effects.push(Effect::Notify(told(transcript, what)));
            }
            let ended =
                |turn_id: &str| transcript.turn(turn_id).is_some_and(|turn| turn.state.is_over());
            is_over |= matches!(change, Change::Turn { turn_id } if ended(turn_id));
            is_news |= is_over || matches!(change, Change::Note);
        };
        match open.on_stream(stream, event, &mut changed) {
            Next::Nothing => {}
            Next::Drop(stream) => effects.push(Effect::Detach(stream)),
            Next::Resync => {
                let position = AttachPosition::FromSeq(open.transcript.last_seq() + 1);
                let session_id = open.session_id.clone();
                // In place of the one before: its number stays.
                effects.push(Effect::Attach { stream, session_id, position });
            }
        }
        match event {
            AttachEvent::Lost { error } => self.notices.say(Tone::Warn, &error.loss()),
            AttachEvent::Restored => self.notices.say(Tone::Info, "connected again"),
            AttachEvent::Failed(error) => self.notices.refused("follow the session", error),
            _ => {}
        }
        let is_there = matches!(event, AttachEvent::CaughtUp { .. });
        if is_there || is_over {
            effects.extend(self.ask_about_session());
        }
        if is_there || is_news {
            effects.extend(self.note_read());
        }
        if is_there {
            effects.extend(self.go_to_wanted_place());
        }
        effects
    }

    fn on_watch(&mut self, event: &WatchEvent) -> Vec<Effect> {
        self.sessions.on_watch(event);
        match event {
            // A daemon of an older release: the list is as it was at the start.
            WatchEvent::Failed(error) => {
                self.notices.refused("follow all sessions", error);
                vec![Effect::Send(Command::ListSessions(v1::ListSessionsRequest::default()))]
            }
            // It may be another daemon, with another configuration.
            WatchEvent::Restored => vec![Effect::Send(Command::GetStatus)],
            _ => Vec::new(),
        }
    }

    fn on_reply(&mut self, reply: Reply) -> Vec<Effect> {
        match reply {
            Reply::Done | Reply::Submitted(_) | Reply::Interrupted(true) | Reply::Models(_) => {}
            Reply::Interrupted(false) => self.notices.say(Tone::Info, "no turn runs"),
            Reply::Created(session) => {
                let session_id = session.session_id.clone();
                self.sessions.update(*session);
                return self.open_session(&session_id);
            }
            Reply::Deleted { session_id } => {
                self.sessions.remove(&session_id);
                if self.open.as_ref().is_some_and(|open| open.session_id == session_id) {
                    return vec![Effect::Send(Command::CreateSession(self.new_session()))];
                }
            }
            Reply::Sessions(sessions) => self.sessions.set(sessions),
            Reply::Session(found) => {
                let v1::GetSessionResponse { session, todo, plan, .. } = *found;
                if let Some(session) = session {
                    let open = self.open.as_ref().map(|open| open.session_id.as_str());
                    if open == Some(session.session_id.as_str()) {
                        self.facts.todo = todo;
                        self.facts.plan = plan;
                    }
                    self.sessions.update(session);
                }
            }
            Reply::Status(status) => self.status = Some(*status),
            Reply::Context { session_id, context } => {
                if self.open.as_ref().is_some_and(|open| open.session_id == session_id) {
                    self.facts.context = Some(*context);
                }
            }
            Reply::Tools(ref tools) => {
                self.facts.tools = Some(tools.len());
                return self.on_pane_reply(&reply);
            }
            Reply::MemoryStats(ref stats) => {
                let holds = |count: &&v1::MemoryCount| count.status() == v1::MemoryStatus::Active;
                let counts = stats.counts.iter().filter(holds);
                self.facts.memories = Some(counts.map(|count| count.count).sum());
                return self.on_pane_reply(&reply);
            }
            Reply::Memories(_)
            | Reply::Memory(_)
            | Reply::MemoryChanged
            | Reply::MemoryUndone(_)
            | Reply::Swept { .. }
            | Reply::Consolidated(_)
            | Reply::Usage(_)
            | Reply::Found { .. } => return self.on_pane_reply(&reply),
            // How full the window is, and how far somebody has read, is by the way.
            Reply::Failed { command, .. }
                if matches!(*command, Command::GetContext(_) | Command::SetReadCursor(_)) => {}
            Reply::Failed { command, error } => {
                if let Some(pane) = &mut self.pane {
                    pane.on_failed(&command, &error);
                }
                // What was written must not be lost with it.
                if let Command::Submit(request) = command.as_ref()
                    && self.composer.is_empty()
                {
                    self.composer.set(&request.text);
                }
                self.notices.refused(command.purpose(), &error);
            }
        }
        Vec::new()
    }
}

/// What somebody who is away is called for, if a change is worth it.
fn calls_somebody(
    transcript: &Transcript,
    event: &v1::Event,
    change: &Change,
) -> Option<&'static str> {
    match change {
        Change::Turn { turn_id } => {
            let turn = transcript.turn(turn_id)?;
            let is_long = event.at_ms.saturating_sub(turn.started_at_ms) > LONG_TURN_MS;
            match turn.state {
                TurnState::Completed { .. } if is_long => Some("done"),
                TurnState::Failed { .. } if is_long => Some("failed"),
                _ => None,
            }
        }
        Change::Question { question_id } => {
            let question = transcript.question(question_id)?;
            question.answer.is_none().then_some("asks a question")
        }
        Change::Approval { .. } => {
            let is_new = matches!(event.body, Some(v1::event::Body::ApprovalRequested(_)));
            is_new.then_some("asks whether a call may run")
        }
        _ => None,
    }
}

fn told(transcript: &Transcript, what: &str) -> String {
    let title = transcript.title();
    if title.is_empty() { what.to_owned() } else { format!("{title}: {what}") }
}
