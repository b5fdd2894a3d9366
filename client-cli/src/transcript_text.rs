//! A session as Markdown, for people to keep.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::text::one_line;

/// Longest tool output that is quoted, in lines.
const MAX_OUTPUT_LINES: usize = 40;

/// The heading of a session.
pub(crate) fn title(session: &v1::Session) -> String {
    let title = match one_line(&session.title, 200) {
        empty if empty.is_empty() => format!("Session {}", session.session_id),
        title => title,
    };
    format!("# {title}\n")
}

/// What an event adds; empty for events that are not part of the conversation.
pub(crate) fn markdown(event: &v1::Event) -> String {
    match &event.body {
        Some(Body::MessageAccepted(message)) => {
            let name = message.author.as_ref().map_or("somebody", |author| author.name.as_str());
            format!("\n## {}\n\n{}\n", one_line(name, 80), message.text.trim_end())
        }
        Some(Body::AssistantMessage(message)) if !message.text.trim().is_empty() => {
            format!("\n## Agent\n\n{}\n", message.text.trim_end())
        }
        Some(Body::ToolCallStarted(call)) => {
            format!(
                "\n> tool `{}` {}\n",
                one_line(&call.name, 80),
                one_line(&call.arguments_json, 200)
            )
        }
        Some(Body::ToolCallFinished(call)) => fenced(&call.output),
        Some(Body::TurnFailed(failed)) => {
            let error = failed.error.clone().unwrap_or_default();
            format!("\n> failed: {}\n", one_line(&error.message, 500))
        }
        Some(Body::TurnInterrupted(_)) => "\n> interrupted\n".to_owned(),
        _ => String::new(),
    }
}

/// Quotes a text in a fence that is longer than any inside.
fn fenced(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text
        .lines()
        .map(|line| line.trim_start().bytes().take_while(|byte| *byte == b'`').count())
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.iter().take(MAX_OUTPUT_LINES).copied().collect::<Vec<_>>().join("\n");
    let quoted = match lines.len().saturating_sub(MAX_OUTPUT_LINES) {
        0 => shown,
        more => format!("{shown}\n... {more} more lines"),
    };
    format!("\n{fence}\n{quoted}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fenced("a\n```\nb"), "\n````\na\n```\nb\n````\n");
        assert_eq!(fenced("  \n"), "");
        let long = "x\n".repeat(50);
        assert!(fenced(&long).contains("... 10 more lines"));
    }

    #[test]
    fn messages_become_sections_and_bookkeeping_nothing() {
        let event = |body| v1::Event { seq: 1, body: Some(body), ..Default::default() };
        let message = v1::MessageAccepted {
            text: "hi\n".into(),
            author: Some(v1::Author { client_id: "x".into(), name: "ann".into() }),
            ..Default::default()
        };
        assert_eq!(markdown(&event(Body::MessageAccepted(message))), "\n## ann\n\nhi\n");
        assert_eq!(markdown(&event(Body::UsageRecorded(v1::UsageRecorded::default()))), "");
    }
}
