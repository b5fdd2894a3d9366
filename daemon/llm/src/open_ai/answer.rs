//! From chunks to parts: what an answer has said so far, and how it ended.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::Value;

use super::chunk::{Chunk, Delta, FunctionDelta, Text, WireUsage};
use super::tool_calls::{CallAssembler, Fragment};
use crate::error_text::ErrorText;
use crate::refusal::Refusal;
use crate::sse::{LineTooLong, MAX_LINE};
use crate::surrogates::SurrogateJoiner;
use crate::{Completion, Finish, LlmError, StreamPart};

/// Folds the chunks of one answer.
#[derive(Debug)]
pub(super) struct AnswerDecoder {
    error_text: ErrorText,
    /// Most bytes of text, reasoning and arguments together.
    max_bytes: usize,
    taken_bytes: usize,
    /// Parts not handed over yet. Neighbours differ in kind.
    parts: VecDeque<StreamPart>,
    /// Bytes in `parts`.
    queued_bytes: usize,
    reasoning: SurrogateJoiner,
    text: SurrogateJoiner,
    calls: CallAssembler,
    finish: Option<Finish>,
    is_refused: bool,
    usage: Option<agentd_domain::Usage>,
    is_done: bool,
    has_chunks: bool,
}

/// How the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// The body is whole as far as HTTP can tell.
    Clean,
    /// The connection broke, or fell silent.
    Broken,
}

impl From<LineTooLong> for LlmError {
    fn from(_: LineTooLong) -> Self {
        Self::TooLarge { limit: MAX_LINE }
    }
}

impl AnswerDecoder {
    pub(super) fn new(error_text: ErrorText, max_bytes: usize) -> Self {
        Self {
            error_text,
            max_bytes,
            taken_bytes: 0,
            parts: VecDeque::new(),
            queued_bytes: 0,
            reasoning: SurrogateJoiner::default(),
            text: SurrogateJoiner::default(),
            calls: CallAssembler::default(),
            finish: None,
            is_refused: false,
            usage: None,
            is_done: false,
            has_chunks: false,
        }
    }

    /// Takes the data of one event.
    pub(super) fn on_event(&mut self, data: &[u8]) -> Result<(), LlmError> {
        let data = data.trim_ascii();
        if self.is_done || data.is_empty() {
            return Ok(());
        }
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        match serde_json::from_slice::<Chunk<'_>>(data) {
            Ok(chunk) => self.on_chunk(chunk, data),
            Err(error) => self.on_odd_event(data, &error),
        }
    }

    /// Takes the body of a server that does not stream.
    pub(super) fn on_whole_body(&mut self, body: &[u8]) -> Result<(), LlmError> {
        self.on_event(body)?;
        if self.has_chunks {
            self.finish.get_or_insert(Finish::Done);
        }
        Ok(())
    }

    /// The `[DONE]` event was seen: nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// The model said that it is done; only the usage may follow.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Bytes of text, reasoning and calls so far.
    pub(super) fn content_bytes(&self) -> usize {
        self.taken_bytes
    }

    /// Bytes that wait to be taken.
    pub(super) fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// The next part of the answer.
    pub(super) fn take_part(&mut self) -> Option<StreamPart> {
        loop {
            let part = self.parts.pop_front()?;
            let (StreamPart::Reasoning(text) | StreamPart::Text(text)) = &part else {
                return Some(part);
            };
            self.queued_bytes = self.queued_bytes.saturating_sub(text.len());
            // Half a character alone makes an empty part.
            if !text.is_empty() {
                return Some(part);
            }
        }
    }

    /// Decides what the answer was, now that the connection has ended.
    pub(super) fn end(&mut self, end: BodyEnd) -> Result<Completion, LlmError> {
        let is_over = self.is_done && end == BodyEnd::Clean;
        let finish = match self.finish {
            Some(finish) => finish,
            None if !self.has_chunks && end == BodyEnd::Clean => return Err(LlmError::Empty),
            None if is_over => Finish::Done,
            None => return Err(LlmError::Cut),
        };
        let finish =
            if self.is_refused && finish == Finish::Done { Finish::Refused } else { finish };
        if finish == Finish::Done && self.taken_bytes == 0 && self.calls.is_empty() {
            return Err(LlmError::Empty);
        }
        self.finish_texts();
        Ok(Completion {
            native: None,
            finish,
            tool_calls: self.calls.finish(finish),
            usage: self.usage,
        })
    }

    fn on_chunk(&mut self, chunk: Chunk<'_>, data: &[u8]) -> Result<(), LlmError> {
        if let Some(error) = chunk.error
            && !matches!(error.get(), "{}" | "\"\"" | "false")
        {
            return Err(self.refusal(data));
        }
        if let Some(usage) = chunk.usage
            && let Ok(usage) = serde_json::from_str::<WireUsage>(usage.get())
        {
            self.usage = usage.into_usage().or(self.usage);
        }
        let Some(choices) = chunk.choices else {
            return if chunk.usage.is_none() {
                self.on_message_without_choices(data)
            } else {
                Ok(())
            };
        };
        self.has_chunks = true;
        for choice in choices {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.on_delta(delta)?;
            }
            if let Some(reason) = choice.finish_reason {
                self.on_finish_reason(&reason)?;
            }
        }
        Ok(())
    }

    fn on_delta(&mut self, delta: Delta<'_>) -> Result<(), LlmError> {
        let is_said = |text: &Text<'_>| !text.0.is_empty();
        // Some servers send both names with the same text.
        let reasoning = delta.reasoning_content.filter(is_said).or(delta.reasoning);
        if let Some(Text(reasoning)) = reasoning.filter(is_said) {
            if !matches!(self.parts.back(), Some(StreamPart::Reasoning(_))) {
                self.parts.push_back(StreamPart::Reasoning(String::new()));
            }
            if let Some(StreamPart::Reasoning(part)) = self.parts.back_mut() {
                let before = part.len();
                self.reasoning.push(&reasoning, part);
                self.queued_bytes += part.len() - before;
            }
            self.take_bytes(reasoning.len())?;
        }
        if let Some(Text(text)) = delta.content.filter(is_said) {
            self.on_text(&text)?;
        }
        if let Some(Text(refusal)) = delta.refusal.filter(is_said) {
            self.is_refused = true;
            self.on_text(&refusal)?;
        }
        let Some(calls) = delta.tool_calls else { return Ok(()) };
        let mut fragments = Vec::with_capacity(calls.len());
        for call in calls {
            let function = call.function.as_ref();
            let arguments = function.map_or(Ok(Cow::default()), FunctionDelta::argument_bytes);
            let arguments = arguments.map_err(|error| self.not_understood(&error, b""))?;
            let name = call.function.and_then(|function| function.name).unwrap_or_default();
            fragments.push(Fragment {
                index: call.index,
                id: String::from_utf8_lossy(&call.id.unwrap_or_default().0).into_owned().into(),
                name: String::from_utf8_lossy(&name.0).into_owned().into(),
                arguments,
            });
        }
        let added = self.calls.push(&fragments);
        self.take_bytes(added)
    }

    fn on_text(&mut self, text: &[u8]) -> Result<(), LlmError> {
        if !matches!(self.parts.back(), Some(StreamPart::Text(_))) {
            self.parts.push_back(StreamPart::Text(String::new()));
        }
        if let Some(StreamPart::Text(part)) = self.parts.back_mut() {
            let before = part.len();
            self.text.push(text, part);
            self.queued_bytes += part.len() - before;
        }
        self.take_bytes(text.len())
    }

    fn take_bytes(&mut self, bytes: usize) -> Result<(), LlmError> {
        self.taken_bytes = self.taken_bytes.saturating_add(bytes);
        if self.taken_bytes > self.max_bytes {
            return Err(LlmError::TooLarge { limit: self.max_bytes });
        }
        Ok(())
    }

    fn on_finish_reason(&mut self, reason: &Text<'_>) -> Result<(), LlmError> {
        let finish = match &*reason.0 {
            b"" => return Ok(()),
            b"length" | b"max_tokens" | b"model_length" => Finish::OutputLimit,
            b"content_filter" | b"refusal" | b"safety" | b"sensitive" => Finish::Refused,
            // The server gave up in the middle.
            b"error" | b"abort" | b"network_error" | b"insufficient_system_resource" => {
                let reason = String::from_utf8_lossy(&reason.0);
                let message = self.error_text.clean(&format!("the answer ended with '{reason}'"));
                return Err(LlmError::Server { status: 0, message, retry_after: None });
            }
            _ => Finish::Done,
        };
        self.finish = Some(finish);
        Ok(())
    }

    /// Halves of characters that no partner will come for.
    fn finish_texts(&mut self) {
        for (joiner, is_text) in [(&mut self.reasoning, false), (&mut self.text, true)] {
            let mut rest = String::new();
            joiner.finish(&mut rest);
            if !rest.is_empty() {
                self.queued_bytes += rest.len();
                let part =
                    if is_text { StreamPart::Text(rest) } else { StreamPart::Reasoning(rest) };
                self.parts.push_back(part);
            }
        }
    }

    /// An object that is no chunk: an error in another shape, or something to ignore.
    #[cold]
    fn on_message_without_choices(&mut self, data: &[u8]) -> Result<(), LlmError> {
        let Ok(value) = serde_json::from_slice::<Value>(data) else { return Ok(()) };
        let is_error = value.get("object").and_then(Value::as_str) == Some("error")
            || ["message", "detail", "error_msg"].iter().any(|field| value.get(field).is_some());
        if is_error { Err(self.refusal(data)) } else { Ok(()) }
    }

    /// An event that is no chunk. Bytes that are no UTF-8 are replaced; several chunks in one event,
    /// from servers that forget the empty line, are read one by one.
    #[cold]
    fn on_odd_event(&mut self, data: &[u8], error: &serde_json::Error) -> Result<(), LlmError> {
        if std::str::from_utf8(data).is_err() {
            return self.on_event(String::from_utf8_lossy(data).as_bytes());
        }
        if data.contains(&b'\n') {
            for line in data.split(|byte| *byte == b'\n') {
                self.on_event(line)?;
            }
            return Ok(());
        }
        Err(self.not_understood(error, data))
    }

    fn not_understood(&self, error: &serde_json::Error, data: &[u8]) -> LlmError {
        let start = String::from_utf8_lossy(data.get(..200).unwrap_or(data));
        LlmError::Protocol { detail: self.error_text.clean(&format!("{error} in '{start}'")) }
    }

    #[cold]
    fn refusal(&self, data: &[u8]) -> LlmError {
        let value = serde_json::from_slice(data).unwrap_or_else(|_odd| {
            // Escaped halves of characters, which `Value` does not take.
            Value::String(String::from_utf8_lossy(data).into_owned())
        });
        Refusal::from_json(&value).into_error(&self.error_text)
    }
}

#[cfg(test)]
mod tests;
