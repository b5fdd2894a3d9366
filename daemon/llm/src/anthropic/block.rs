//! The messages and blocks of a request.

use agentd_domain::ToolCall;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::native::{NativeBlock, NativeKind};
use crate::Image;

/// A message.
#[derive(Debug, Serialize)]
pub(super) struct WireMessage<'a> {
    pub(super) role: WireRole,
    pub(super) content: Vec<Block<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WireRole {
    User,
    Assistant,
}

/// A block of a message.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Block<'a> {
    /// Made of our own fields.
    Own(OwnBlock<'a>),
    /// As it came.
    Native(NativeBlock<'a>),
}

#[derive(Debug, Serialize)]
pub(super) struct OwnBlock<'a> {
    #[serde(flatten)]
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text { text: &'a str },
    Image { source: ImageSource<'a> },
    ToolUse { id: &'a str, name: &'a str, input: JsonText<'a> },
    ToolResult { tool_use_id: &'a str, content: &'a str },
}

#[derive(Debug, Serialize)]
struct ImageSource<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// A place up to which the provider keeps what it has read.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct CacheControl {
    r#type: &'static str,
}

impl CacheControl {
    /// Kept for five minutes after each use.
    pub(super) const EPHEMERAL: Self = Self { r#type: "ephemeral" };
}

impl<'a> Block<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::own(Content::Text { text })
    }

    pub(super) fn image(image: &'a Image) -> Self {
        let Image { media_type, data_base64 } = image;
        let source = ImageSource { r#type: "base64", media_type, data: data_base64 };
        Self::own(Content::Image { source })
    }

    pub(super) fn tool_use(call: &'a ToolCall) -> Self {
        let ToolCall { call_id, name, arguments_json } = call;
        Self::own(Content::ToolUse { id: call_id.as_str(), name, input: JsonText(arguments_json) })
    }

    pub(super) fn tool_result(tool_use_id: &'a str, content: &'a str) -> Self {
        Self::own(Content::ToolResult { tool_use_id, content })
    }

    fn own(content: Content<'a>) -> Self {
        Self::Own(OwnBlock { content, cache_control: None })
    }

    /// True when it is thinking, which only native blocks are.
    pub(super) fn is_thinking(&self) -> bool {
        matches!(self, Self::Native(NativeBlock { kind: NativeKind::Thinking, .. }))
    }

    pub(super) fn is_tool_result(&self) -> bool {
        matches!(self, Self::Own(OwnBlock { content: Content::ToolResult { .. }, .. }))
    }

    /// Asks to keep what was read up to here. Native blocks stay as they are.
    pub(super) fn set_cache_control(&mut self) {
        if let Self::Own(block) = self {
            block.cache_control = Some(CacheControl::EPHEMERAL);
        }
    }
}

/// A text that is JSON already.
#[derive(Debug)]
struct JsonText<'a>(&'a str);

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}
