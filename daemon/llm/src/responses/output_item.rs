//! An item of the output while it arrives.

use serde_json::value::RawValue;

use super::event::WireItem;
use crate::stream::call::close_call;
use crate::stream::surrogates::SurrogateJoiner;
use crate::stream::wire_text::WireText;
use crate::{AssembledCall, Finish};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Message,
    Reasoning,
    Call,
    /// Nothing that we know, such as what a tool of the provider did.
    Other,
}

impl ItemKind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"message" => Self::Message,
            b"reasoning" => Self::Reasoning,
            b"function_call" => Self::Call,
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
pub(super) struct OutputItem {
    pub(super) kind: ItemKind,
    /// Its place in the output.
    pub(super) index: Option<u64>,
    pub(super) id: String,
    /// Bytes that were shown of it.
    pub(super) shown_bytes: usize,
    /// The part that was shown last.
    pub(super) part: Option<u64>,
    name: String,
    arguments: String,
    joiner: SurrogateJoiner,
    /// It was said to be done.
    pub(super) is_done: bool,
    /// The provider says that it was cut.
    is_cut: bool,
    has_encrypted_content: bool,
    /// The item as it came when it was done.
    raw: Option<Box<RawValue>>,
}

impl OutputItem {
    pub(super) fn new(kind: ItemKind, index: Option<u64>, id: String) -> Self {
        Self {
            kind,
            index,
            id,
            shown_bytes: 0,
            part: None,
            name: String::new(),
            arguments: String::new(),
            joiner: SurrogateJoiner::default(),
            is_done: false,
            is_cut: false,
            has_encrypted_content: false,
            raw: None,
        }
    }

    pub(super) fn of(item: &WireItem<'_>, index: Option<u64>) -> Self {
        let kind = ItemKind::of(item.r#type.as_ref().map_or(b"", |kind| &kind.0));
        Self::new(kind, index, text(item.id.as_ref().map(|id| &id.0)))
    }

    pub(super) fn set_name(&mut self, name: Option<&WireText<'_>>) {
        let name = text(name);
        if !name.is_empty() {
            self.name = name;
        }
    }

    pub(super) fn push_arguments(&mut self, piece: &[u8]) {
        self.joiner.push(piece, &mut self.arguments);
    }

    /// Takes the arguments that are said to be all of them. Returns how many bytes that adds.
    pub(super) fn set_arguments(&mut self, whole: &[u8]) -> usize {
        if whole.is_empty() {
            return 0;
        }
        let before = self.arguments.len();
        self.arguments.clear();
        self.joiner = SurrogateJoiner::default();
        self.push_arguments(whole);
        self.arguments.len().saturating_sub(before)
    }

    /// Takes what is only known when the item is done.
    pub(super) fn set_done(&mut self, item: &WireItem<'_>) {
        self.is_done = true;
        self.is_cut = item.status.as_ref().is_some_and(|status| *status.0 == *b"incomplete");
        self.has_encrypted_content = !text(item.encrypted_content.as_ref()).trim().is_empty();
    }

    /// Keeps the item as it came.
    pub(super) fn keep(&mut self, raw: &RawValue) {
        self.raw = Some(raw.to_owned());
    }

    /// The call, if it is one.
    pub(super) fn call(&mut self, finish: Finish) -> Option<AssembledCall> {
        if self.kind != ItemKind::Call {
            return None;
        }
        self.joiner.finish(&mut self.arguments);
        let mut call = close_call(&self.name, &self.arguments, finish);
        call.is_whole &= !self.is_cut;
        Some(call)
    }

    /// It is reasoning that goes back.
    pub(super) fn is_encrypted_reasoning(&self) -> bool {
        self.kind == ItemKind::Reasoning && self.has_encrypted_content
    }

    /// The item as it came; none when it was cut or not kept.
    pub(super) fn native(&self) -> Option<&str> {
        self.raw.as_deref().filter(|_| !self.is_cut).map(RawValue::get)
    }
}

fn text(text: Option<&WireText<'_>>) -> String {
    text.map(|text| text.to_text().into_owned()).unwrap_or_default()
}
