//! What was said in all sessions.

use agentd_proto::v1;
use agentd_shared::text::{grouped, one_line, relative_time};

use super::{Ink, PaneRow, PaneWish};
use crate::conn::Command;

/// Messages that are listed.
const LIMIT: u32 = 100;

pub(super) fn find(words: &str) -> Command {
    Command::SearchMessages(v1::SearchMessagesRequest {
        question: words.to_owned(),
        limit: LIMIT,
        ..v1::SearchMessagesRequest::default()
    })
}

pub(super) fn heading(found: &v1::SearchMessagesResponse) -> String {
    let more = if found.truncated { " and more" } else { "" };
    format!(
        "{}{more} of {} messages in {} sessions",
        found.messages.len(),
        grouped(found.messages_searched),
        found.sessions
    )
}

/// What the answer does not hold.
pub(super) fn remark(found: &v1::SearchMessagesResponse) -> Option<String> {
    let mut parts = Vec::new();
    if found.sessions_unread > 0 {
        let count = found.sessions_unread;
        parts.push(format!("{count} sessions are still being read; r asks again"));
    }
    if found.sessions_damaged > 0 {
        parts.push(format!("{} sessions are damaged", found.sessions_damaged));
    }
    if found.messages_left_out > 0 {
        parts.push(format!("{} older messages are not searched", grouped(found.messages_left_out)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

pub(super) fn rows(found: &v1::SearchMessagesResponse, now_ms: i64) -> Vec<PaneRow> {
    let row = |message: &v1::FoundMessage| PaneRow {
        mark: match message.by() {
            v1::Speaker::Assistant => "agent",
            v1::Speaker::User | v1::Speaker::Unspecified => "you",
        }
        .to_owned(),
        ink: Ink::Dim,
        text: one_line(&message.snippet, 400),
        side: format!(
            "{} · {}",
            one_line(&message.title, 24),
            relative_time(message.at_ms, now_ms)
        ),
    };
    found.messages.iter().map(row).collect()
}

/// Where a message is.
pub(super) fn place(found: &v1::SearchMessagesResponse, selected: usize) -> PaneWish {
    found.messages.get(selected).map_or(PaneWish::Nothing, |message| PaneWish::Go {
        session_id: message.session_id.clone(),
        seq: message.seq,
    })
}
