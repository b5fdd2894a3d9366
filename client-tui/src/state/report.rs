//! What the daemon brings.

use agentd_proto::v1;
use agentd_shared::{AttachEvent, AttachPosition, Change, Transcript};

use super::open_session::Next;
use super::{Effect, State, Tone};
use crate::conn::{Command, Reply, Report, StreamId};

impl State {
    pub(super) fn on_report(&mut self, report: Report) -> Vec<Effect> {
        match report {
            Report::Stream { stream, event: Some(event) } => self.on_stream(stream, &event),
            // The event before told why.
            Report::Stream { event: None, .. } => Vec::new(),
            Report::Reply(reply) => self.on_reply(reply),
        }
    }

    fn on_stream(&mut self, stream: StreamId, event: &AttachEvent) -> Vec<Effect> {
        let Some(open) = &mut self.open else { return vec![Effect::Detach(stream)] };
        let mut effects = Vec::new();
        let rings = self.settings.bell && !self.has_focus;
        let mut changed = |transcript: &Transcript, event: &v1::Event, change: &Change| {
            if rings && calls_somebody(transcript, event, change) {
                effects.push(Effect::Ring);
            }
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
            AttachEvent::Lost { error } => self.notices.say(Tone::Warn, &error.message),
            AttachEvent::Restored => self.notices.say(Tone::Info, "connected again"),
            AttachEvent::Failed(error) => self.notices.refused("follow the session", error),
            _ => {}
        }
        effects
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
            Reply::Deleted { session_id } => self.sessions.remove(&session_id),
            Reply::Sessions(sessions) => self.sessions.set(sessions),
            Reply::Session(found) => {
                if let Some(session) = found.session {
                    self.sessions.update(session);
                }
            }
            Reply::Status(status) => self.status = Some(*status),
            Reply::Failed { command, error } => {
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

/// Whether a change is worth calling somebody who is away.
fn calls_somebody(transcript: &Transcript, event: &v1::Event, change: &Change) -> bool {
    match change {
        Change::Turn { turn_id } => {
            transcript.turn(turn_id).is_some_and(|turn| turn.state.is_over())
        }
        Change::Question { question_id } => {
            transcript.question(question_id).is_some_and(|question| question.answer.is_none())
        }
        Change::Approval { .. } => {
            matches!(event.body, Some(v1::event::Body::ApprovalRequested(_)))
        }
        _ => false,
    }
}
