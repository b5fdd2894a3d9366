//! Waits for the end of the turn that contains one message.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;

/// Knows which turn a message belongs to, and how that turn stands.
#[derive(Debug)]
pub struct Follow {
    item_id: String,
    turn_id: Option<String>,
    /// The message began its turn; one that steers is part of a turn that somebody else may have begun.
    began: bool,
    /// What another turn asks, before ours could begin.
    asked_before: Option<v1::QuestionAsked>,
}

/// How it ended for the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The turn ended by itself.
    Completed(v1::TurnCompleted),
    /// The turn failed.
    Failed(v1::ErrorReport),
    /// The turn was interrupted.
    Interrupted(Option<v1::Author>),
    /// The turn asks something.
    Asked(v1::QuestionAsked),
    /// The turn before it asks something, and the message stays queued until that is answered.
    Blocked(v1::QuestionAsked),
    /// The message was taken back before a turn had it.
    Withdrawn(Option<v1::Author>),
    /// The message expired before a turn had it.
    Expired,
}

impl Follow {
    /// Follows the message with this id.
    pub fn new(item_id: impl Into<String>) -> Self {
        Self { item_id: item_id.into(), turn_id: None, began: false, asked_before: None }
    }

    /// The turn that has the message; `None` while it waits.
    pub fn turn_id(&self) -> Option<&str> {
        self.turn_id.as_deref()
    }

    /// Tells whether an event belongs to the turn that has the message.
    pub fn concerns(&self, event: &v1::Event) -> bool {
        self.turn_id.as_deref().is_some_and(|turn_id| turn_id == event.turn_id)
    }

    /// What the turn that the message began asks with this event.
    pub fn asks<'e>(&self, event: &'e v1::Event) -> Option<&'e v1::ApprovalRequested> {
        match &event.body {
            Some(Body::ApprovalRequested(asked)) if self.began && self.concerns(event) => {
                Some(asked)
            }
            _ => None,
        }
    }

    /// Tells whether the message waits for somebody to answer a question of the turn before it. Ask
    /// only when the replay is over: an old question may have its answer a few events later.
    pub fn blocked(&self) -> Option<Outcome> {
        let waits = self.turn_id.is_none();
        self.asked_before.clone().filter(|_| waits).map(Outcome::Blocked)
    }

    /// Takes an event, and tells how it ended if it did.
    pub fn on(&mut self, event: &v1::Event) -> Option<Outcome> {
        let body = event.body.as_ref()?;
        match body {
            Body::TurnStarted(v1::TurnStarted { item_ids, .. })
            | Body::MessagesDelivered(v1::MessagesDelivered { item_ids })
                if item_ids.contains(&self.item_id) =>
            {
                self.turn_id = Some(event.turn_id.clone());
                self.began = matches!(body, Body::TurnStarted(_));
                return None;
            }
            Body::MessageWithdrawn(withdrawn) if withdrawn.item_id == self.item_id => {
                return Some(Outcome::Withdrawn(withdrawn.by.clone()));
            }
            Body::MessageExpired(expired) if expired.item_id == self.item_id => {
                return Some(Outcome::Expired);
            }
            Body::QuestionAsked(asked) if self.turn_id.is_none() && stands_still(asked) => {
                self.asked_before = Some(asked.clone());
            }
            Body::QuestionAnswered(answered) => {
                self.asked_before.take_if(|asked| asked.question_id == answered.question_id);
            }
            _ => {}
        }
        if !self.concerns(event) {
            return None;
        }
        match body {
            Body::TurnCompleted(completed) => Some(Outcome::Completed(*completed)),
            Body::TurnFailed(failed) => {
                Some(Outcome::Failed(failed.error.clone().unwrap_or_default()))
            }
            Body::TurnInterrupted(interrupted) => {
                Some(Outcome::Interrupted(interrupted.by.clone()))
            }
            Body::QuestionAsked(asked) if stands_still(asked) => {
                Some(Outcome::Asked(asked.clone()))
            }
            _ => None,
        }
    }
}

/// True when the turn goes on only if somebody says so; a call's own question has an end.
fn stands_still(asked: &v1::QuestionAsked) -> bool {
    asked.kind() != v1::QuestionKind::AskUser
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(turn_id: &str, body: Body) -> v1::Event {
        v1::Event { seq: 1, at_ms: 0, turn_id: turn_id.into(), body: Some(body) }
    }

    fn started(turn_id: &str, item_id: &str) -> v1::Event {
        let item_ids = vec![item_id.to_owned()];
        event(turn_id, Body::TurnStarted(v1::TurnStarted { item_ids, ..Default::default() }))
    }

    fn completed(turn_id: &str, end: v1::TurnEnd) -> v1::Event {
        let end = end.into();
        event(turn_id, Body::TurnCompleted(v1::TurnCompleted { end, ..Default::default() }))
    }

    #[test]
    fn ap_02_only_the_turn_that_the_message_began_asks_it() {
        let asks = |turn_id: &str| {
            event(turn_id, Body::ApprovalRequested(v1::ApprovalRequested::default()))
        };
        let mut follow = Follow::new("M");
        assert_eq!(follow.asks(&asks("T")), None);
        follow.on(&started("T", "M"));
        assert!(follow.asks(&asks("T")).is_some());
        assert_eq!(follow.asks(&asks("other")), None);
        // A message that steers the turn of somebody else.
        let mut follow = Follow::new("M");
        let item_ids = vec!["M".to_owned()];
        follow.on(&event("T", Body::MessagesDelivered(v1::MessagesDelivered { item_ids })));
        assert_eq!(follow.asks(&asks("T")), None);
    }

    fn name(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Completed(_) => "completed",
            Outcome::Failed(_) => "failed",
            Outcome::Interrupted(_) => "interrupted",
            Outcome::Asked(_) => "asked",
            Outcome::Blocked(_) => "blocked",
            Outcome::Withdrawn(_) => "withdrawn",
            Outcome::Expired => "expired",
        }
    }

    fn ended(events: &[v1::Event]) -> Option<&'static str> {
        let mut follow = Follow::new("M");
        events.iter().find_map(|event| follow.on(event)).as_ref().map(name)
    }

    #[test]
    fn each_end_of_the_own_turn_is_told() {
        let check = |last: v1::Event, expect: &str| {
            assert_eq!(ended(&[started("T", "M"), last.clone()]), Some(expect), "{last:?}");
        };
        check(completed("T", v1::TurnEnd::Answered), "completed");
        check(completed("T", v1::TurnEnd::Refused), "completed");
        check(event("T", Body::TurnFailed(v1::TurnFailed::default())), "failed");
        check(event("T", Body::TurnInterrupted(v1::TurnInterrupted::default())), "interrupted");
        check(event("T", Body::QuestionAsked(v1::QuestionAsked::default())), "asked");
        let expired = v1::MessageExpired { item_id: "M".into() };
        check(event("", Body::MessageExpired(expired)), "expired");
    }

    #[test]
    fn turns_of_others_end_nothing() {
        assert_eq!(ended(&[completed("T0", v1::TurnEnd::Answered)]), None);
        assert_eq!(ended(&[started("T0", "other"), completed("T0", v1::TurnEnd::Answered)]), None);
        let suspended = event("T", Body::TurnSuspended(v1::TurnSuspended::default()));
        assert_eq!(ended(&[started("T", "M"), suspended]), None, "only a question makes us leave");
    }

    #[test]
    fn a_queued_message_is_blocked_while_the_turn_before_it_asks() {
        let asked = |turn_id: &str| {
            let question_id = "Q".to_owned();
            let asked = v1::QuestionAsked { question_id, ..Default::default() };
            event(turn_id, Body::QuestionAsked(asked))
        };
        let answered = || {
            let question_id = "Q".to_owned();
            let answered = v1::QuestionAnswered { question_id, ..Default::default() };
            event("T0", Body::QuestionAnswered(answered))
        };
        let check = |events: &[v1::Event], expect: Option<&str>| {
            let mut follow = Follow::new("M");
            assert_eq!(events.iter().find_map(|event| follow.on(event)), None, "{events:?}");
            let blocked = follow.blocked();
            assert_eq!(blocked.as_ref().map(name), expect, "{events:?}");
        };
        check(&[started("T0", "other")], None);
        check(&[started("T0", "other"), asked("T0")], Some("blocked"));
        check(&[asked("T0"), answered()], None);
        check(&[asked("T0"), started("T", "M")], None);
        check(&[started("T", "M"), asked("T0")], None);
    }

    #[test]
    fn a_steering_message_belongs_to_the_turn_that_it_was_delivered_to() {
        let delivered = v1::MessagesDelivered { item_ids: vec!["M".into()] };
        let events =
            [event("T", Body::MessagesDelivered(delivered)), completed("T", v1::TurnEnd::Answered)];
        assert_eq!(ended(&events), Some("completed"));
    }

    #[test]
    fn a_message_that_was_taken_back_ends() {
        let withdrawn = v1::MessageWithdrawn { item_id: "M".into(), by: None };
        assert_eq!(ended(&[event("", Body::MessageWithdrawn(withdrawn))]), Some("withdrawn"));
    }
}
