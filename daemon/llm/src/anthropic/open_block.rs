//! A block of an answer while it arrives.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::event::BlockStart;
use crate::stream::call::close_call;
use crate::stream::surrogates::{SurrogateJoiner, replace_lone_escapes};
use crate::stream::wire_text::WireText;
use crate::{AssembledCall, Finish};

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    /// Thinking that only the provider can read.
    Redacted,
    ToolUse,
    /// Nothing that we know.
    Other,
}

impl BlockKind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"text" => Self::Text,
            b"thinking" => Self::Thinking,
            b"redacted_thinking" => Self::Redacted,
            b"tool_use" => Self::ToolUse,
            _ => Self::Other,
        }
    }
}

/// A text that arrives in pieces.
#[derive(Debug, Default)]
struct Pieces {
    text: String,
    joiner: SurrogateJoiner,
}

impl Pieces {
    fn push(&mut self, piece: &[u8]) {
        self.joiner.push(piece, &mut self.text);
    }
}

#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) index: Option<u64>,
    pub(super) kind: BlockKind,
    /// Of text and thinking; the arguments of a call; what a redacted block holds.
    body: Pieces,
    signature: Pieces,
    id: String,
    name: String,
    /// Arguments that came with the start of a call.
    input: Option<Box<RawValue>>,
    /// Fields that we do not know, to send them back.
    rest: Map<String, Value>,
    /// The block as it came in one piece.
    whole: Option<Box<RawValue>>,
}

impl OpenBlock {
    /// A block whose start did not come.
    pub(super) fn bare(index: Option<u64>, kind: BlockKind) -> Self {
        Self {
            index,
            kind,
            body: Pieces::default(),
            signature: Pieces::default(),
            id: String::new(),
            name: String::new(),
            input: None,
            rest: Map::new(),
            whole: None,
        }
    }

    /// A block from its start. Its texts are for the caller to push, because they are shown.
    pub(super) fn started(
        index: Option<u64>,
        start: &BlockStart<'_>,
        raw: &RawValue,
    ) -> serde_json::Result<Self> {
        let kind = BlockKind::of(start.r#type.as_ref().map_or(b"", |kind| &kind.0));
        let mut block = Self::bare(index, kind);
        let id = start.id.map(WireText::of_any).transpose()?.unwrap_or_default();
        block.id = id.to_text().into_owned();
        block.name = start.name.as_ref().map(WireText::to_text).unwrap_or_default().into_owned();
        block.input = start.input.map(ToOwned::to_owned);
        if let Some(signature) = &start.signature {
            block.signature.push(&signature.0);
        }
        if let (BlockKind::Redacted, Some(data)) = (kind, &start.data) {
            block.body.push(&data.0);
        }
        block.rest = rest(raw);
        Ok(block)
    }

    /// The block came in one piece.
    pub(super) fn set_whole(&mut self, raw: &RawValue) {
        self.whole = Some(raw.to_owned());
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.body.push(piece);
    }

    pub(super) fn push_signature(&mut self, piece: &[u8]) {
        self.signature.push(piece);
    }

    /// It holds something of the answer.
    pub(super) fn is_said(&self) -> bool {
        match self.kind {
            BlockKind::Text | BlockKind::Thinking | BlockKind::Redacted => {
                !self.body.text.is_empty() || !self.signature.text.is_empty()
            }
            BlockKind::ToolUse => true,
            BlockKind::Other => false,
        }
    }

    pub(super) fn has_text(&self) -> bool {
        !self.body.text.is_empty()
    }

    /// Nothing follows.
    pub(super) fn close(&mut self) {
        let Self { body, signature, .. } = self;
        body.joiner.finish(&mut body.text);
        signature.joiner.finish(&mut signature.text);
    }

    /// The call, if it is one.
    pub(super) fn call(&self, finish: Finish) -> Option<AssembledCall> {
        (self.kind == BlockKind::ToolUse).then(|| close_call(&self.name, self.arguments(), finish))
    }

    /// Thinking that cannot go back, because its signature did not come.
    pub(super) fn is_unsigned_thinking(&self) -> bool {
        match self.kind {
            BlockKind::Thinking => is_blank(&self.signature.text),
            BlockKind::Redacted => is_blank(&self.body.text),
            BlockKind::Text | BlockKind::ToolUse | BlockKind::Other => false,
        }
    }

    /// The block as JSON, for sending it back; none where the API would refuse or not know it.
    pub(super) fn native(&self) -> Option<String> {
        if self.kind == BlockKind::Other
            || (self.kind == BlockKind::Text && is_blank(&self.body.text))
        {
            return None;
        }
        if let Some(whole) = &self.whole {
            return Some(whole.get().to_owned());
        }
        let text = self.body.text.as_str();
        let content = match self.kind {
            BlockKind::Text => Content::Text { text },
            BlockKind::Thinking => {
                Content::Thinking { thinking: text, signature: &self.signature.text }
            }
            BlockKind::Redacted => Content::RedactedThinking { data: text },
            BlockKind::ToolUse => {
                let input = object(&replace_lone_escapes(self.arguments()))?;
                Content::ToolUse { id: &self.id, name: self.name.trim(), input }
            }
            BlockKind::Other => return None,
        };
        serde_json::to_string(&Native { content, rest: &self.rest }).ok()
    }

    fn arguments(&self) -> &str {
        if is_blank(&self.body.text) {
            // Some gateways send all arguments at once, with the start.
            self.input.as_ref().map_or("", |input| input.get())
        } else {
            &self.body.text
        }
    }
}

#[derive(Serialize)]
struct Native<'a> {
    #[serde(flatten)]
    content: Content<'a>,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text { text: &'a str },
    Thinking { thinking: &'a str, signature: &'a str },
    RedactedThinking { data: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Box<RawValue> },
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Arguments as the object that they must be when they go back; an empty one for a call that was cut
/// and will be told so.
fn object(arguments: &str) -> Option<Box<RawValue>> {
    let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
    let object = if is_object { arguments } else { "{}" };
    RawValue::from_string(object.to_owned()).ok()
}

/// The fields of a block's start that are not read.
fn rest(raw: &RawValue) -> Map<String, Value> {
    const READ: [&str; 8] =
        ["type", "text", "thinking", "signature", "data", "id", "name", "input"];
    let fields: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
    fields
        .into_iter()
        .filter(|(name, value)| !value.is_null() && !READ.contains(&name.as_str()))
        .collect()
}
