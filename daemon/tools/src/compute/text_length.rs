//! How long a text is, in every unit that people mean by it.

use agentd_domain::{Action, Capabilities, ToolResult};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::{About, Rank, ToolContext, TypedTool};

/// Arguments of text_length.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The text to measure, exactly as it is.
    text: String,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct TextLength;

#[async_trait]
impl TypedTool for TextLength {
    type Arguments = Arguments;

    fn about(&self) -> About {
        About {
            name: "text_length",
            description: "Counts a text: bytes in UTF-8, characters (Unicode code points), \
                          graphemes (what a reader sees as one character), words, lines, and the \
                          width of its widest line in terminal columns.",
            capabilities: Capabilities::PURE,
            aliases: &["get_text_length"],
        }
    }

    fn rank(&self) -> Rank {
        Rank::Second
    }

    async fn run(&self, _ctx: &ToolContext, arguments: Arguments, _planned: &Action) -> ToolResult {
        ToolResult::success(measure(&arguments.text))
    }
}

fn measure(text: &str) -> String {
    let width = text.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap_or(0);
    format!(
        "bytes: {}\ncharacters: {}\ngraphemes: {}\nwords: {}\nlines: {}\nwidth: {width}",
        text.len(),
        text.chars().count(),
        text.graphemes(true).count(),
        text.unicode_words().count(),
        text.lines().count(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn en_01_texts_are_counted_in_each_unit() {
        let check = |text: &str, expect: [usize; 6]| {
            let [bytes, characters, graphemes, words, lines, width] = expect;
            let expect = format!(
                "bytes: {bytes}\ncharacters: {characters}\ngraphemes: {graphemes}\n\
                 words: {words}\nlines: {lines}\nwidth: {width}"
            );
            assert_eq!(measure(text), expect, "{text:?}");
        };
        check("", [0, 0, 0, 0, 0, 0]);
        check("hello world", [11, 11, 11, 2, 1, 11]);
        check("one\ntwo three\n", [14, 14, 14, 3, 2, 9]);
        check("e\u{301}", [3, 2, 1, 1, 1, 1]);
        check("世界", [6, 2, 2, 2, 1, 4]);
        check("👨‍👩‍👧‍👦", [25, 7, 1, 0, 1, 2]);
    }
}
