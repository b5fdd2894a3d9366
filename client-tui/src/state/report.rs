//! What the daemon brings.

use agentd_proto::v1;
use agentd_shared::input::completion::Source;
use agentd_shared::text::one_line;
use agentd_shared::transcript::TurnState;
use agentd_shared::{AttachEvent, AttachPosition, Change, Transcript, WatchEvent};

use super::open_session::Next;
use super::overlay::{Body, Held, Item, Overlay, Picks, Wanted};
use super::{Effect, State, Tone, replies};
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
        if let AttachEvent::Event(event) = event
            && let Some(v1::event::Body::ApprovalResolved(resolved)) = &event.body
        {
            self.asks.resolved(resolved, &self.author.client_id);
        }
        if let Some(open) = &self.open {
            if changes_asks(event) {
                self.asks.sync(&open.transcript, self.ticks);
            }
            if matches!(event, AttachEvent::CaughtUp { .. }) && stream == open.stream {
                effects.extend(self.give_held());
            }
        }
        match event {
            AttachEvent::Lost { error } => self.notices.lost(&error.loss()),
            AttachEvent::Restored => self.notices.restored(),
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
            effects.extend(self.go_on_to_top());
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
            Reply::Done | Reply::Submitted(_) | Reply::Interrupted(true) => {}
            Reply::Models(models) => {
                self.models = Some(models);
                self.fill_models();
                self.learned(Source::Models);
            }
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
                let wanted = [Wanted::Stats, Wanted::Todo, Wanted::Plan];
                self.fill(&wanted, |wants| {
                    Body::Lines(match wants {
                        Wanted::Todo => replies::todo(&found.todo.clone().unwrap_or_default()),
                        Wanted::Plan => replies::plan(&found.plan.clone().unwrap_or_default()),
                        _ => replies::stats(&found),
                    })
                });
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
            Reply::Status(status) => {
                self.fill(&[Wanted::Status], |_| Body::Lines(replies::status(&status)));
                self.status = Some(*status);
            }
            Reply::Context { session_id, context } => {
                let wanted = [Wanted::Context, Wanted::Pins, Wanted::Summary];
                self.fill(&wanted, |wants| {
                    Body::Lines(match wants {
                        Wanted::Pins => replies::pins(&context.pins),
                        Wanted::Summary => replies::summary(&context),
                        _ => replies::context(&context),
                    })
                });
                if self.open.as_ref().is_some_and(|open| open.session_id == session_id) {
                    self.facts.context = Some(*context);
                }
            }
            Reply::Tools(ref tools) => {
                self.facts.tools = Some(tools.len());
                self.fill(&[Wanted::Tools], |_| Body::Lines(replies::tools(tools)));
                let names = tools.iter().map(|it| (it.name.clone(), it.description.clone()));
                self.vocabulary.tools = names.collect();
                self.learned(Source::Tools);
                return self.on_pane_reply(&reply);
            }
            Reply::MemoryStats(ref stats) => {
                let holds = |count: &&v1::MemoryCount| count.status() == v1::MemoryStatus::Active;
                let counts = stats.counts.iter().filter(holds);
                self.facts.memories = Some(counts.map(|count| count.count).sum());
                return self.on_pane_reply(&reply);
            }
            Reply::Memories(ref found) => {
                self.fill(&[Wanted::Memories], |_| {
                    Body::Lines(replies::memories(&found.memories, found.total))
                });
                self.learn_memories(found);
                self.learned(Source::Memories);
                return self.on_pane_reply(&reply);
            }
            Reply::Usage(ref usage) => {
                self.fill(&[Wanted::Usage], |_| Body::Lines(replies::used(usage)));
                return self.on_pane_reply(&reply);
            }
            Reply::Found { ref found, .. } if self.waits_for_found() => self.found(found),
            Reply::Memory(_)
            | Reply::MemoryChanged
            | Reply::MemoryAdded(_)
            | Reply::MemoryUndone(_)
            | Reply::Swept { .. }
            | Reply::Consolidated(_)
            | Reply::Found { .. } => return self.on_pane_reply(&reply),
            // How full the window is, and how far somebody has read, is by the way.
            Reply::Failed { command, .. }
                if matches!(*command, Command::SetReadCursor(_))
                    || (matches!(*command, Command::GetContext(_)) && !self.waits_for_text()) => {}
            Reply::Tool(tool) => {
                self.fill(&[Wanted::Tools], |_| Body::Lines(replies::tool(&tool)));
            }
            Reply::Changes(changes) => {
                self.fill(&[Wanted::Changes], |_| Body::Changes(Box::new(changes)));
            }
            Reply::Undone(finished) => {
                let is_done = finished.status() == v1::ToolStatus::Success;
                let tone = if is_done { Tone::Info } else { Tone::Error };
                self.notices.say(tone, &finished.output);
            }
            Reply::Expanded(expanded) => {
                self.fill(&[Wanted::Expanded], |_| Body::Lines(replies::expanded(&expanded)));
            }
            Reply::Pins(pins) => {
                let text = format!("{} pinned; /pins shows what", pins.len());
                self.notices.say(Tone::Info, &text);
            }
            Reply::Events(events) => {
                self.fill(&[Wanted::Trace], |_| Body::Lines(replies::traced(&events)));
            }
            Reply::Exported(file) => {
                let file = std::path::absolute(&file).unwrap_or(file);
                self.notices.say(Tone::Info, &format!("wrote {}", file.display()));
            }
            // What was folded is shown to every terminal as it happens.
            Reply::Compacted(done) if done.compacted.is_some() => {}
            Reply::Compacted(done) => self.notices.say(Tone::Info, &done.why_not),
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
                if let Command::AnswerApproval(request) = command.as_ref()
                    && error.is_outage()
                    && self.open.as_ref().is_some_and(|it| it.session_id == request.session_id)
                {
                    // What waits no longer was decided, maybe by this very answer: the session tells.
                    let is_known = self.open.as_ref().is_some_and(|open| open.caught_up);
                    if is_known && self.asks.number(&request.approval_id).is_none() {
                        return Vec::new();
                    }
                    self.hold(Held {
                        approval_id: request.approval_id.clone(),
                        decision: request.decision(),
                        scope: request.scope(),
                        reason: request.reason.clone(),
                    });
                    return Vec::new();
                }
                self.stop_waiting(&command);
                self.notices.refused(command.purpose(), &error);
            }
        }
        Vec::new()
    }

    /// Closes what waits for a reply that will not come.
    fn stop_waiting(&mut self, command: &Command) {
        let waits = match &self.overlay {
            Some(Overlay::Text(text)) => text.wants.is_some() && !command.changes(),
            Some(Overlay::Picker(picker)) => {
                picker.waits()
                    && matches!(command, Command::ListModels(_) | Command::SearchMessages(_))
            }
            None => false,
        };
        if waits {
            self.overlay = None;
        }
    }

    fn waits_for_found(&self) -> bool {
        let Some(Overlay::Picker(picker)) = &self.overlay else { return false };
        picker.picks == Picks::Session && picker.waits()
    }

    fn waits_for_text(&self) -> bool {
        matches!(&self.overlay, Some(Overlay::Text(text)) if text.wants.is_some())
    }

    fn found(&mut self, found: &v1::SearchMessagesResponse) {
        let items = found.messages.iter().map(|message| {
            let title = if message.title.is_empty() { "(no title yet)" } else { &message.title };
            Item {
                value: message.session_id.clone(),
                label: one_line(&message.snippet, 300),
                detail: one_line(title, 100),
                is_current: false,
            }
        });
        let items: Vec<Item> = items.collect();
        if let Some(Overlay::Picker(picker)) = &mut self.overlay
            && picker.picks == Picks::Session
            && picker.waits()
        {
            if found.truncated {
                let text = format!("the best {} are shown", items.len());
                self.notices.say(Tone::Info, &text);
            }
            picker.fill(items);
        }
    }
}

/// Whether an event can change what waits for a person.
fn changes_asks(event: &AttachEvent) -> bool {
    use v1::event::Body;

    match event {
        AttachEvent::CaughtUp { .. } => true,
        AttachEvent::Event(event) => matches!(
            event.body,
            Some(
                Body::ApprovalRequested(_)
                    | Body::ApprovalResolved(_)
                    | Body::QuestionAsked(_)
                    | Body::QuestionAnswered(_)
                    | Body::TurnCompleted(_)
                    | Body::TurnFailed(_)
                    | Body::TurnInterrupted(_)
            )
        ),
        _ => false,
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
