//! What requests are made of.

use agentd_proto::v1;
use agentd_shared::client_ids::now_ms;
use agentd_shared::format::Role;
use agentd_shared::text::{grouped, one_line, relative_time};

use crate::state::overlay::TextLine;

/// Columns of a bar.
const BAR: u64 = 24;
/// Columns of a name.
const NAME: usize = 20;

/// The layers with what each takes, and what stands beside them.
pub(in crate::state) fn context(context: &v1::GetContextResponse) -> Vec<TextLine> {
    let used = context.layers.iter().fold(0_u64, |sum, layer| sum.saturating_add(layer.tokens));
    let window = context.window_tokens;
    let free = window.saturating_sub(context.answer_tokens).saturating_sub(used);
    let model = if context.model.is_empty() { "no model" } else { &context.model };
    let heading = format!(
        "{model} · {} of {} tokens, counted by {} × {:.2}",
        grouped(used),
        grouped(window),
        context.counted_by,
        context.calibration
    );
    let mut lines = vec![TextLine::of(Role::Heading, heading)];
    let layers = context.layers.iter().map(|layer| (layer_name(layer.kind()), layer.tokens));
    for (name, tokens) in
        layers.chain([("kept for the answer", context.answer_tokens), ("free", free)])
    {
        let share = (u128::from(tokens) * u128::from(BAR)).div_ceil(u128::from(window.max(1)));
        let bar = "█".repeat(usize::try_from(share).unwrap_or_default());
        let text = format!("{name:<NAME$} {:>9}  {bar}", grouped(tokens));
        lines.push(TextLine::plain(text.trim_end()));
    }
    lines.push(TextLine::of(
        Role::Dim,
        format!(
            "{} turns are told whole; above {} tokens parts of older turns are left out, above {} \
             older turns are folded",
            context.turns,
            grouped(context.trim_above_tokens),
            grouped(context.compact_above_tokens)
        ),
    ));
    if !context.project_document.is_empty() {
        lines.push(TextLine::pair("project document", 16, &context.project_document));
    }
    if let Some(summary) = &context.summary {
        let count = summary.lines.len();
        lines.push(TextLine::pair("summary", 16, &format!("{count} lines (/expand shows them)")));
    }
    if !context.pins.is_empty() {
        lines.push(TextLine::of(Role::Heading, "pinned"));
        lines.extend(pins(&context.pins));
    }
    if !context.stopped.is_empty() {
        let text = format!("folding has stopped: {}", context.stopped);
        lines.push(TextLine::of(Role::Warn, text));
    }
    lines
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

fn layer_name(kind: v1::ContextLayerKind) -> &'static str {
    match kind {
        v1::ContextLayerKind::Unspecified => "other",
        v1::ContextLayerKind::System => "instructions",
        v1::ContextLayerKind::Tools => "tools",
        v1::ContextLayerKind::Project => "project document",
        v1::ContextLayerKind::Summary => "summary",
        v1::ContextLayerKind::Recalled => "recalled turns",
        v1::ContextLayerKind::Memories => "memories",
        v1::ContextLayerKind::Resumed => "reminders",
        v1::ContextLayerKind::User => "users",
        v1::ContextLayerKind::Assistant => "assistant",
        v1::ContextLayerKind::ToolOutputs => "tool outputs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_has_its_tokens_and_a_bar() {
        let layer = |kind: v1::ContextLayerKind, tokens| v1::ContextLayer {
            kind: kind.into(),
            tokens,
            messages: 1,
        };
        let told = context(&v1::GetContextResponse {
            model: "gpt-5".to_owned(),
            window_tokens: 1_000,
            answer_tokens: 250,
            layers: vec![
                layer(v1::ContextLayerKind::System, 1),
                layer(v1::ContextLayerKind::User, 500),
            ],
            pins: vec!["keep to tabs".to_owned()],
            ..Default::default()
        });
        let told: Vec<String> = told.iter().map(TextLine::whole).collect();
        assert_eq!(told[1], "instructions                 1  █");
        assert_eq!(told[2], "users                      500  ████████████");
        assert_eq!(told[4], "free                       249  ██████");
        assert_eq!(told.last().unwrap(), "1    keep to tabs");
    }
}
