//! What a line of a summary was made from, as the log has it.

use std::collections::HashSet;

use agentd_domain::{
    ErrorKind, Event, EventBody, ItemId, Seq, SeqRange, SessionId, SummaryLine, TimestampMs,
};

use crate::engine::Engine;
use crate::error::{CommandError, Field};
use crate::session::{Command, LOAD_PAGE};

/// Most messages of one line.
const MAX_MESSAGES: usize = 200;
/// Most bytes of their texts.
const MAX_BYTES: usize = 256 * 1024;
/// Most characters of one text before its middle is left out.
const MAX_CHARS: usize = 4_000;
/// Most events that are looked at.
const MAX_EVENTS: usize = 20_000;

/// Why a line cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// Nothing was folded.
    #[error("no turns of session {0} were folded into a summary yet")]
    NoSummary(SessionId),
    /// The summary has no such line.
    #[error("the summary has no line {line}: it has {lines}")]
    NoLine {
        /// What was asked for, from 1 on.
        line: u32,
        /// Lines that it has.
        lines: usize,
    },
}

impl ExpandError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSummary(_) => ErrorKind::Precondition,
            Self::NoLine { .. } => ErrorKind::NotFound,
        }
    }

    /// The field of the request that is at fault.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::NoSummary(_) => Some("session_id"),
            Self::NoLine { .. } => Some("line"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoSummary(_) => "all turns are told whole; `agentctl context` shows how large",
            Self::NoLine { .. } => "`agentctl context expand` lists the lines with their numbers",
        }
    }
}

/// A line of the summary with what it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedLine {
    /// The line.
    pub line: SummaryLine,
    /// What was said, the oldest first.
    pub messages: Vec<ExpandedMessage>,
    /// There is more.
    pub truncated: bool,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedMessage {
    /// Its event.
    pub seq: Seq,
    /// When.
    pub at: TimestampMs,
    /// Who said it: "user", "assistant" or the name of a tool.
    pub who: String,
    /// What, its middle left out when it is long.
    pub text: String,
}

impl Engine {
    /// Reads what line `line`, from 1 on, of a session's summary was made from: at most 200 messages
    /// and 256 KiB, each text cut to 4,000 characters.
    ///
    /// # Errors
    /// When there is no such session, no summary, no such line, or the log cannot be read.
    pub async fn expand(&self, id: SessionId, line: u32) -> Result<ExpandedLine, CommandError> {
        let parts = self.ask(id, |reply| Command::RequestParts { reply }).await?;
        let compacted = match parts.summary {
            Some(seq) => self.compaction_at(id, seq).await?,
            None => None,
        };
        let lines = compacted.ok_or(ExpandError::NoSummary(id))?.lines;
        let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let count = lines.len();
        let found = at.and_then(|at| lines.into_iter().nth(at));
        let found = found.ok_or(ExpandError::NoLine { line, lines: count })?;
        let mut reading = Reading::default();
        for range in merged(&found.from) {
            self.read(id, range, &mut reading).await?;
        }
        Ok(reading.into_line(found))
    }

    /// Path below the workspace of the document that the session's requests hold; empty: none.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read.
    pub async fn project_document(&self, id: SessionId) -> Result<String, CommandError> {
        let parts = self.ask(id, |reply| Command::RequestParts { reply }).await?;
        Ok(parts.project_document)
    }

    async fn read(
        &self,
        id: SessionId,
        range: SeqRange,
        reading: &mut Reading,
    ) -> Result<(), CommandError> {
        let mut from = range.first;
        while from <= range.last && !reading.is_full() {
            let page = self.deps().store.events(id, from, LOAD_PAGE).await?;
            for event in &page.events {
                if event.seq > range.last {
                    return Ok(());
                }
                reading.take(event);
            }
            match page.events.last() {
                Some(last) if page.more => from = last.seq.next(),
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}

/// The same stretches in order, none in another.
fn merged(ranges: &[SeqRange]) -> Vec<SeqRange> {
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable();
    let mut merged: Vec<SeqRange> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.first <= last.last => last.last = last.last.max(range.last),
            _ => merged.push(range),
        }
    }
    merged
}

/// What was read so far.
#[derive(Debug, Default)]
struct Reading {
    messages: Vec<(Option<ItemId>, ExpandedMessage)>,
    /// Messages of users that a turn has used; others wait, or were taken back.
    used: HashSet<ItemId>,
    events: usize,
    bytes: usize,
    truncated: bool,
}

impl Reading {
    fn is_full(&self) -> bool {
        self.truncated
    }

    fn take(&mut self, event: &Event) {
        if self.truncated {
            return;
        }
        self.events += 1;
        if self.events > MAX_EVENTS {
            self.truncated = true;
            return;
        }
        match &event.body {
            EventBody::MessageAccepted(accepted) => {
                self.push(event, Some(accepted.item_id), "user", &accepted.text);
            }
            EventBody::TurnStarted(started) => self.used.extend(&started.item_ids),
            EventBody::MessagesDelivered(delivered) => self.used.extend(&delivered.item_ids),
            EventBody::AssistantMessage(message) => {
                let calls: Vec<&str> =
                    message.tool_calls.iter().map(|call| call.name.as_str()).collect();
                let text = match (message.text.trim(), calls.as_slice()) {
                    ("", []) => return,
                    ("", calls) => format!("[calls {}]", calls.join(", ")),
                    (text, []) => text.to_owned(),
                    (text, calls) => format!("{text}\n[calls {}]", calls.join(", ")),
                };
                self.push(event, None, "assistant", &text);
            }
            EventBody::ToolCallFinished(finished) => {
                self.push(event, None, &finished.name, &finished.output);
            }
            _ => {}
        }
    }

    fn push(&mut self, event: &Event, item: Option<ItemId>, who: &str, text: &str) {
        let text = cut(text);
        if self.messages.len() >= MAX_MESSAGES || self.bytes + text.len() > MAX_BYTES {
            self.truncated = true;
            return;
        }
        self.bytes += text.len();
        let who = who.to_owned();
        let message = ExpandedMessage { seq: event.seq, at: event.at, who, text };
        self.messages.push((item, message));
    }

    fn into_line(self, line: SummaryLine) -> ExpandedLine {
        let Self { messages, used, truncated, .. } = self;
        let used = |item: Option<ItemId>| item.is_none_or(|item| used.contains(&item));
        let messages = messages.into_iter().filter(|(item, _)| used(*item));
        let messages = messages.map(|(_, message)| message).collect();
        ExpandedLine { line, messages, truncated }
    }
}

/// Head and tail of a long text.
fn cut(text: &str) -> String {
    let chars = text.chars().count();
    if chars <= MAX_CHARS {
        return text.to_owned();
    }
    let half = MAX_CHARS / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(chars - half).collect();
    format!("{head}\n[… {} characters left out …]\n{tail}", chars - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_overlap_are_read_once() {
        let range = |first, last| SeqRange { first: Seq(first), last: Seq(last) };
        let given = [range(9, 12), range(1, 4), range(3, 6), range(5, 5)];
        assert_eq!(merged(&given), [range(1, 6), range(9, 12)]);
        assert_eq!(merged(&[]), []);
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out_between_characters() {
        let text = "世".repeat(MAX_CHARS);
        assert_eq!(cut(&text), text);
        let cut = cut(&format!("a{text}b"));
        assert!(cut.starts_with("a世") && cut.ends_with("世b"), "{cut}");
        assert!(cut.contains("[… 2 characters left out …]"));
    }
}
