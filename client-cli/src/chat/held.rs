//! Answers to approvals that cannot be given at once.
//!
//! While the connection is gone an answer is kept, and given when the same approval still waits once the
//! connection is back; otherwise it is told what became of it. And what was typed for an approval that
//! was closed in that moment is never a message of its own.

use agentd_proto::v1;
use agentd_shared::format::Tone;

use super::approvals::Key;
use super::conversation::Conversation;
use crate::command::approvals::{self, Answer};
use crate::exit::{Exit, Failure};

/// An answer that waits for the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    approval_id: String,
    decision: v1::ApprovalDecision,
    scope: v1::ApprovalScope,
    reason: String,
}

impl Held {
    fn answer(&self) -> Answer<'_> {
        Answer { decision: self.decision, scope: self.scope, reason: &self.reason }
    }
}

/// Keeps an answer. One that was kept for the same approval is replaced, so that there are never more
/// than approvals.
fn keep(held: &mut Vec<Held>, approval_id: String, answer: Answer<'_>) {
    let Answer { decision, scope, reason } = answer;
    held.retain(|before| before.approval_id != approval_id);
    held.push(Held { approval_id, decision, scope, reason: reason.to_owned() });
}

/// What became of an approval that waits no longer.
fn became(decision: Option<v1::ApprovalDecision>) -> &'static str {
    match decision {
        Some(v1::ApprovalDecision::Allow) => "it was allowed meanwhile",
        Some(v1::ApprovalDecision::Deny) => "it was denied meanwhile",
        Some(v1::ApprovalDecision::Expired) => "its time was over",
        Some(v1::ApprovalDecision::Void | v1::ApprovalDecision::Unspecified) | None => {
            "its turn was cut off"
        }
    }
}

impl Conversation<'_> {
    /// Keeps an answer until the connection is back.
    pub(super) fn hold(&mut self, approval_id: String, answer: Answer<'_>) {
        let number = self.view.approval_number(&approval_id).unwrap_or_default();
        keep(&mut self.held, approval_id, answer);
        let text = format!(
            "◆ kept: #{number} gets this answer once the daemon is back, if it still waits"
        );
        self.view.aside(Tone::Dim, &text);
    }

    /// Gives the answers that were kept, once what has happened meanwhile is known.
    pub(super) async fn give_held(&mut self) -> Result<(), Failure> {
        if self.is_cut_off {
            return Ok(());
        }
        for held in std::mem::take(&mut self.held) {
            let Held { approval_id, .. } = &held;
            let number = self.view.approval_number(approval_id).unwrap_or_default();
            let is_open = {
                let mut open = self.view.transcript.open_approvals();
                open.any(|(_, open)| open.approval_id == *approval_id)
            };
            if !is_open {
                let why = became(self.view.closed_as(approval_id));
                let text = format!("◆ your answer to #{number} was not given: {why}");
                self.view.aside(Tone::Warn, &text);
                self.script_failed(Exit::Failed);
                continue;
            }
            let author = self.app.author();
            let (client, session_id) = (&self.client, &self.session_id);
            let sent = approvals::send(client, author, session_id, approval_id, held.answer());
            let sent = sent.await;
            self.show(sent)?;
        }
        Ok(())
    }

    /// What is said about a line that answers an approval, when that is closed and whoever typed it
    /// cannot have read so.
    pub(super) fn too_late(&self, text: &str) -> Option<String> {
        // A script is not typed.
        if self.scripted {
            return None;
        }
        Key::parse(text).filter(|key| !key.has_reason())?;
        let number = self.view.closed_unread(self.typed_at)?;
        Some(format!("◆ #{number} waits no longer: `{}` was not sent", text.trim()))
    }

    /// What is said about a line that would answer an approval, when it is a question that waits for one
    /// of its choices.
    pub(super) fn no_choice(&self, text: &str) -> Option<String> {
        if self.scripted {
            return None;
        }
        Key::parse(text).filter(|key| !key.has_reason())?;
        let question = self.view.transcript.open_questions().next()?;
        let choices = question.choices.join("`, `");
        Some(format!(
            "`{}` is none of `{choices}` and was not sent (/steer sends any text)",
            text.trim()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_to_an_approval_is_the_one_that_is_kept() {
        let mut held = Vec::new();
        let no = Answer { decision: v1::ApprovalDecision::Deny, reason: "no", ..Answer::YES };
        keep(&mut held, "A".to_owned(), Answer::YES);
        keep(&mut held, "B".to_owned(), Answer::YES);
        keep(&mut held, "A".to_owned(), no);
        let kept: Vec<_> =
            held.iter().map(|held| (held.approval_id.as_str(), held.decision)).collect();
        let (allow, deny) = (v1::ApprovalDecision::Allow, v1::ApprovalDecision::Deny);
        assert_eq!(kept, [("B", allow), ("A", deny)]);
        assert_eq!(held[1].answer().reason, "no");
    }

    #[test]
    fn who_types_before_it_can_have_been_read_that_an_approval_is_closed_means_it() {
        use std::time::Duration;

        use tokio::time::Instant;

        use crate::chat::canvas::{Canvas, Mode};
        use crate::chat::view::View;
        use crate::look::Look;
        use v1::event::Body;

        let canvas = Canvas::new(Mode::Append, Look { width: 60, colored: false });
        let mut view = View::new(canvas, "me", true);
        let mut seq = 0;
        let mut event = |view: &mut View, body: Body| {
            seq += 1;
            view.event(&v1::Event { seq, body: Some(body), ..Default::default() });
        };
        for id in ["A", "B"] {
            let asked = v1::ApprovalRequested { approval_id: id.into(), ..Default::default() };
            event(&mut view, Body::ApprovalRequested(asked));
        }
        let before = Instant::now();
        assert_eq!(view.closed_unread(before), None, "none is closed");
        let decision = v1::ApprovalDecision::Void;
        for id in ["B", "A"] {
            let (approval_id, decision) = (id.into(), decision.into());
            let closed = v1::ApprovalResolved { approval_id, decision, ..Default::default() };
            event(&mut view, Body::ApprovalResolved(closed));
        }
        let after = Instant::now();
        for typed_at in [before, before + Duration::from_millis(999)] {
            assert_eq!(view.closed_unread(typed_at), Some(1), "the last that was closed");
        }
        assert_eq!(view.closed_unread(after + Duration::from_secs(1)), None);
        assert_eq!(became(view.closed_as("A")), "its turn was cut off");
        assert_eq!(view.closed_as("C"), None);
    }
}
