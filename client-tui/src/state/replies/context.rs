//! What requests are made of.

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::context::Bars;
use agentd_shared::format::{self, Role};
use agentd_shared::text::{one_line, relative_time};

use crate::state::overlay::TextLine;

/// The layers with what each takes, and what stands beside them.
pub(in crate::state) fn context(context: &v1::GetContextResponse) -> Vec<TextLine> {
    let lines = format::context::lines(context, "", Bars::Fine);
    let line = |(at, line): (usize, String)| match at {
        0 => TextLine::of(Role::Heading, line),
        _ => TextLine::plain(line),
    };
    lines.into_iter().enumerate().map(line).collect()
}

/// What is pinned, with the numbers by which it is taken back.
pub(in crate::state) fn pins(pins: &[String]) -> Vec<TextLine> {
    if pins.is_empty() {
        return vec![TextLine::of(Role::Dim, "nothing is pinned; /pin TEXT pins something")];
    }
    let numbered = pins.iter().enumerate();
    numbered.map(|(at, pin)| TextLine::pair(&(at + 1).to_string(), 3, pin)).collect()
}

/// The lines of the summary, with the numbers that `/expand` takes.
pub(in crate::state) fn summary(context: &v1::GetContextResponse) -> Vec<TextLine> {
    let Some(summary) = context.summary.as_ref().filter(|summary| !summary.lines.is_empty()) else {
        return vec![TextLine::of(Role::Dim, "nothing was folded yet; /compact folds older turns")];
    };
    let numbered = summary.lines.iter().enumerate();
    numbered.map(|(at, line)| TextLine::pair(&(at + 1).to_string(), 3, &line.text)).collect()
}

/// What a line of the summary was made from.
pub(in crate::state) fn expanded(expanded: &v1::ExpandSummaryResponse) -> Vec<TextLine> {
    let line = expanded.line.as_ref().map_or("", |line| line.text.as_str());
    let mut lines = vec![TextLine::of(Role::Heading, line)];
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    for message in &expanded.messages {
        let who = one_line(&message.who, 40);
        let when = relative_time(message.at_ms, now);
        lines.push(TextLine::of(Role::Name, format!("{who} · {when} · {}", message.seq)));
        let text = message.text.lines().map(|line| TextLine::plain(format!("  {line}")));
        lines.extend(text);
    }
    if expanded.truncated {
        lines.push(TextLine::of(Role::Dim, "more was said than is shown here"));
    }
    lines
}
