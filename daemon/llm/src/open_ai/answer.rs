//! From chunks to parts: what an answer has said so far, and how it ended.

use std::borrow::Cow;

use super::chunk::{Chunk, Delta, FunctionDelta, WireUsage};
use super::tool_calls::{CallAssembler, Fragment};
use crate::http::error_text::ErrorText;
use crate::http::refusal::Refusal;
use crate::stream::mend::mend;
use crate::stream::sse::SseEvent;
use crate::stream::wire_text::WireText;
use crate::stream::{AnswerDecoder, BodyEnd, Parts, not_understood};
use crate::{Completion, Finish, LlmError};

/// Folds the chunks of one answer.
#[derive(Debug)]
pub(crate) struct ChatDecoder {
    error_text: ErrorText,
    parts: Parts,
    calls: CallAssembler,
    finish: Option<Finish>,
    is_refused: bool,
    usage: Option<agentd_domain::Usage>,
    is_done: bool,
    has_chunks: bool,
}

impl AnswerDecoder for ChatDecoder {
    fn on_event(&mut self, event: SseEvent<'_>) -> Result<(), LlmError> {
        self.on_data(event.data)
    }

    fn on_whole_body(&mut self, body: &[u8]) -> Result<(), LlmError> {
        self.on_data(body)?;
        if self.has_chunks {
            self.finish.get_or_insert(Finish::Done);
        }
        Ok(())
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
            None if !self.has_chunks && end == BodyEnd::Clean => return Err(LlmError::Empty),
            None if is_over => Finish::Done,
            None => return Err(LlmError::Cut),
        };
        let finish =
            if self.is_refused && finish == Finish::Done { Finish::Refused } else { finish };
        if finish == Finish::Done && self.parts.content_bytes() == 0 && self.calls.is_empty() {
            return Err(LlmError::Empty);
        }
        self.parts.close();
        Ok(Completion {
            native: None,
            finish,
            tool_calls: self.calls.finish(finish),
            usage: self.usage,
        })
    }
}

impl ChatDecoder {
    pub(crate) fn new(error_text: ErrorText, max_bytes: usize) -> Self {
        Self {
            error_text,
            parts: Parts::new(max_bytes),
            calls: CallAssembler::default(),
            finish: None,
            is_refused: false,
            usage: None,
            is_done: false,
            has_chunks: false,
        }
    }

    fn on_data(&mut self, data: &[u8]) -> Result<(), LlmError> {
        let data = data.trim_ascii();
        // Some servers keep the connection alive with nulls.
        if self.is_done || data.is_empty() || data == b"null" {
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

    fn on_chunk(&mut self, chunk: Chunk<'_>, data: &[u8]) -> Result<(), LlmError> {
        if let Some(error) = chunk.error
            && !matches!(error.get(), "{}" | "\"\"" | "false")
        {
            return Err(self.refusal(data));
        }
        let usage = chunk.any_usage();
        if let Some(usage) = usage
            && let Ok(usage) = serde_json::from_str::<WireUsage>(usage.get())
        {
            self.usage = usage.into_usage().or(self.usage);
        }
        let Some(choices) = chunk.choices else {
            return if usage.is_none() { self.on_message_without_choices(data) } else { Ok(()) };
        };
        self.has_chunks = true;
        for choice in choices {
            if choice.index.and_then(|index| index.0).unwrap_or(0) != 0 {
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
        let is_said = |text: &WireText<'_>| !text.0.is_empty();
        // Some servers send both names with the same text.
        let reasoning = delta.reasoning_content.filter(is_said).or(delta.reasoning);
        if let Some(WireText(reasoning)) = reasoning {
            self.parts.push_reasoning(&reasoning)?;
        }
        if let Some(WireText(text)) = delta.content {
            self.parts.push_text(&text)?;
        }
        if let Some(WireText(refusal)) = delta.refusal.filter(is_said) {
            self.is_refused = true;
            self.parts.push_text(&refusal)?;
        }
        let Some(calls) = delta.tool_calls else { return Ok(()) };
        let mut fragments = Vec::with_capacity(calls.len());
        for call in calls {
            let function = call.function.as_ref();
            let arguments = function.map_or(Ok(Cow::default()), FunctionDelta::argument_bytes);
            let arguments =
                arguments.map_err(|error| not_understood(&self.error_text, &error, b""))?;
            let name = call.function.and_then(|function| function.name).unwrap_or_default();
            let id = call.id.map(WireText::of_any).transpose();
            let id = id
                .map_err(|error| not_understood(&self.error_text, &error, b""))?
                .unwrap_or_default();
            fragments.push(Fragment {
                index: call.index.and_then(|index| index.0),
                id: id.to_text().into_owned().into(),
                name: name.to_text().into_owned().into(),
                arguments,
            });
        }
        let added = self.calls.push(&fragments);
        self.parts.count(added)
    }

    fn on_finish_reason(&mut self, reason: &WireText<'_>) -> Result<(), LlmError> {
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

    /// An object that is no chunk: an error in another shape, or something to ignore.
    #[cold]
    fn on_message_without_choices(&mut self, data: &[u8]) -> Result<(), LlmError> {
        Refusal::bare(data).map_or(Ok(()), |refusal| Err(refusal.into_error(&self.error_text)))
    }

    /// An event that is no chunk. Bytes that are no UTF-8 are replaced; several chunks in one event,
    /// from servers that forget the empty line, are read one by one; known mistakes are put right.
    #[cold]
    fn on_odd_event(&mut self, data: &[u8], error: &serde_json::Error) -> Result<(), LlmError> {
        if std::str::from_utf8(data).is_err() {
            return self.on_data(String::from_utf8_lossy(data).as_bytes());
        }
        if data.contains(&b'\n') {
            for line in data.split(|byte| *byte == b'\n') {
                self.on_data(line)?;
            }
            return Ok(());
        }
        let mended = mend(data);
        match mended.as_deref().map(serde_json::from_slice) {
            Some(Ok(chunk)) => self.on_chunk(chunk, data),
            _ => Err(not_understood(&self.error_text, error, data)),
        }
    }

    #[cold]
    fn refusal(&self, data: &[u8]) -> LlmError {
        Refusal::from_event(data).into_error(&self.error_text)
    }
}

#[cfg(test)]
mod tests;
