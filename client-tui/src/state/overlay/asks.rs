//! What waits for a person: approvals and questions, and what was answered while nobody could be told.
//!
//! An answer that lets something run counts only when what is asked can have been read: it was shown for
//! a second, and the key was not one of those that somebody was writing with when it came.

mod key;

use std::collections::HashMap;

use agentd_proto::v1;
use agentd_shared::Transcript;
use agentd_shared::transcript::Question;

use super::LineInput;
pub use key::TypedAnswer;

/// Ticks that something is shown before it can have been read.
const READ: u64 = 11;
/// Ticks that it takes to look again at what was chosen by a key.
const LOOK: u64 = 3;
/// Ticks after a key of the composer in which the next one belongs to it too.
const WRITING: u64 = 6;
/// Ticks until an answer that did not arrive is given again, while nothing else says that it can be.
const AGAIN: u64 = 20;

/// Something that waits.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'t> {
    /// A call that may run or not.
    Approval(&'t v1::ApprovalRequested),
    /// A question.
    Question(&'t Question),
}

/// What is known of what waits, besides the transcript.
#[derive(Debug, Default)]
pub struct Asks {
    /// Ids in the order in which they came, with their numbers.
    waiting: Vec<(String, usize)>,
    numbered: usize,
    /// The id of the one that is shown, and the tick from which it counts as shown.
    shown: Option<(String, u64)>,
    /// Keys go to it although something is written.
    is_focused: bool,
    /// It was put away.
    is_hidden: bool,
    /// When a key last went to the composer.
    typed_at: Option<u64>,
    /// All of the approval is shown.
    pub whole: bool,
    /// First row that is shown of it.
    pub top: usize,
    /// Rows of its window, and of itself, as they were drawn last.
    pub drawn: (usize, usize),
    /// The reason that is being written.
    pub reason: Option<LineInput>,
    /// The choice of a question.
    pub choice: usize,
    held: Vec<Held>,
    /// The tick at which the last of them was kept.
    held_at: u64,
    closed: HashMap<String, v1::ApprovalDecision>,
}

/// An answer to an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// ULID.
    pub approval_id: String,
    /// Whether it may run.
    pub decision: v1::ApprovalDecision,
    /// For how long.
    pub scope: v1::ApprovalScope,
    /// Why not.
    pub reason: String,
}

fn id<'t>(ask: &Ask<'t>) -> &'t str {
    match ask {
        Ask::Approval(request) => &request.approval_id,
        Ask::Question(question) => &question.question_id,
    }
}

impl Asks {
    /// Takes what waits now.
    pub fn sync(&mut self, transcript: &Transcript, now: u64) {
        let approvals = transcript.open_approvals().map(|(_, request)| Ask::Approval(request));
        let open: Vec<Ask<'_>> =
            approvals.chain(transcript.open_questions().map(Ask::Question)).collect();
        let before = self.waiting.len();
        self.waiting.retain(|(known, _)| open.iter().any(|ask| id(ask) == known));
        let mut comes = false;
        for ask in &open {
            if !self.waiting.iter().any(|(known, _)| known == id(ask)) {
                self.numbered += 1;
                self.waiting.push((id(ask).to_owned(), self.numbered));
                comes = true;
            }
        }
        if comes {
            self.is_hidden = false;
        }
        if self.waiting.is_empty() && before > 0 {
            self.numbered = 0;
        }
        let is_there = |id: &String| self.waiting.iter().any(|(known, _)| known == id);
        if !self.shown.as_ref().is_some_and(|(id, _)| is_there(id)) {
            let first = self.waiting.first().map(|(id, _)| id.clone());
            self.show(first.map(|id| (id, now)));
            self.is_focused = false;
        }
    }

    fn show(&mut self, shown: Option<(String, u64)>) {
        self.shown = shown;
        (self.whole, self.top, self.reason, self.choice) = (false, 0, None, 0);
    }

    /// Shows the next one, or the one before.
    pub fn turn(&mut self, back: bool, now: u64) {
        let Some(at) = self.place() else { return };
        let count = self.waiting.len();
        let next = (if back { at + count - 1 } else { at + 1 }) % count;
        if next != at
            && let Some((id, _)) = self.waiting.get(next)
        {
            let id = id.clone();
            self.show(Some((id, now.saturating_sub(READ - LOOK))));
        }
    }

    fn place(&self) -> Option<usize> {
        let (shown, _) = self.shown.as_ref()?;
        self.waiting.iter().position(|(id, _)| id == shown)
    }

    /// What is shown, unless it was put away.
    pub fn current<'t>(&self, transcript: &'t Transcript) -> Option<Ask<'t>> {
        let (shown, _) = self.shown.as_ref().filter(|_| !self.is_hidden)?;
        let mut approvals = transcript.open_approvals().map(|(_, request)| Ask::Approval(request));
        let found = approvals.find(|ask| id(ask) == shown);
        found.or_else(|| {
            transcript.question(shown).filter(|it| it.answer.is_none()).map(Ask::Question)
        })
    }

    /// Which of how many is shown.
    pub fn count(&self) -> (usize, usize) {
        let number = self.place().and_then(|at| self.waiting.get(at)).map_or(0, |(_, n)| *n);
        (number, self.waiting.len())
    }

    /// The number of one that waits.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.waiting.iter().find(|(known, _)| known == id).map(|(_, number)| *number)
    }

    /// The id that a number names.
    pub fn named(&self, number: usize) -> Option<&str> {
        self.waiting.iter().find(|(_, known)| *known == number).map(|(id, _)| id.as_str())
    }

    /// A key went to the composer.
    pub fn typed(&mut self, now: u64) {
        self.typed_at = Some(now);
        self.is_focused = false;
    }

    /// Whether keys go to what is shown.
    pub fn has_focus(&self, composer_is_empty: bool, now: u64) -> bool {
        let writes = self.typed_at.is_some_and(|at| now.saturating_sub(at) < WRITING);
        self.shown.is_some()
            && !self.is_hidden
            && (self.is_focused || (composer_is_empty && !writes))
    }

    /// Whether what is shown can have been read.
    pub fn can_have_been_read(&self, now: u64) -> bool {
        self.shown.as_ref().is_some_and(|(_, since)| now.saturating_sub(*since) >= READ)
    }

    /// Lets keys go to what waits; false when nothing does.
    pub fn focus(&mut self, now: u64) -> bool {
        if self.shown.is_none() {
            return false;
        }
        if self.is_hidden
            && let Some((_, since)) = &mut self.shown
        {
            // It is seen again only now.
            *since = (*since).max(now.saturating_sub(READ - LOOK));
        }
        (self.is_focused, self.is_hidden) = (true, false);
        true
    }

    /// Puts it away; it still waits.
    pub fn hide(&mut self) {
        (self.is_focused, self.is_hidden, self.reason) = (false, true, None);
    }

    /// How many wait while they are put away.
    pub fn hidden(&self) -> usize {
        if self.is_hidden { self.waiting.len() } else { 0 }
    }

    /// Whether time changes something: it becomes readable, or keys begin to reach it.
    pub fn moves(&self, now: u64) -> bool {
        let writes = self.typed_at.is_some_and(|at| now.saturating_sub(at) < WRITING);
        !self.held.is_empty() || (self.shown.is_some() && (writes || !self.can_have_been_read(now)))
    }

    /// Keeps an answer until somebody can be told. One for the same approval is replaced.
    pub fn hold(&mut self, answer: Held, now: u64) {
        self.held.retain(|held| held.approval_id != answer.approval_id);
        self.held.push(answer);
        self.held_at = now;
    }

    /// Whether what is kept has waited so long that it can be tried again.
    pub fn is_due(&self, now: u64) -> bool {
        !self.held.is_empty() && now.saturating_sub(self.held_at) >= AGAIN
    }

    /// Whether an answer to it is kept.
    pub fn is_held(&self, approval_id: &str) -> bool {
        self.held.iter().any(|held| held.approval_id == approval_id)
    }

    /// An approval waits no longer. `me` is the id of this client.
    pub fn resolved(&mut self, resolved: &v1::ApprovalResolved, me: &str) {
        if resolved.by.as_ref().is_some_and(|by| by.client_id == me) {
            // The answer that is kept may have arrived after all; only nobody could say so.
            let (id, decision) = (&resolved.approval_id, resolved.decision());
            self.held.retain(|held| held.approval_id != *id || held.decision != decision);
        }
        if self.is_held(&resolved.approval_id) {
            self.closed.insert(resolved.approval_id.clone(), resolved.decision());
        }
    }

    /// Answers that can be given now, and what became of those that cannot.
    pub fn release(&mut self) -> (Vec<Held>, Vec<String>) {
        let (mut give, mut told) = (Vec::new(), Vec::new());
        for held in std::mem::take(&mut self.held) {
            if self.number(&held.approval_id).is_some() {
                give.push(held);
                continue;
            }
            let became = match self.closed.get(&held.approval_id) {
                Some(v1::ApprovalDecision::Allow) => "it was allowed meanwhile",
                Some(v1::ApprovalDecision::Deny) => "it was denied meanwhile",
                Some(v1::ApprovalDecision::Expired) => "its time was over",
                Some(v1::ApprovalDecision::Void | v1::ApprovalDecision::Unspecified) | None => {
                    "its turn was cut off"
                }
            };
            told.push(format!("your answer was not given: {became}"));
        }
        self.closed.clear();
        (give, told)
    }
}

#[cfg(test)]
mod tests;
