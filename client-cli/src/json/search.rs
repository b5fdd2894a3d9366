//! Views of what a search has found.

use agentd_proto::v1;
use serde::Serialize;

/// What was found, and where it was looked for.
#[derive(Debug, Serialize)]
pub(crate) struct SearchView<'a> {
    messages: Vec<FoundMessageView<'a>>,
    truncated: bool,
    sessions: u32,
    sessions_unread: u32,
    sessions_damaged: u32,
    messages_searched: u64,
    messages_left_out: u64,
}

#[derive(Debug, Serialize)]
struct FoundMessageView<'a> {
    session_id: &'a str,
    title: &'a str,
    seq: u64,
    at_ms: i64,
    by: String,
    author_name: &'a str,
    snippet: &'a str,
    score: f32,
}

impl<'a> From<&'a v1::SearchMessagesResponse> for SearchView<'a> {
    fn from(answer: &'a v1::SearchMessagesResponse) -> Self {
        let v1::SearchMessagesResponse {
            messages,
            truncated,
            sessions,
            sessions_unread,
            sessions_damaged,
            messages_searched,
            messages_left_out,
        } = answer;
        Self {
            messages: messages.iter().map(FoundMessageView::from).collect(),
            truncated: *truncated,
            sessions: *sessions,
            sessions_unread: *sessions_unread,
            sessions_damaged: *sessions_damaged,
            messages_searched: *messages_searched,
            messages_left_out: *messages_left_out,
        }
    }
}

impl<'a> From<&'a v1::FoundMessage> for FoundMessageView<'a> {
    fn from(found: &'a v1::FoundMessage) -> Self {
        let v1::FoundMessage { session_id, title, seq, at_ms, by, author_name, snippet, score } =
            found;
        Self {
            session_id,
            title,
            seq: *seq,
            at_ms: *at_ms,
            by: super::speaker(*by),
            author_name,
            snippet,
            score: *score,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_keeps_the_names_of_the_contract() {
        let found = v1::FoundMessage {
            session_id: "S".into(),
            title: "T".into(),
            seq: 3,
            at_ms: 4,
            by: v1::Speaker::Assistant.into(),
            author_name: String::new(),
            snippet: "…x".into(),
            score: 0.5,
        };
        let answer = v1::SearchMessagesResponse {
            messages: vec![found],
            truncated: true,
            sessions: 1,
            sessions_unread: 2,
            sessions_damaged: 3,
            messages_searched: 4,
            messages_left_out: 5,
        };
        assert_eq!(
            serde_json::to_string(&SearchView::from(&answer)).unwrap(),
            r#"{"messages":[{"session_id":"S","title":"T","seq":3,"at_ms":4,"by":"assistant","author_name":"","snippet":"…x","score":0.5}],"truncated":true,"sessions":1,"sessions_unread":2,"sessions_damaged":3,"messages_searched":4,"messages_left_out":5}"#
        );
    }
}
