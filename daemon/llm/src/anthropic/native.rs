//! The blocks of an earlier answer, for sending them back as they came.
//!
//! A thinking block carries a signature over what it says and must not change. So the blocks of an
//! answer go back verbatim and in order, or the answer is sent in our own form, without thinking. What
//! is common to all APIs (ids that are taken, blank blocks) `well_formed` has seen to.

use std::borrow::Cow;
use std::collections::HashSet;

use agentd_domain::NativeBlocks;
use serde::Deserialize;
use serde_json::Value;

use super::KIND;
use crate::native::{self, Native};

/// Most characters of an id and of a name.
const MAX_NAME: usize = 64;

/// A block of an answer.
pub(super) type NativeBlock<'a> = Native<'a, NativeKind<'a>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NativeKind<'a> {
    /// Thinking, readable or not.
    Thinking,
    Text,
    /// A tool call with the provider's id.
    ToolUse(&'a str),
}

/// The fields by which a block is judged.
#[derive(Deserialize)]
struct Judged<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    data: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    /// Legal ids hold nothing that JSON escapes.
    #[serde(borrow, default)]
    id: Option<&'a str>,
    #[serde(borrow, default)]
    name: Option<&'a str>,
    #[serde(default)]
    input: Option<Value>,
}

/// The blocks of an answer with `calls` tool calls, if this model wrote them and the API takes them
/// back as they are.
pub(super) fn usable<'a>(
    native: &'a NativeBlocks,
    model: &str,
    calls: usize,
) -> Option<Vec<NativeBlock<'a>>> {
    let blocks = native::blocks(native, KIND, model, judge)?;
    let ids: Vec<&str> = tool_ids(&blocks).collect();
    let is_paired = ids.len() == calls && ids.iter().collect::<HashSet<_>>().len() == calls;
    // Neither thinking nor, after calls, anything else may stand last.
    let has_end = match blocks.last()?.kind {
        NativeKind::Thinking => false,
        NativeKind::Text => calls == 0,
        NativeKind::ToolUse(_) => true,
    };
    (is_paired && has_end).then_some(blocks)
}

/// The provider's ids of the calls among the blocks, in order.
pub(super) fn tool_ids<'a>(blocks: &[NativeBlock<'a>]) -> impl Iterator<Item = &'a str> {
    blocks.iter().filter_map(|block| match block.kind {
        NativeKind::ToolUse(id) => Some(id),
        NativeKind::Thinking | NativeKind::Text => None,
    })
}

/// Reads a block; none when the API would not take it.
fn judge(block: &str) -> Option<NativeKind<'_>> {
    let judged: Judged<'_> = serde_json::from_str(block).ok()?;
    let is_said =
        |text: &Option<Cow<'_, str>>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    Some(match judged.r#type.as_ref() {
        // The thinking itself may be empty: some models show none.
        "thinking" if judged.thinking.is_some() && is_said(&judged.signature) => {
            NativeKind::Thinking
        }
        "redacted_thinking" if is_said(&judged.data) => NativeKind::Thinking,
        "text" if is_said(&judged.text) => NativeKind::Text,
        "tool_use" if judged.input.is_some_and(|input| input.is_object()) => {
            judged.name.filter(|name| is_legal_name(name))?;
            NativeKind::ToolUse(judged.id.filter(|id| is_legal_name(id))?)
        }
        _ => return None,
    })
}

/// A text of the characters that ids and names may hold.
fn is_legal_name(text: &str) -> bool {
    let is_legal = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THINKING: &str = r#"{"type":"thinking","thinking":"T","signature":"s"}"#;
    const TEXT: &str = r#"{"type":"text","text":"hi"}"#;
    const CALL: &str = r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{}}"#;

    fn is_usable(blocks: &[&str], calls: usize) -> bool {
        let native = NativeBlocks {
            api: "anthropic".to_owned(),
            model: "m".to_owned(),
            blocks: blocks.iter().map(|block| (*block).to_owned()).collect(),
        };
        assert!(usable(&native, "another", calls).is_none());
        usable(&native, "m", calls).is_some()
    }

    #[test]
    fn ps_13_only_blocks_that_the_api_takes_go_back() {
        assert!(is_usable(&[THINKING, TEXT], 0));
        assert!(is_usable(&[THINKING, TEXT, CALL], 1));
        assert!(is_usable(&[r#"{"type":"redacted_thinking","data":"d"}"#, CALL], 1));
        assert!(is_usable(&[r#"{"type":"thinking","thinking":"","signature":"s"}"#, TEXT], 0));
        // What is no block, or none that may go back.
        for block in [
            "",
            "null",
            "{",
            r#"{"type":"thinking","thinking":"T"}"#,
            r#"{"type":"thinking","thinking":"T","signature":""}"#,
            r#"{"type":"redacted_thinking"}"#,
            r#"{"type":"text","text":" \n"}"#,
            r#"{"type":"server_tool_use","id":"x"}"#,
        ] {
            assert!(!is_usable(&[THINKING, block, TEXT], 0), "{block}");
        }
        for call in [
            r#"{"type":"tool_use","id":"a b","name":"f","input":{}}"#,
            r#"{"type":"tool_use","id":"a","name":"","input":{}}"#,
            r#"{"type":"tool_use","id":"a","name":"f","input":[]}"#,
            r#"{"type":"tool_use","id":"a","name":"f"}"#,
        ] {
            assert!(!is_usable(&[THINKING, call], 1), "{call}");
        }
    }

    #[test]
    fn ps_13_blocks_that_do_not_match_the_answer_do_not_go_back() {
        assert!(!is_usable(&[], 0));
        assert!(!is_usable(&[THINKING], 0));
        assert!(!is_usable(&[TEXT, THINKING], 0));
        assert!(!is_usable(&[THINKING, CALL], 0));
        assert!(!is_usable(&[THINKING, TEXT], 1));
        assert!(!is_usable(&[THINKING, CALL, CALL], 2));
        assert!(!is_usable(&[THINKING, CALL, TEXT], 1));
    }
}
