//! Calls that ask the users something, or tell them.

use agentd_domain::{Event, EventBody, Notice, NoticeLevel, QuestionAnswered};
use agentd_tools::{Announcement, Answer, Question};
use tokio::sync::oneshot;

use super::Actor;
use crate::session::{approvals, questions};

impl Actor {
    /// Asks the session's users. The answer comes when one of them has given it, durably.
    pub(super) async fn question(&mut self, question: Question, reply: oneshot::Sender<Answer>) {
        self.drop_gone_subscribers();
        let attached = self.subscribers.iter().map(|subscriber| &subscriber.participant.author);
        if approvals::is_unattended(&self.state, attached) {
            let _cancelled = reply.send(Answer::NobodyThere);
            return;
        }
        let now = self.deps.clock.now();
        let question_id = self.deps.ids.question_id(now);
        let Some(draft) = questions::ask(&self.state, question, question_id, now) else { return };
        match self.record(vec![draft], Vec::new()).await {
            Ok(_seq) => self.questioned = Some((question_id, reply)),
            // Its turn learns it from its next step; the reply's end says that there is no answer.
            Err(error) => {
                tracing::error!(session_id = %self.id, %error, "a question could not be stored");
            }
        }
    }

    /// Tells the call what has come of its question.
    pub(super) fn question_answered(&mut self, events: &[Event]) {
        for event in events {
            let EventBody::QuestionAnswered(answered) = &event.body else { continue };
            let QuestionAnswered { question_id, choice, by } = answered;
            let is_asked = |(asked, _): &mut (_, _)| asked == question_id;
            let Some((_, reply)) = self.questioned.take_if(is_asked) else { continue };
            let answer = match by {
                Some(by) if !choice.is_empty() => {
                    Answer::Given { choice: choice.clone(), by: by.name.clone() }
                }
                Some(_) | None => Answer::Expired,
            };
            let _cancelled = reply.send(answer);
        }
    }

    /// Tells the session's users, now and later, and answers how many terminals are attached.
    pub(super) async fn announce(
        &mut self,
        announcement: Announcement,
        reply: oneshot::Sender<Option<usize>>,
    ) {
        let Announcement { text, is_grave } = announcement;
        let level = if is_grave { NoticeLevel::Warn } else { NoticeLevel::Info };
        self.drop_gone_subscribers();
        let told = match self.record_of_turn(vec![Notice { level, text }.into()]).await {
            Ok(_seq) => Some(self.subscribers.len()),
            Err(error) => {
                tracing::error!(session_id = %self.id, %error, "a notice could not be stored");
                None
            }
        };
        let _cancelled = reply.send(told);
    }
}
