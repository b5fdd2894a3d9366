//! Estimating token counts without a tokenizer (spec c.7).

use agentd_domain::NativeBlocks;

use crate::Message;

/// What a message costs beside its texts.
const PER_MESSAGE: u64 = 4;
/// What a picture costs.
const PER_IMAGE: u64 = 85;

/// Estimates the tokens of a text: a quarter of its ASCII characters, rounded up, and one for each
/// other character.
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // Each character has exactly one byte that is not a continuation.
    let starts = text.bytes().filter(|byte| byte & 0xC0 != 0x80).count();
    let tokens = ascii.div_ceil(4).saturating_add(starts.saturating_sub(ascii));
    u64::try_from(tokens).unwrap_or(u64::MAX)
}

/// Estimates the tokens of a message: all that it sends, reasoning included, and 4 for its frame. Native
/// blocks say the same as the message in another form, unless encrypted reasoning makes them the larger.
pub fn estimate_message_tokens(message: &Message) -> u64 {
    let texts = match message {
        Message::System(text) => estimate_tokens(text),
        Message::User { text, images } => {
            let images = u64::try_from(images.len()).unwrap_or(u64::MAX);
            estimate_tokens(text).saturating_add(images.saturating_mul(PER_IMAGE))
        }
        Message::Assistant { reasoning, text, tool_calls, native } => {
            let calls: u64 = tool_calls
                .iter()
                .map(|call| estimate_tokens(&call.name) + estimate_tokens(&call.arguments_json))
                .sum();
            let words = estimate_tokens(reasoning) + estimate_tokens(text) + calls;
            words.max(native.as_deref().map_or(0, estimate_native_tokens))
        }
        Message::Tool { name: _, call_id: _, output } => estimate_tokens(output),
    };
    texts.saturating_add(PER_MESSAGE)
}

/// A quarter of the bytes that base 64 stands for: 4 of its characters are 3 bytes.
fn estimate_native_tokens(native: &NativeBlocks) -> u64 {
    let bytes: usize = native.blocks.iter().map(String::len).sum();
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(3).div_ceil(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_counts_a_quarter_and_the_rest_one() {
        let check = |text: &str, expect: u64| assert_eq!(estimate_tokens(text), expect, "{text}");
        check("", 0);
        check("a", 1);
        check("abcd", 1);
        check("abcde", 2);
        check("使用", 2);
        check("a使用😀", 4);
    }

    #[test]
    fn a_message_costs_four_more() {
        assert_eq!(estimate_message_tokens(&Message::user("abcd")), 5);
        let call = agentd_domain::ToolCall {
            call_id: "c".parse().expect("an id"),
            name: "time".to_owned(),
            arguments_json: "{}".to_owned(),
        };
        let message = Message::Assistant {
            native: None,
            reasoning: "abcd".to_owned(),
            text: "日本".to_owned(),
            tool_calls: vec![call],
        };
        assert_eq!(estimate_message_tokens(&message), 4 + 1 + 2 + 1 + 1);
        let with_native = |bytes: usize| {
            let Message::Assistant { reasoning, text, tool_calls, .. } = message.clone() else {
                panic!("{message:?}")
            };
            let (api, model) = ("anthropic".to_owned(), "m".to_owned());
            let native = NativeBlocks { api, model, blocks: vec!["x".repeat(bytes)] };
            Message::Assistant { native: Some(native.into()), reasoning, text, tool_calls }
        };
        assert_eq!(estimate_message_tokens(&with_native(16)), 9, "the same in another form");
        assert_eq!(estimate_message_tokens(&with_native(1600)), 304, "encrypted reasoning");
    }
}
