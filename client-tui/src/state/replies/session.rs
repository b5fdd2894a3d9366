//! What there is to tell of one session.

use agentd_proto::v1;
use agentd_shared::Transcript;
use agentd_shared::format::{Role, plan, session, trace};
use agentd_shared::text::one_line;

use crate::state::overlay::TextLine;

/// Columns of what an event says.
const TRACED: usize = 2_000;

/// What there is to tell of it.
pub(in crate::state) fn stats(detail: &v1::GetSessionResponse) -> Vec<TextLine> {
    let facts = session::facts(detail).into_iter();
    facts.map(|fact| TextLine::fact(fact, session::LABEL_WIDTH)).collect()
}

/// What the session has set out to do.
pub(in crate::state) fn todo(list: &v1::TodoList) -> Vec<TextLine> {
    lines(plan::todo_lines(list))
}

/// The plan, a line for each step.
pub(in crate::state) fn plan(plan: &v1::Plan) -> Vec<TextLine> {
    lines(plan::plan_lines(plan))
}

fn lines(told: Vec<(Role, String)>) -> Vec<TextLine> {
    told.into_iter().map(|(role, text)| TextLine::of(role, text)).collect()
}

/// Messages that wait, with the numbers that `/withdraw` takes.
pub(in crate::state) fn queue(transcript: &Transcript) -> Vec<TextLine> {
    let waiting = transcript.queue().enumerate().map(|(at, message)| {
        let how = match message.delivery {
            v1::Delivery::Steer => " (to the running turn)",
            v1::Delivery::Interrupt => " (cancels the running turn)",
            v1::Delivery::Queue | v1::Delivery::Unspecified => "",
        };
        let text = format!("{}{how}", one_line(&message.text, 500));
        TextLine::pair(&(at + 1).to_string(), 3, &text)
    });
    let lines: Vec<TextLine> = waiting.collect();
    if lines.is_empty() { vec![TextLine::of(Role::Dim, "no message waits")] } else { lines }
}

/// The newest events, a line each.
pub(in crate::state) fn traced(events: &[v1::Event]) -> Vec<TextLine> {
    let line = |event: &v1::Event| {
        let (kind, text) = event.body.as_ref().map_or(("unknown", String::new()), trace::told);
        let label = trace::head(event.seq, kind);
        TextLine { label, ..TextLine::plain(one_line(&text, TRACED)) }
    };
    events.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_told_as_agentctl_tells_it() {
        let renamed = v1::SessionRenamed { title: "tax".into(), ..Default::default() };
        let body = Some(v1::event::Body::SessionRenamed(renamed));
        let event = v1::Event { seq: 7, body, ..Default::default() };
        let told = traced(std::slice::from_ref(&event));
        assert_eq!(told[0].whole(), trace::line(&event, 80));
        assert_eq!(told[0].whole(), "    7  session_renamed     tax");
    }
}
