//! From events to parts: what an answer has said so far, and how it ended.

use agentd_domain::NativeBlocks;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::KIND;
use super::event::{BlockStart, Delta, Event, WireUsage};
use super::open_block::{BlockKind, OpenBlock};
use crate::http::error_text::ErrorText;
use crate::http::refusal::Refusal;
use crate::stream::mend::mend;
use crate::stream::sse::SseEvent;
use crate::stream::wire_text::WireText;
use crate::stream::{AnswerDecoder, BodyEnd, Parts, not_understood};
use crate::{Completion, Finish, LlmError};

/// What a block counts beside its texts, so that a great many empty ones pass the answer's limit.
const BLOCK_BYTES: usize = 128;
/// What stands between thoughts, and between texts with something else between them.
const GAP: &[u8] = b"\n\n";
/// Events that are read; others are passed over.
const KNOWN: &[&[u8]] = &[
    b"message_start",
    b"content_block_start",
    b"content_block_delta",
    b"message_delta",
    b"message_stop",
    b"message",
    b"error",
];

/// Folds the events of one answer.
#[derive(Debug)]
pub(crate) struct MessagesDecoder {
    error_text: ErrorText,
    /// The model that was asked.
    model: String,
    parts: Parts,
    blocks: Vec<OpenBlock>,
    /// A gap stands before the next text or thinking.
    wants_gap: bool,
    finish: Option<Finish>,
    usage: WireUsage,
    /// Some counts cannot be read, so those that can are not all.
    is_usage_odd: bool,
    is_done: bool,
    has_events: bool,
}

impl AnswerDecoder for MessagesDecoder {
    fn on_event(&mut self, event: SseEvent<'_>) -> Result<(), LlmError> {
        self.on_data(event.name, event.data)
    }

    fn on_whole_body(&mut self, body: &[u8]) -> Result<(), LlmError> {
        self.on_data(b"", body)
    }

    fn parts(&self) -> &Parts {
        &self.parts
    }

    fn parts_mut(&mut self) -> &mut Parts {
        &mut self.parts
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn end(&mut self, end: BodyEnd) -> Result<Completion, LlmError> {
        let is_over = self.is_done && end == BodyEnd::Clean;
        let finish = match self.finish {
            Some(finish) => finish,
            None if !self.has_events && end == BodyEnd::Clean => return Err(LlmError::Empty),
            None if is_over => Finish::Done,
            None => return Err(LlmError::Cut),
        };
        if finish == Finish::Done && !self.blocks.iter().any(OpenBlock::is_said) {
            return Err(LlmError::Empty);
        }
        self.parts.close();
        self.blocks.iter_mut().for_each(OpenBlock::close);
        Ok(Completion {
            finish,
            tool_calls: self.blocks.iter().filter_map(|block| block.call(finish)).collect(),
            usage: self.usage.into_usage().filter(|_| !self.is_usage_odd),
            native: self.native(),
        })
    }
}

impl MessagesDecoder {
    pub(crate) fn new(error_text: ErrorText, model: &str, max_bytes: usize) -> Self {
        Self {
            error_text,
            model: model.to_owned(),
            parts: Parts::new(max_bytes),
            blocks: Vec::new(),
            wants_gap: false,
            finish: None,
            usage: WireUsage::default(),
            is_usage_odd: false,
            is_done: false,
            has_events: false,
        }
    }

    fn on_data(&mut self, name: &[u8], data: &[u8]) -> Result<(), LlmError> {
        let data = data.trim_ascii();
        if self.is_done || data.is_empty() || data == b"null" {
            return Ok(());
        }
        // What gateways of other APIs add.
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        match serde_json::from_slice::<Event<'_>>(data) {
            Ok(event) => self.on_typed(name, event, data),
            Err(error) => self.on_odd_event(name, data, &error),
        }
    }

    fn on_typed(&mut self, name: &[u8], event: Event<'_>, data: &[u8]) -> Result<(), LlmError> {
        if event.error.is_some() {
            return Err(Refusal::from_event(data).into_error(&self.error_text));
        }
        let kind = event.r#type.as_ref().map_or(name, |kind| &kind.0);
        let index = event.index.and_then(|index| index.0);
        match kind {
            b"message_start" => {
                self.has_events = true;
                self.on_usage(event.message.and_then(|message| message.usage));
                Ok(())
            }
            b"content_block_start" => {
                self.has_events = true;
                event.content_block.map_or(Ok(()), |raw| self.on_block(index, raw).map(drop))
            }
            b"content_block_delta" => {
                self.has_events = true;
                event.delta.map_or(Ok(()), |delta| self.on_delta(index, &delta))
            }
            b"message_delta" => {
                self.has_events = true;
                self.on_usage(event.usage);
                self.on_stop_reason(event.delta.and_then(|delta| delta.stop_reason).as_ref());
                Ok(())
            }
            b"message_stop" => {
                self.is_done = true;
                Ok(())
            }
            b"error" => Err(Refusal::from_event(data).into_error(&self.error_text)),
            // Also the name of an event that has none, which says nothing.
            b"message" if event.content.is_some() => self.on_whole_message(event),
            b"" => self.on_untyped(data),
            // Pings, ends of blocks, and what will be new.
            _ => Ok(()),
        }
    }

    fn on_whole_message(&mut self, event: Event<'_>) -> Result<(), LlmError> {
        self.has_events = true;
        for raw in event.content.unwrap_or_default() {
            self.on_block(None, raw)?.set_whole(raw);
        }
        self.on_usage(event.usage);
        self.on_stop_reason(event.stop_reason.as_ref());
        self.finish.get_or_insert(Finish::Done);
        Ok(())
    }

    /// Begins a block, also on an index that is used already: some gateways number all blocks alike.
    fn on_block(&mut self, index: Option<u64>, raw: &RawValue) -> Result<&mut OpenBlock, LlmError> {
        let not_understood = |error| not_understood(&self.error_text, &error, raw.get().as_bytes());
        let start: BlockStart<'_> = serde_json::from_str(raw.get()).map_err(not_understood)?;
        let block = OpenBlock::started(index, &start, raw).map_err(not_understood)?;
        self.parts.count(BLOCK_BYTES + raw.get().len())?;
        let kind = block.kind;
        self.add(block);
        let text = match kind {
            BlockKind::Text => start.text,
            BlockKind::Thinking => start.thinking,
            BlockKind::Redacted | BlockKind::ToolUse | BlockKind::Other => None,
        };
        let at = self.blocks.len().saturating_sub(1);
        if let Some(text) = text {
            self.say(at, &text.0)?;
        }
        self.blocks.get_mut(at).ok_or(LlmError::Cut)
    }

    fn on_delta(&mut self, index: Option<u64>, delta: &Delta<'_>) -> Result<(), LlmError> {
        if let Some(text) = &delta.text {
            let at = self.block(index, BlockKind::Text)?;
            self.say(at, &text.0)?;
        }
        if let Some(thinking) = &delta.thinking {
            let at = self.block(index, BlockKind::Thinking)?;
            self.say(at, &thinking.0)?;
        }
        if let Some(signature) = &delta.signature {
            let at = self.block(index, BlockKind::Thinking)?;
            self.parts.count(signature.0.len())?;
            if let Some(block) = self.blocks.get_mut(at) {
                block.push_signature(&signature.0);
            }
        }
        if let Some(piece) = &delta.partial_json {
            let at = self.block(index, BlockKind::ToolUse)?;
            self.parts.count(piece.0.len())?;
            if let Some(block) = self.blocks.get_mut(at) {
                block.push(&piece.0);
            }
        }
        Ok(())
    }

    /// Text or thinking of a block, which is shown.
    fn say(&mut self, at: usize, piece: &[u8]) -> Result<(), LlmError> {
        let Some(block) = self.blocks.get_mut(at) else { return Ok(()) };
        if piece.is_empty() {
            return Ok(());
        }
        let push: fn(&mut Parts, &[u8]) -> Result<(), LlmError> = match block.kind {
            BlockKind::Thinking => Parts::push_reasoning,
            _ => Parts::push_text,
        };
        if std::mem::take(&mut self.wants_gap) {
            push(&mut self.parts, GAP)?;
        }
        push(&mut self.parts, piece)?;
        block.push(piece);
        Ok(())
    }

    /// The newest block of this kind with this index; with none, one that begins now.
    fn block(&mut self, index: Option<u64>, kind: BlockKind) -> Result<usize, LlmError> {
        let is_it =
            |block: &OpenBlock| block.kind == kind && (index.is_none() || block.index == index);
        if let Some(at) = self.blocks.iter().rposition(is_it) {
            return Ok(at);
        }
        self.parts.count(BLOCK_BYTES)?;
        self.add(OpenBlock::bare(index, kind));
        Ok(self.blocks.len() - 1)
    }

    fn add(&mut self, block: OpenBlock) {
        let is_same = |other: &OpenBlock| other.kind == block.kind && other.has_text();
        // Parts of one text follow each other closely; thoughts are each for itself.
        let follows = self.blocks.last().is_some_and(is_same) && block.kind == BlockKind::Text;
        let shows = matches!(block.kind, BlockKind::Text | BlockKind::Thinking);
        if shows {
            self.wants_gap = !follows && self.blocks.iter().any(is_same);
        }
        self.blocks.push(block);
    }

    fn on_usage(&mut self, usage: Option<&RawValue>) {
        match usage.map(|usage| serde_json::from_str::<Option<WireUsage>>(usage.get())) {
            Some(Ok(usage)) => self.usage.update(usage.unwrap_or_default()),
            Some(Err(_odd)) => self.is_usage_odd = true,
            None => {}
        }
    }

    fn on_stop_reason(&mut self, reason: Option<&WireText<'_>>) {
        let finish = match reason.map(|reason| &*reason.0) {
            None | Some(b"") => return,
            Some(b"max_tokens" | b"model_context_window_exceeded") => Finish::OutputLimit,
            Some(b"refusal") => Finish::Refused,
            // end_turn, tool_use, stop_sequence, pause_turn, and what will be new.
            Some(_) => Finish::Done,
        };
        self.finish = Some(finish);
    }

    /// The blocks as they came, when there is thinking among them that can go back.
    fn native(&self) -> Option<NativeBlocks> {
        let is_thinking =
            |block: &OpenBlock| matches!(block.kind, BlockKind::Thinking | BlockKind::Redacted);
        let is_unsigned = self.blocks.iter().any(OpenBlock::is_unsigned_thinking);
        if is_unsigned || !self.blocks.iter().any(is_thinking) {
            return None;
        }
        Some(NativeBlocks {
            api: KIND.to_owned(),
            model: self.model.clone(),
            blocks: self.blocks.iter().filter_map(OpenBlock::native).collect(),
        })
    }

    /// An event that does not have the form of those that are known. Bytes that are no UTF-8 are
    /// replaced; several events in one, from servers that forget the empty line, are read one by one;
    /// known mistakes are put right.
    #[cold]
    fn on_odd_event(
        &mut self,
        name: &[u8],
        data: &[u8],
        error: &serde_json::Error,
    ) -> Result<(), LlmError> {
        #[derive(Deserialize)]
        struct Head<'a> {
            #[serde(borrow, default)]
            r#type: Option<WireText<'a>>,
        }
        if std::str::from_utf8(data).is_err() {
            return self.on_data(name, String::from_utf8_lossy(data).as_bytes());
        }
        if data.contains(&b'\n') && serde_json::from_slice::<Head<'_>>(data).is_err() {
            for line in data.split(|byte| *byte == b'\n') {
                self.on_data(b"", line)?;
            }
            return Ok(());
        }
        let head = serde_json::from_slice::<Head<'_>>(data).ok().and_then(|head| head.r#type);
        let kind = head.as_ref().map(|kind| &*kind.0);
        if kind.is_some_and(|kind| !KNOWN.contains(&kind)) {
            return Ok(());
        }
        if kind.is_none() && name.is_empty() {
            self.on_untyped(data)?;
        }
        let mended = mend(data);
        match mended.as_deref().map(serde_json::from_slice) {
            Some(Ok(event)) => self.on_typed(name, event, data),
            _ => Err(not_understood(&self.error_text, error, data)),
        }
    }

    /// An object without a type: an error in a form of its own, or something to ignore.
    #[cold]
    fn on_untyped(&self, data: &[u8]) -> Result<(), LlmError> {
        Refusal::bare(data).map_or(Ok(()), |refusal| Err(refusal.into_error(&self.error_text)))
    }
}

#[cfg(test)]
mod tests;
