//! From events to parts: what an answer has said so far, and how it ended.

use agentd_domain::NativeBlocks;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::KIND;
use super::event::{Event, WireItem, WireResponse, WireUsage};
use super::output::Output;
use super::output_item::{ItemKind, OutputItem};
use crate::http::error_text::ErrorText;
use crate::http::refusal::Refusal;
use crate::stream::mend::mend;
use crate::stream::sse::SseEvent;
use crate::stream::wire_text::WireText;
use crate::stream::{AnswerDecoder, BodyEnd, Parts, not_understood};
use crate::{Completion, Finish, LlmError};

/// What an item costs beside its texts, so that their number is limited.
const ITEM_BYTES: usize = 64;
/// What stands between two thoughts, and between two texts that are not one.
const GAP: &[u8] = b"\n\n";

/// Folds the events of one answer.
#[derive(Debug)]
pub(crate) struct ResponsesDecoder {
    error_text: ErrorText,
    model: String,
    max_bytes: usize,
    parts: Parts,
    items: Output,
    /// Bytes of items as they came.
    native_bytes: usize,
    finish: Option<Finish>,
    is_refused: bool,
    usage: Option<agentd_domain::Usage>,
    is_done: bool,
    has_events: bool,
}

impl AnswerDecoder for ResponsesDecoder {
    fn on_event(&mut self, event: SseEvent<'_>) -> Result<(), LlmError> {
        self.on_data(event.name, event.data)
    }

    fn on_whole_body(&mut self, body: &[u8]) -> Result<(), LlmError> {
        let body = body.trim_ascii();
        if body.is_empty() {
            return Ok(());
        }
        let response: WireResponse<'_> = serde_json::from_slice(body)
            .map_err(|error| not_understood(&self.error_text, &error, body))?;
        if is_error(response.error) {
            return Err(Refusal::from_event(body).into_error(&self.error_text));
        }
        let is_response = response.output.is_some()
            || response.object.as_ref().is_some_and(|object| *object.0 == *b"response");
        if !is_response {
            return self.on_untyped(body);
        }
        self.on_end(b"", response)
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
        let finish = match self.finish {
            Some(Finish::Done) if self.is_refused => Finish::Refused,
            Some(finish) => finish,
            None if !self.has_events && end == BodyEnd::Clean => return Err(LlmError::Empty),
            None => return Err(LlmError::Cut),
        };
        self.items.sort();
        let is_said =
            |item: &OutputItem| item.shown_bytes > 0 || matches!(item.kind, ItemKind::Call);
        if finish == Finish::Done && !self.items.iter().any(is_said) {
            return Err(LlmError::Empty);
        }
        self.parts.close();
        Ok(Completion {
            finish,
            native: self.native(finish),
            tool_calls: self.items.iter_mut().filter_map(|item| item.call(finish)).collect(),
            usage: self.usage,
        })
    }
}

impl ResponsesDecoder {
    pub(crate) fn new(error_text: ErrorText, model: &str, max_bytes: usize) -> Self {
        Self {
            error_text,
            model: model.to_owned(),
            max_bytes,
            parts: Parts::new(max_bytes),
            items: Output::default(),
            native_bytes: 0,
            finish: None,
            is_refused: false,
            usage: None,
            is_done: false,
            has_events: false,
        }
    }

    fn on_data(&mut self, name: &[u8], data: &[u8]) -> Result<(), LlmError> {
        let data = data.trim_ascii();
        if self.is_done || data.is_empty() || data == b"null" {
            return Ok(());
        }
        // Gateways of other APIs end every stream so.
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        match serde_json::from_slice::<Event<'_>>(data) {
            Ok(event) => self.on_typed(name, &event, data),
            Err(error) => self.on_odd_event(name, data, &error),
        }
    }

    fn on_typed(&mut self, name: &[u8], event: &Event<'_>, data: &[u8]) -> Result<(), LlmError> {
        let kind = event.r#type.as_ref().map_or(name, |kind| &kind.0);
        self.has_events |= kind.starts_with(b"response.");
        match kind {
            b"response.output_item.added" => self.on_item(event),
            b"response.output_item.done" => self.on_item_done(event),
            b"response.output_text.delta" => self.on_delta(event, ItemKind::Message),
            b"response.refusal.delta" => {
                self.is_refused = true;
                self.on_delta(event, ItemKind::Message)
            }
            b"response.reasoning_summary_text.delta" | b"response.reasoning_text.delta" => {
                self.on_delta(event, ItemKind::Reasoning)
            }
            b"response.function_call_arguments.delta" => self.on_delta(event, ItemKind::Call),
            // Some servers say only these.
            b"response.output_text.done" => self.on_text_done(event, ItemKind::Message, event.text),
            b"response.refusal.done" => {
                self.is_refused = true;
                self.on_text_done(event, ItemKind::Message, event.refusal)
            }
            b"response.reasoning_summary_text.done" | b"response.reasoning_text.done" => {
                self.on_text_done(event, ItemKind::Reasoning, event.text)
            }
            b"response.function_call_arguments.done" => {
                let at = self.item(event, ItemKind::Call)?;
                if let Some(item) = self.items.get_mut(at) {
                    item.set_name(event.name.as_ref());
                }
                self.set_arguments(at, event.arguments)
            }
            b"response.completed"
            | b"response.incomplete"
            | b"response.failed"
            | b"response.cancelled" => {
                let raw = event.response.map_or("{}", RawValue::get);
                let response = serde_json::from_str(raw)
                    .map_err(|error| not_understood(&self.error_text, &error, data))?;
                self.on_end(kind, response)
            }
            b"error" => Err(self.refusal(data)),
            _ if is_error(event.error) => Err(self.refusal(data)),
            b"" => self.on_untyped(data),
            // The start, ends of parts, and what will be new.
            _ => Ok(()),
        }
    }

    /// An item begins.
    fn on_item(&mut self, event: &Event<'_>) -> Result<(), LlmError> {
        let Some(raw) = event.item else { return Ok(()) };
        let wire = self.wire_item(raw)?;
        let mut begun = OutputItem::of(&wire, event.output_index.and_then(|index| index.0));
        begun.set_name(wire.name.as_ref());
        let at = self.add(begun)?;
        self.set_arguments(at, wire.arguments)
    }

    /// An item is done: what was not said of it before is said now.
    fn on_item_done(&mut self, event: &Event<'_>) -> Result<(), LlmError> {
        let Some(raw) = event.item else { return Ok(()) };
        let wire = self.wire_item(raw)?;
        let done = OutputItem::of(&wire, event.output_index.and_then(|index| index.0));
        let at = match self.items.find_done(&done) {
            Some(at) => at,
            None => self.add(done)?,
        };
        self.take_done(at, &wire, raw)
    }

    fn take_done(
        &mut self,
        at: usize,
        wire: &WireItem<'_>,
        raw: &RawValue,
    ) -> Result<(), LlmError> {
        self.set_arguments(at, wire.arguments)?;
        let Some(item) = self.items.get_mut(at) else { return Ok(()) };
        item.set_name(wire.name.as_ref());
        let is_told = item.shown_bytes > 0;
        item.set_done(wire);
        self.native_bytes = self.native_bytes.saturating_add(raw.get().len());
        if self.native_bytes <= self.max_bytes {
            item.keep(raw);
        }
        let parts = wire.summary.iter().flatten().chain(wire.content.iter().flatten());
        for (number, part) in parts.enumerate() {
            let refusal = part.refusal.as_ref().filter(|text| !text.0.is_empty());
            self.is_refused |= refusal.is_some();
            if let Some(said) = refusal.or(part.text.as_ref()).filter(|_| !is_told) {
                self.say(at, u64::try_from(number).ok(), &said.0)?;
            }
        }
        Ok(())
    }

    fn on_delta(&mut self, event: &Event<'_>, kind: ItemKind) -> Result<(), LlmError> {
        let Some(delta) = event.delta else { return Ok(()) };
        let piece = self.any_text(delta)?;
        let at = self.item(event, kind)?;
        if kind != ItemKind::Call {
            return self.say(at, part_of(event), &piece.0);
        }
        self.parts.count(piece.0.len())?;
        if let Some(item) = self.items.get_mut(at) {
            item.push_arguments(&piece.0);
        }
        Ok(())
    }

    /// A text is done: it is news only when nothing of this part was said.
    fn on_text_done(
        &mut self,
        event: &Event<'_>,
        kind: ItemKind,
        text: Option<&RawValue>,
    ) -> Result<(), LlmError> {
        let Some(text) = text else { return Ok(()) };
        let whole = self.any_text(text)?;
        let at = self.item(event, kind)?;
        let part = part_of(event);
        let is_told = self.items.get(at).is_some_and(|item| {
            item.shown_bytes > 0 && (item.part == part || part.is_none() || item.part.is_none())
        });
        if is_told { Ok(()) } else { self.say(at, part, &whole.0) }
    }

    /// Text or reasoning of an item, which is shown.
    fn say(&mut self, at: usize, part: Option<u64>, piece: &[u8]) -> Result<(), LlmError> {
        if piece.is_empty() {
            return Ok(());
        }
        let Some(kind) = self.items.get(at).map(|item| item.kind) else { return Ok(()) };
        let is_same = |item: &OutputItem| item.kind == kind && item.shown_bytes > 0;
        let goes_on =
            self.items.get(at).is_some_and(|item| item.shown_bytes > 0 && item.part == part);
        let push: fn(&mut Parts, &[u8]) -> Result<(), LlmError> = match kind {
            ItemKind::Reasoning => Parts::push_reasoning,
            ItemKind::Message | ItemKind::Call | ItemKind::Other => Parts::push_text,
        };
        if !goes_on && self.items.iter().any(is_same) {
            push(&mut self.parts, GAP)?;
        }
        push(&mut self.parts, piece)?;
        if let Some(item) = self.items.get_mut(at) {
            item.shown_bytes += piece.len();
            item.part = part;
        }
        Ok(())
    }

    fn set_arguments(&mut self, at: usize, raw: Option<&RawValue>) -> Result<(), LlmError> {
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return Ok(()) };
        let whole = self.any_text(raw)?;
        let Some(item) = self.items.get_mut(at) else { return Ok(()) };
        let added = item.set_arguments(&whole.0);
        self.parts.count(added)
    }

    /// The place of the item that an event is about. One that was not announced begins now.
    fn item(&mut self, event: &Event<'_>, kind: ItemKind) -> Result<usize, LlmError> {
        let id = event.item_id.as_ref().map(|id| id.0.to_text()).unwrap_or_default();
        let index = event.output_index.and_then(|index| index.0);
        match self.items.find(kind, index, &id) {
            Some(at) => Ok(at),
            None => self.add(OutputItem::new(kind, index, id.into_owned())),
        }
    }

    fn add(&mut self, item: OutputItem) -> Result<usize, LlmError> {
        self.parts.count(ITEM_BYTES + item.id.len())?;
        Ok(self.items.add(item))
    }

    /// The response ends, in the event of this name or in one piece.
    fn on_end(&mut self, kind: &[u8], response: WireResponse<'_>) -> Result<(), LlmError> {
        self.has_events = true;
        if let Some(usage) = response.usage
            && let Ok(Some(usage)) = serde_json::from_str::<Option<WireUsage>>(usage.get())
        {
            self.usage = usage.into_usage().or(self.usage);
        }
        let status: &[u8] = match &response.status {
            Some(status) if !status.0.is_empty() => &status.0,
            _ => kind.strip_prefix(b"response.").unwrap_or(b"completed"),
        };
        match (kind, status) {
            (b"response.failed" | b"response.cancelled", _) | (_, b"failed" | b"cancelled") => {
                return Err(match response.error {
                    Some(error) if is_error(Some(error)) => self.refusal(error.get().as_bytes()),
                    _ => LlmError::Server {
                        status: 0,
                        message: "the response failed".to_owned(),
                        retry_after: None,
                    },
                });
            }
            _ => {}
        }
        // Items that were announced in no other way.
        if self.items.is_empty() {
            for (number, raw) in response.output.unwrap_or_default().into_iter().enumerate() {
                let wire = self.wire_item(raw)?;
                let at = self.add(OutputItem::of(&wire, u64::try_from(number).ok()))?;
                self.take_done(at, &wire, raw)?;
            }
        }
        let is_incomplete = kind == b"response.incomplete" || status == b"incomplete";
        let reason = response.incomplete_details.and_then(|details| details.reason);
        self.finish = Some(match reason.as_ref().map(|reason| &*reason.0) {
            Some(b"content_filter") => Finish::Refused,
            _ if is_incomplete => Finish::OutputLimit,
            _ => Finish::Done,
        });
        self.is_done = true;
        Ok(())
    }

    /// The items as they came, when there is reasoning among them that goes back.
    fn native(&self, finish: Finish) -> Option<NativeBlocks> {
        let is_wanted =
            finish == Finish::Done && self.items.iter().any(OutputItem::is_encrypted_reasoning);
        let known = self.items.iter().filter(|item| item.kind != ItemKind::Other);
        // Nobody takes a message back that says nothing, and reasoning belongs to what follows it.
        let is_silent = |item: &OutputItem| item.kind == ItemKind::Message && item.shown_bytes == 0;
        if !is_wanted || self.items.iter().any(is_silent) {
            return None;
        }
        // One that holds half a character can be kept, and not be read again.
        let is_read = |block: &&str| serde_json::from_str::<serde_json::Value>(block).is_ok();
        let blocks = known.map(|item| item.native().filter(is_read).map(str::to_owned));
        Some(NativeBlocks {
            api: KIND.to_owned(),
            model: self.model.clone(),
            blocks: blocks.collect::<Option<_>>()?,
        })
    }

    fn wire_item<'a>(&self, raw: &'a RawValue) -> Result<WireItem<'a>, LlmError> {
        serde_json::from_str(raw.get())
            .map_err(|error| not_understood(&self.error_text, &error, raw.get().as_bytes()))
    }

    fn any_text<'a>(&self, raw: &'a RawValue) -> Result<WireText<'a>, LlmError> {
        WireText::of_any(raw)
            .map_err(|error| not_understood(&self.error_text, &error, raw.get().as_bytes()))
    }

    /// An object without a type: an error in a form of its own, or something to ignore.
    #[cold]
    fn on_untyped(&self, data: &[u8]) -> Result<(), LlmError> {
        Refusal::bare(data).map_or(Ok(()), |refusal| Err(refusal.into_error(&self.error_text)))
    }

    #[cold]
    fn refusal(&self, data: &[u8]) -> LlmError {
        Refusal::from_event(data).into_error(&self.error_text)
    }

    /// An event that does not have the form of those that are known. Bytes that are no UTF-8 are
    /// replaced; several events in one, from servers that forget the empty line, are read one by one;
    /// events that are not known may have any form; known mistakes are put right.
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
        let head = serde_json::from_slice::<Head<'_>>(data);
        if data.contains(&b'\n') && head.is_err() {
            for line in data.split(|byte| *byte == b'\n') {
                self.on_data(b"", line)?;
            }
            return Ok(());
        }
        let kind = head.ok().and_then(|head| head.r#type);
        if kind.as_ref().is_some_and(|kind| !is_known(&kind.0)) {
            return Ok(());
        }
        if kind.is_none() && name.is_empty() {
            self.on_untyped(data)?;
        }
        let mended = mend(data);
        match mended.as_deref().map(serde_json::from_slice) {
            Some(Ok(event)) => self.on_typed(name, &event, data),
            _ => Err(not_understood(&self.error_text, error, data)),
        }
    }
}

/// Events whose form matters.
fn is_known(kind: &[u8]) -> bool {
    const STARTS: &[&[u8]] = &[
        b"response.output_item.",
        b"response.output_text.",
        b"response.refusal.",
        b"response.reasoning_",
        b"response.function_call_arguments.",
        b"response.completed",
        b"response.incomplete",
        b"response.failed",
        b"error",
    ];
    STARTS.iter().any(|start| kind.starts_with(start))
}

fn is_error(error: Option<&RawValue>) -> bool {
    error.is_some_and(|error| !matches!(error.get(), "null" | "{}" | "\"\"" | "false"))
}

/// The number of the part of an item.
fn part_of(event: &Event<'_>) -> Option<u64> {
    event.summary_index.or(event.content_index).and_then(|index| index.0)
}

#[cfg(test)]
mod tests;
