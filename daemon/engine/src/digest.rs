//! One line about what a terminal missed.

use std::collections::BTreeSet;

use agentd_domain::{EventBody, Seq, SessionId, cut_line};
use agentd_store::{PageLimit, Store};

use crate::error::CommandError;

/// Events that are counted; beyond, the line says "at least".
const MAX_EVENTS: usize = 5_000;
/// Names of authors in the line.
const MAX_NAMES: usize = 3;
/// Characters of the last answer in the line.
const EXCERPT: usize = 60;

#[derive(Debug, Default)]
struct Missed {
    turns: usize,
    failed: usize,
    interrupted: usize,
    messages: usize,
    tool_calls: usize,
    authors: BTreeSet<String>,
    last_answer: String,
    question: bool,
}

/// Describes the events from `from` to `until`; empty when nothing worth a line happened.
pub(crate) async fn since(
    store: &dyn Store,
    id: SessionId,
    from: Seq,
    until: Seq,
) -> Result<String, CommandError> {
    let mut missed = Missed::default();
    let mut next = from;
    let mut seen = 0;
    let mut complete = true;
    while next <= until {
        let page = store.events(id, next, PageLimit { events: 500, bytes: 1024 * 1024 }).await?;
        for event in page.events.iter().take_while(|event| event.seq <= until) {
            missed.count(&event.body);
            seen += 1;
        }
        match page.events.last() {
            Some(last) if page.more && seen < MAX_EVENTS => next = last.seq.next(),
            Some(last) => {
                complete = last.seq >= until;
                break;
            }
            None => break,
        }
    }
    Ok(missed.line(complete))
}

impl Missed {
    fn count(&mut self, body: &EventBody) {
        match body {
            EventBody::MessageAccepted(accepted) => {
                self.messages += 1;
                self.authors.insert(accepted.author.name.clone());
            }
            EventBody::TurnStarted(_) => self.turns += 1,
            EventBody::TurnFailed(_) => self.failed += 1,
            EventBody::TurnInterrupted(_) => self.interrupted += 1,
            EventBody::ToolCallFinished(_) => self.tool_calls += 1,
            EventBody::QuestionAsked(_) => self.question = true,
            EventBody::QuestionAnswered(_) => self.question = false,
            EventBody::AssistantMessage(message) if !message.text.trim().is_empty() => {
                self.last_answer = cut_line(&message.text, EXCERPT);
            }
            _ => {}
        }
    }

    fn line(&self, complete: bool) -> String {
        let mut parts = Vec::new();
        let mut part = |count: usize, one: &str, many: &str| {
            if count > 0 {
                parts.push(format!("{count} {}", if count == 1 { one } else { many }));
            }
        };
        part(self.messages, "message", "messages");
        part(self.turns, "turn", "turns");
        part(self.failed, "failed", "failed");
        part(self.interrupted, "interrupted", "interrupted");
        part(self.tool_calls, "tool call", "tool calls");
        let mut line = parts.join(", ");
        if !self.authors.is_empty() {
            let names: Vec<&str> =
                self.authors.iter().take(MAX_NAMES).map(String::as_str).collect();
            line = format!("{line} (from {}", names.join(", "));
            if self.authors.len() > MAX_NAMES {
                line.push_str(" and others");
            }
            line.push(')');
        }
        if !complete && !line.is_empty() {
            line = format!("at least {line}");
        }
        let mut clauses = vec![line];
        if !self.last_answer.is_empty() {
            clauses.push(format!("last answer: {}", self.last_answer));
        }
        if self.question {
            clauses.push("a question waits for an answer".to_owned());
        }
        clauses.retain(|clause| !clause.is_empty());
        clauses.join("; ")
    }
}

#[cfg(test)]
mod tests;
