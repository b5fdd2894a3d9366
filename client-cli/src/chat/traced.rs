//! An event as one line of a trace: its number, its kind, and the little of it that fits.

use agentd_proto::v1;
use agentd_shared::text::one_line;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::json::EventView;

/// Columns for the number and for the kind.
const SEQ_WIDTH: usize = 5;
const KIND_WIDTH: usize = 18;

/// The line, in at most `width` columns and cut between words where that is possible.
pub(crate) fn line(event: &v1::Event, width: usize) -> String {
    let view = EventView::new(event).and_then(|view| serde_json::to_value(view).ok());
    let view = view.unwrap_or_default();
    let kind = view.get("kind").and_then(Value::as_str).unwrap_or("unknown");
    let text = view.get("body").map_or(String::new(), short_text);
    let seq = event.seq;
    words(&format!("{seq:>SEQ_WIDTH$}  {kind:<KIND_WIDTH$}  "), &text, width)
}

/// What tells most about an event: its own text, else its plain fields.
fn short_text(body: &Value) -> String {
    let Value::Object(fields) = body else { return String::new() };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    if let Some(message) = fields.get("error").and_then(|error| error.get("message")) {
        return message.as_str().unwrap_or_default().to_owned();
    }
    if let Some(name) = text("name") {
        let detail = text("arguments_json").or_else(|| text("output")).unwrap_or_default();
        return format!("{name} {detail}");
    }
    let telling = ["text", "title", "prompt", "choice"].into_iter().find_map(text);
    if let Some(telling) = telling {
        return telling.to_owned();
    }
    let plain = fields.iter().filter(|(name, _)| !name.ends_with("_id"));
    let plain = plain.filter_map(|(name, value)| match value {
        Value::String(text) if !text.is_empty() => Some(format!("{name}={text}")),
        Value::Number(number) => Some(format!("{name}={number}")),
        _ => None,
    });
    plain.collect::<Vec<_>>().join(" ")
}

/// Adds as many whole words as fit. The first one is cut when even that does not.
fn words(head: &str, text: &str, width: usize) -> String {
    let room = width.saturating_sub(head.width());
    // Whatever is cut off is not looked at.
    let whole = one_line(text, room);
    let Some(cut) = whole.strip_suffix('…').filter(|_| one_line(text, room + 1) != whole) else {
        return one_line_behind(head, &whole, width);
    };
    let kept = match cut.rsplit_once(' ') {
        Some((words, _)) => format!("{words} …"),
        None => whole.clone(),
    };
    one_line_behind(head, &kept, width)
}

fn one_line_behind(head: &str, text: &str, width: usize) -> String {
    let line = format!("{head}{text}");
    let line = line.trim_end();
    // Only on a terminal with no room for the head itself.
    if line.width() > width { one_line(line, width) } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use agentd_proto::v1::event::Body;

    use super::*;

    fn event(body: Body) -> v1::Event {
        v1::Event { seq: 12, body: Some(body), ..v1::Event::default() }
    }

    #[test]
    fn an_event_is_one_line_that_ends_with_a_word() {
        let check = |body: Body, width: usize, expect: &str| {
            assert_eq!(line(&event(body), width), expect);
        };
        let message = |text: &str| {
            Body::MessageAccepted(v1::MessageAccepted { text: text.into(), ..Default::default() })
        };
        check(message("hello\nworld"), 60, "   12  message_accepted    hello world");
        check(message("hello wonderful world"), 42, "   12  message_accepted    hello …");
        check(message("unbreakable"), 32, "   12  message_accepted    unbr…");
        check(message("\u{1b}[2J"), 60, "   12  message_accepted    \\u{1b}[2J");
        let call = v1::ToolCallStarted {
            name: "clock".into(),
            arguments_json: "{}".into(),
            ..Default::default()
        };
        check(Body::ToolCallStarted(call), 60, "   12  tool_call_started   clock {}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let text = "a title that is far longer than any terminal is wide".to_owned();
        let renamed = v1::SessionRenamed { title: text, ..Default::default() };
        for width in 20..90 {
            let line = line(&event(Body::SessionRenamed(renamed.clone())), width);
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}
