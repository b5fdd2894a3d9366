//! Draws what a turn asks: questions, and calls that need a yes.

use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::format::Tone;
use agentd_shared::format::approval::{self as approval_text, Extent};
use agentd_shared::text::one_line;
use tokio::time::Instant;

use super::{PREVIEW_WIDTH, View};

/// How long an approval stands on the screen before a yes without its number is one to it. Whoever is
/// faster has typed it for something else, or for the one before. As long it takes to read that one waits
/// no longer.
const TO_READ: Duration = Duration::from_secs(1);

/// An approval that was shown.
#[derive(Debug)]
pub(super) struct Asked {
    approval_id: String,
    at: Instant,
    /// When and how it was closed.
    closed: Option<(Instant, v1::ApprovalDecision)>,
}

impl View {
    pub(super) fn question(&mut self, asked: &v1::QuestionAsked) {
        self.asks(Tone::Warn, "? ", &asked.prompt);
        let choices: Vec<String> = asked
            .choices
            .iter()
            .enumerate()
            .map(|(index, choice)| format!("{}) {}", index + 1, one_line(choice, PREVIEW_WIDTH)))
            .collect();
        let how = if self.watches {
            let choices = choices.join("  ");
            format!("answer it in `agentctl chat --session ID`  {choices}").trim_end().to_owned()
        } else if asked.free_text {
            "type your answer (/steer TEXT sends a message instead)".to_owned()
        } else {
            format!("type a choice: {}; anything else is a new message", choices.join("  "))
        };
        let otherwise = match asked.default_choice.as_str() {
            "" => String::new(),
            default => format!("; without an answer: {}", one_line(default, PREVIEW_WIDTH)),
        };
        self.asks(Tone::Dim, "  ", &format!("{how}{otherwise}"));
    }

    /// Shows exactly what will run, and how to answer.
    pub(super) fn approval(&mut self, requested: &v1::ApprovalRequested) {
        let approval_id = requested.approval_id.clone();
        self.approvals.push(Asked { approval_id, at: Instant::now(), closed: None });
        let number = self.approvals.len();
        let mut lines = approval_text::lines(requested, Extent::Short).into_iter();
        let first = lines.next().unwrap_or_default();
        self.asks(Tone::Warn, &format!("? #{number} "), &first);
        for line in lines {
            self.asks(Tone::Warn, "  ", &line);
        }
        let rules: Vec<String> = requested.rules.iter().map(approval_text::rule).collect();
        if self.watches {
            let id = one_line(&requested.approval_id, PREVIEW_WIDTH);
            let text = format!("let it run with `agentctl approvals allow {id}`");
            self.asks(Tone::Dim, "  ", &text);
            let text = format!("see all of it with `agentctl approvals show {id}`");
            self.asks(Tone::Dim, "  ", &text);
            return;
        }
        let always =
            if rules.is_empty() { "" } else { "  a) in this session  w) in this workspace" };
        self.asks(
            Tone::Dim,
            "  ",
            &format!("y) allow once{always}  n) deny  n REASON) and say why"),
        );
        if !rules.is_empty() {
            let text = format!("a and w allow from now on: {}", rules.join("; "));
            self.asks(Tone::Dim, "  ", &text);
        }
        self.asks(Tone::Dim, "  ", &format!("/approvals show {number} shows all of it"));
    }

    /// Adds a line of what is asked, none of whose rows can be taken for another line.
    fn asks(&mut self, tone: Tone, prefix: &str, text: &str) {
        self.end_stream();
        self.canvas.hanging(tone, prefix, text);
    }

    /// The number that an approval was shown with.
    pub(crate) fn approval_number(&self, approval_id: &str) -> Option<usize> {
        self.approvals.iter().position(|asked| asked.approval_id == approval_id).map(|at| at + 1)
    }

    /// Tells whether who typed a line at this time can have read the approval before.
    pub(crate) fn can_have_been_read(&self, approval_id: &str, typed_at: Instant) -> bool {
        let asked = self.approvals.iter().find(|asked| asked.approval_id == approval_id);
        asked.is_some_and(|asked| typed_at.saturating_duration_since(asked.at) >= TO_READ)
    }

    /// Notes that an approval waits no longer.
    pub(super) fn approval_closed(&mut self, resolved: &v1::ApprovalResolved) {
        let mut asked = self.approvals.iter_mut();
        if let Some(asked) = asked.find(|asked| asked.approval_id == resolved.approval_id) {
            asked.closed = Some((Instant::now(), resolved.decision()));
        }
    }

    /// How an approval was closed.
    pub(crate) fn closed_as(&self, approval_id: &str) -> Option<v1::ApprovalDecision> {
        let asked = self.approvals.iter().find(|asked| asked.approval_id == approval_id);
        asked?.closed.map(|(_at, decision)| decision)
    }

    /// The number of the approval that was closed last, when who typed a line at this time cannot have
    /// read before that it was.
    pub(crate) fn closed_unread(&self, typed_at: Instant) -> Option<usize> {
        let closed = self.approvals.iter().zip(1..);
        let closed = closed.filter_map(|(asked, number)| Some((asked.closed?.0, number)));
        let (at, number) = closed.max_by_key(|(at, _number)| *at)?;
        (typed_at.saturating_duration_since(at) < TO_READ).then_some(number)
    }
}

#[cfg(test)]
mod tests;
