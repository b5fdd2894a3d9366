//! The output items of an earlier answer, for sending them back as they came.
//!
//! A reasoning item holds encrypted content that must not change, and belongs to the item that followed
//! it. So the items of an answer go back verbatim and in order, or the answer is told in our own
//! words without its reasoning. That they fit the message is what `well_formed` has seen to.

use std::borrow::Cow;

use agentd_domain::NativeBlocks;
use serde::Deserialize;

use super::KIND;
use crate::native::{self, Native};

/// Most bytes of the id of a call.
const MAX_CALL_ID: usize = 64;

/// An item of an answer.
pub(super) type NativeItem<'a> = Native<'a, NativeKind<'a>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NativeKind<'a> {
    Reasoning,
    Message,
    /// A tool call with the provider's id.
    Call(Cow<'a, str>),
}

/// The fields by which an item is judged.
#[derive(Deserialize)]
struct Judged<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    encrypted_content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
}

/// The items of an answer with `calls` tool calls, if this model wrote them and the API takes them
/// back as they are.
pub(super) fn usable<'a>(
    native: &'a NativeBlocks,
    model: &str,
    calls: usize,
) -> Option<Vec<NativeItem<'a>>> {
    let items = native::blocks(native, KIND, model, judge)?;
    let is_paired = call_ids(&items).count() == calls;
    // Reasoning belongs to what follows it.
    let has_end = items.last()?.kind != NativeKind::Reasoning;
    (is_paired && has_end).then_some(items)
}

/// The provider's ids of the calls among the items, in order.
pub(super) fn call_ids<'a>(items: &'a [NativeItem<'_>]) -> impl Iterator<Item = &'a str> {
    items.iter().filter_map(|item| match &item.kind {
        NativeKind::Call(id) => Some(id.as_ref()),
        NativeKind::Reasoning | NativeKind::Message => None,
    })
}

/// Reads an item; none when the API would not take it.
fn judge(item: &str) -> Option<NativeKind<'_>> {
    let judged: Judged<'_> = serde_json::from_str(item).ok()?;
    let is_said = |text: &Cow<'_, str>| !text.trim().is_empty();
    Some(match judged.r#type.as_ref() {
        "reasoning" if judged.encrypted_content.as_ref().is_some_and(is_said) => {
            NativeKind::Reasoning
        }
        "message" => NativeKind::Message,
        "function_call" => {
            let is_id = |id: &Cow<'_, str>| is_said(id) && id.len() <= MAX_CALL_ID;
            NativeKind::Call(judged.call_id.filter(is_id)?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THOUGHT: &str = r#"{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}"#;
    const SAID: &str = r#"{"type":"message","content":[{"type":"output_text","text":"hi"}]}"#;
    const CALL: &str = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#;

    fn is_usable(items: &[&str], calls: usize) -> bool {
        let native = NativeBlocks {
            api: KIND.to_owned(),
            model: "m".to_owned(),
            blocks: items.iter().map(|item| (*item).to_owned()).collect(),
        };
        assert!(usable(&native, "another", calls).is_none());
        let of_another_api = NativeBlocks { api: "anthropic".to_owned(), ..native.clone() };
        assert!(usable(&of_another_api, "m", calls).is_none());
        usable(&native, "m", calls).is_some()
    }

    #[test]
    fn ps_13_only_items_that_the_api_takes_go_back() {
        assert!(is_usable(&[THOUGHT, SAID], 0));
        assert!(is_usable(&[THOUGHT, SAID, THOUGHT, CALL], 1));
        for item in [
            "",
            "null",
            "{",
            r#"{"type":"reasoning","summary":[]}"#,
            r#"{"type":"reasoning","summary":[],"encrypted_content":""}"#,
            r#"{"type":"web_search_call","id":"ws"}"#,
        ] {
            assert!(!is_usable(&[THOUGHT, item, SAID], 0), "{item}");
        }
        let call = r#"{"type":"function_call","call_id":"","name":"f","arguments":"{}"}"#;
        assert!(!is_usable(&[THOUGHT, call], 1));
    }

    #[test]
    fn ps_13_items_that_do_not_match_the_answer_do_not_go_back() {
        assert!(!is_usable(&[], 0));
        assert!(!is_usable(&[THOUGHT], 0));
        assert!(!is_usable(&[SAID, THOUGHT], 0));
        assert!(!is_usable(&[THOUGHT, CALL], 0));
        assert!(!is_usable(&[THOUGHT, SAID], 1));
    }
}
