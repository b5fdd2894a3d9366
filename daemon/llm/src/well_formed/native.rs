//! Answers in their provider's own form: as they came, or not at all.
//!
//! Signed blocks are refused when a byte of them changed, and blocks that do not fit the rest of the
//! request are refused with it. A text block without text is the one thing left out of them: providers
//! send such blocks and refuse to take them back.

use std::sync::Arc;

use agentd_domain::{NativeBlocks, ToolCall};
use serde_json::Value;

use super::calls::CallIds;
use super::text::is_blank;

/// A block, as far as it must fit the request.
struct Block {
    /// What Responses calls it by. Two of one id are refused.
    item_id: Option<String>,
    content: Content,
}

enum Content {
    /// A call by its id there and the name of its tool.
    Call { id: String, name: String },
    /// Text for the user.
    Text,
    /// Text for the user without any.
    Blank,
    /// Anything else.
    Other,
}

/// The blocks, if the message may be sent in their form.
pub(super) fn usable(
    native: Arc<NativeBlocks>,
    text: &str,
    calls: &[ToolCall],
    ids: &mut CallIds,
) -> Option<Arc<NativeBlocks>> {
    let blocks: Option<Vec<Block>> =
        native.blocks.iter().map(|block| read(&native.api, block)).collect();
    let blocks = blocks.filter(|blocks| !blocks.is_empty())?;
    if is_checked(&native.api) && !(fits(&blocks, text, calls) && claim(&blocks, calls, ids)) {
        return None;
    }
    let is_blank = |block: &Block| matches!(block.content, Content::Blank);
    if !blocks.iter().any(is_blank) {
        return Some(native);
    }
    let kept = native.blocks.iter().zip(&blocks).filter(|(_, block)| !is_blank(block));
    Some(Arc::new(NativeBlocks {
        api: native.api.clone(),
        model: native.model.clone(),
        blocks: kept.map(|(json, _)| json.clone()).collect(),
    }))
}

/// True when the blocks say what the message says.
fn fits(blocks: &[Block], text: &str, calls: &[ToolCall]) -> bool {
    let names = blocks.iter().filter_map(|block| match &block.content {
        Content::Call { name, .. } => Some(name.as_str()),
        _ => None,
    });
    let has_text = blocks.iter().any(|block| matches!(block.content, Content::Text));
    has_text != text.is_empty() && names.eq(calls.iter().map(|call| call.name.as_str()))
}

/// Takes the blocks' ids, if none of them stands for something else already.
fn claim(blocks: &[Block], calls: &[ToolCall], ids: &mut CallIds) -> bool {
    let mut calls = calls.iter();
    let mut claims = Vec::new();
    for Block { item_id, content } in blocks {
        claims.extend(item_id.as_deref().map(|id| (id, None)));
        if let Content::Call { id, .. } = content {
            claims.push((id, calls.next().map(|call| call.call_id.as_str())));
        }
    }
    ids.claim(&claims)
}

/// True for the APIs whose blocks are the whole message; others keep only what goes beside it.
fn is_checked(api: &str) -> bool {
    matches!(api, "anthropic" | "openai-responses")
}

/// Reads a block. None when it is no JSON object, or a call that would be refused.
fn read(api: &str, json: &str) -> Option<Block> {
    let Ok(Value::Object(block)) = serde_json::from_str(json) else { return None };
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    let text = |text: &str| if is_blank(text) { Content::Blank } else { Content::Text };
    let content = match (api, field("type")) {
        ("anthropic", Some("tool_use")) => {
            block.get("input").filter(|input| input.is_object())?;
            Content::Call { id: field("id")?.to_owned(), name: field("name")?.to_owned() }
        }
        ("anthropic", Some("text")) => text(field("text")?),
        ("openai-responses", Some("function_call")) => {
            serde_json::from_str::<Value>(field("arguments")?).ok().filter(Value::is_object)?;
            Content::Call { id: field("call_id")?.to_owned(), name: field("name")?.to_owned() }
        }
        ("openai-responses", Some("message")) => {
            let parts = block.get("content")?.as_array()?;
            let said = |part: &Value| {
                let said = part.get("text").or_else(|| part.get("refusal"));
                said.and_then(Value::as_str).is_some_and(|text| !is_blank(text))
            };
            // Reasoning must be followed by what followed it, so that this cannot go alone.
            parts.iter().any(said).then_some(Content::Text)?
        }
        ("anthropic" | "openai-responses", None) => return None,
        _ => Content::Other,
    };
    let item_id = field("id").filter(|id| api == "openai-responses" && !id.is_empty());
    let item_id = item_id.map(str::to_owned);
    Some(Block { item_id, content })
}
