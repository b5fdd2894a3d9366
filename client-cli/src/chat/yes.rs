//! `chat --yes`: what the turns of own messages ask is answered with yes, unseen.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::Tone;
use tokio::time::Instant;

use super::conversation::Conversation;
use crate::command::approvals::{self, Answer};
use crate::exit::Failure;

/// Pause before a yes that did not arrive is said again.
const PAUSE: Duration = Duration::from_secs(1);

/// What waits for its yes.
#[derive(Debug, Default)]
pub(super) struct Yes {
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    approval_id: String,
    /// It has failed, and is said again then.
    retry_at: Option<Instant>,
}

impl Yes {
    /// Takes what a turn asks.
    pub(super) fn asked(&mut self, asked: Option<&v1::ApprovalRequested>) {
        let Some(asked) = asked else { return };
        let approval_id = asked.approval_id.clone();
        if !self.waiting.iter().any(|waiting| waiting.approval_id == approval_id) {
            self.waiting.push(Waiting { approval_id, retry_at: None });
        }
    }

    /// When something is to be said again.
    pub(super) fn retry_at(&self) -> Option<Instant> {
        self.waiting.iter().filter_map(|waiting| waiting.retry_at).min()
    }

    /// Forgets what does not wait any more, and gives what is to be said now.
    fn due(&mut self, is_open: impl Fn(&str) -> bool, now: Instant) -> Vec<String> {
        self.waiting.retain(|waiting| is_open(&waiting.approval_id));
        let due = self.waiting.iter().filter(|waiting| waiting.retry_at.is_none_or(|at| at <= now));
        due.map(|waiting| waiting.approval_id.clone()).collect()
    }

    /// Takes what became of a yes; true when its failure is news.
    fn said(&mut self, approval_id: &str, arrived: bool, now: Instant) -> bool {
        if arrived {
            self.waiting.retain(|waiting| waiting.approval_id != approval_id);
            return false;
        }
        let mut waiting = self.waiting.iter_mut();
        waiting
            .find(|waiting| waiting.approval_id == approval_id)
            .is_some_and(|waiting| waiting.retry_at.replace(now + PAUSE).is_none())
    }
}

impl Conversation<'_> {
    /// Lets the calls run that our own turns ask for. What cannot be said is said again for as long
    /// as it waits.
    pub(super) async fn say_yes(&mut self) {
        let Some(yes) = &mut self.yes else { return };
        let transcript = &self.view.transcript;
        let is_open =
            |id: &str| transcript.open_approvals().any(|(_, open)| open.approval_id == id);
        for approval_id in yes.due(is_open, Instant::now()) {
            let author = self.app.author();
            let (client, session_id) = (&self.client, &self.session_id);
            let sent = approvals::send(client, author, session_id, &approval_id, Answer::YES);
            let sent = sent.await;
            if yes.said(&approval_id, sent.is_ok(), Instant::now())
                && let Err(Failure::Report(report)) = sent
            {
                let text = format!("the yes was not taken: {}: {}", report.what, report.why);
                self.view.aside(Tone::Warn, &text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_that_did_not_arrive_is_said_again_for_as_long_as_it_waits() {
        let asked =
            |id: &str| v1::ApprovalRequested { approval_id: id.into(), ..Default::default() };
        let now = Instant::now();
        let mut yes = Yes::default();
        yes.asked(Some(&asked("A")));
        yes.asked(Some(&asked("A")));
        yes.asked(Some(&asked("B")));
        yes.asked(None);
        assert_eq!(yes.due(|_| true, now), ["A", "B"]);
        assert!(yes.said("A", false, now), "the first failure is told");
        assert!(!yes.said("B", true, now));
        assert_eq!(yes.due(|_| true, now), Vec::<String>::new());
        assert_eq!(yes.retry_at(), Some(now + PAUSE));
        assert_eq!(yes.due(|_| true, now + PAUSE), ["A"]);
        assert!(!yes.said("A", false, now + PAUSE), "the second is not");
        assert_eq!(yes.due(|id| id != "A", now + PAUSE * 2), Vec::<String>::new());
        assert_eq!(yes.retry_at(), None);
    }
}
