//! The turns of our own messages, from their beginning to their end.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::Outcome;

use super::conversation::Conversation;
use crate::exit::Exit;

impl Conversation<'_> {
    /// Follows our own messages. A turn that asks is ours still: it goes on when it has its answer.
    pub(super) fn follow(&mut self, event: &v1::Event) {
        if let Some(Body::QuestionAnswered(_)) = &event.body {
            self.goes_on(&event.turn_id);
        }
        let mut worst = None;
        for mut follow in std::mem::take(&mut self.pending) {
            match follow.on(event) {
                None => self.pending.push(follow),
                Some(outcome) => {
                    worst = worst.or(Some(Exit::from(&outcome)).filter(|exit| *exit != Exit::Ok));
                    if let Outcome::Asked(_) = outcome {
                        self.asked.push(follow);
                    }
                }
            }
        }
        self.asked.retain_mut(|follow| {
            follow.on(event).is_none_or(|outcome| matches!(outcome, Outcome::Asked(_)))
        });
        if let Some(worst) = worst {
            self.script_failed(worst);
        }
    }

    /// The question of a turn has its answer, and what it was waited for no longer counts.
    pub(super) fn goes_on(&mut self, turn_id: &str) {
        let (on, still): (Vec<_>, Vec<_>) =
            self.asked.drain(..).partition(|follow| follow.turn_id() == Some(turn_id));
        if !on.is_empty() && self.exit == Exit::Waiting {
            self.exit = Exit::Ok;
        }
        self.asked = still;
        self.pending.extend(on);
    }
}
