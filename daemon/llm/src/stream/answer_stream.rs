//! The body of an answer as a stream of parts, with its time limits.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::sse::{SseDecoder, SseEvent};
use super::{AnswerDecoder, BodyEnd};
use crate::{LlmError, StreamPart, Timeouts};

/// Reads that are merged into one part at most: other tasks want to run too.
const MAX_MERGED_READS: usize = 256;
/// Bytes of text that are merged into one part at most.
const MAX_MERGED_BYTES: usize = 16 * 1024;

/// How long the end of the body may come after `[DONE]`. It is there at once or never, and a
/// connection whose body was read to the end can be used again.
const CLOSING_GRACE: Duration = Duration::from_millis(20);

/// How long the usage and `[DONE]` may come after the model said that it is done. Some servers send
/// neither and keep the connection open.
const AFTER_FINISH: Duration = Duration::from_secs(2);

/// Idle timeouts in which something of the answer must come. Comments and half lines, which are a
/// server's word that it still works, buy no more time than that.
const IDLE_TIMEOUTS_WITHOUT_CONTENT: u32 = 10;

type Body = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// How the body is written.
#[derive(Debug)]
pub(crate) enum BodyFormat {
    /// Its first byte will tell: some servers name a wrong type, or none.
    Unknown,
    /// An event stream.
    Events(SseDecoder),
    /// One JSON text, gathered here, from a server that does not stream.
    Whole(Vec<u8>),
}

/// What is expected of the body, and how long it is waited for.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) base_url: String,
    pub(crate) first_byte: Duration,
    /// When the first byte of the body must be there.
    pub(crate) first_byte_by: Instant,
    /// The longest silence.
    pub(crate) idle: Duration,
    /// The longest time in which bytes come and nothing of the answer.
    pub(crate) without_content: Duration,
    /// The longest wait for what may follow the end of the answer.
    pub(crate) after_finish: Duration,
    /// What is wrong when the body holds no answer at all; `None` when it is just empty.
    pub(crate) nothing_understood: Option<String>,
    /// Most bytes of a whole body.
    pub(crate) max_bytes: usize,
}

impl Limits {
    /// The usual limits of an endpoint's answers.
    pub(crate) fn new(
        base_url: &str,
        timeouts: Timeouts,
        first_byte_by: Instant,
        max_bytes: usize,
    ) -> Self {
        Self {
            base_url: base_url.to_owned(),
            first_byte: timeouts.first_byte,
            first_byte_by,
            idle: timeouts.idle,
            without_content: timeouts.idle.saturating_mul(IDLE_TIMEOUTS_WITHOUT_CONTENT),
            after_finish: AFTER_FINISH,
            nothing_understood: None,
            max_bytes,
        }
    }
}

/// Reads an answer. Dropping it closes the connection.
pub(crate) struct AnswerStream<D> {
    body: Body,
    format: BodyFormat,
    decoder: D,
    limits: Limits,
    timer: Pin<Box<Sleep>>,
    has_begun: bool,
    /// Bytes came since the timer was set.
    has_progress: bool,
    /// When the answer must go on, whatever else comes. `None` until its first byte.
    content_by: Option<Instant>,
    /// Bytes of the answer when `content_by` was set.
    content_bytes: usize,
    /// When an answer that the model has ended is taken as it is.
    finish_by: Option<Instant>,
    state: State,
}

enum State {
    Reading,
    /// `[DONE]` was read; only the end of the body is awaited.
    Closing,
    /// The connection has ended; parts may still wait.
    Ended(Result<StreamPart, LlmError>),
    Over,
}

impl<D: AnswerDecoder> AnswerStream<D> {
    pub(crate) fn new(body: Body, format: BodyFormat, decoder: D, limits: Limits) -> Self {
        let timer = Box::pin(sleep_until(limits.first_byte_by));
        Self {
            body,
            format,
            decoder,
            limits,
            timer,
            has_begun: false,
            has_progress: false,
            content_by: None,
            content_bytes: 0,
            finish_by: None,
            state: State::Reading,
        }
    }

    /// Reads what is there. True when there is something to hand over.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        for _ in 0..MAX_MERGED_READS {
            let result = match self.body.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(bytes))) => self.take_bytes(&bytes),
                Poll::Ready(Some(Err(error))) => {
                    tracing::debug!(
                        error = %crate::http::client::causes(&error.without_url()),
                        "the answer broke off"
                    );
                    self.end(BodyEnd::Broken);
                    Ok(())
                }
                Poll::Ready(None) => self.take_end(),
                Poll::Pending => return self.decoder.parts().queued_bytes() > 0,
            };
            if let Err(error) = result {
                self.state = State::Ended(Err(error));
            } else if self.decoder.is_done() && matches!(self.state, State::Reading) {
                self.state = State::Closing;
                self.timer.as_mut().reset(Instant::now() + CLOSING_GRACE);
            }
            if !matches!(self.state, State::Reading)
                || self.decoder.parts().queued_bytes() >= MAX_MERGED_BYTES
            {
                return true;
            }
        }
        // Reads without text: come back at once, but let others run.
        cx.waker().wake_by_ref();
        self.decoder.parts().queued_bytes() > 0
    }

    /// Reads to the end of the body, which says nothing any more.
    fn close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(read) = self.body.as_mut().poll_next(cx) {
            if !matches!(read, Some(Ok(_))) {
                return Poll::Ready(());
            }
        }
        self.timer.as_mut().poll(cx)
    }

    fn take_bytes(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.has_begun = true;
        self.has_progress = true;
        let bytes = self.recognize(bytes);
        let Self { format, decoder, limits, .. } = self;
        match format {
            BodyFormat::Unknown => Ok(()),
            BodyFormat::Events(events) => events.push(bytes, |event| on_event(decoder, event)),
            BodyFormat::Whole(body) if body.len() + bytes.len() > limits.max_bytes => {
                Err(LlmError::TooLarge { limit: limits.max_bytes })
            }
            BodyFormat::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Decides by the first byte of the body how it is written. Returns what is left to read.
    fn recognize<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        if !matches!(self.format, BodyFormat::Unknown) {
            return bytes;
        }
        let bytes = bytes.trim_ascii_start();
        let Some(first) = bytes.first() else { return bytes };
        self.format = match first {
            b'{' | b'[' => BodyFormat::Whole(Vec::new()),
            _ => BodyFormat::Events(SseDecoder::default()),
        };
        let found = match first {
            b'<' => Some("a web page"),
            // A byte order mark is no fault.
            0xef => None,
            first if !first.is_ascii_graphic() => Some("something that is no text"),
            _ => None,
        };
        if let Some(found) = found {
            let base_url = &self.limits.base_url;
            let detail = || format!("{base_url} sends {found} instead of an answer");
            self.limits.nothing_understood.get_or_insert_with(detail);
        }
        bytes
    }

    fn take_end(&mut self) -> Result<(), LlmError> {
        let decoder = &mut self.decoder;
        match &mut self.format {
            BodyFormat::Unknown => {}
            BodyFormat::Events(events) => {
                let last = events.finish(|event| on_event(decoder, event));
                // Half a line is what a cut leaves behind, and says nothing about the protocol.
                if let Err(error) = last
                    && !matches!(error, LlmError::Protocol { .. })
                {
                    return Err(error);
                }
            }
            BodyFormat::Whole(body) => {
                let understood = decoder.on_whole_body(body);
                if matches!(understood, Err(LlmError::Protocol { .. }))
                    && let Some(detail) = self.limits.nothing_understood.take()
                {
                    return Err(LlmError::Protocol { detail });
                }
                understood?;
            }
        }
        self.end(BodyEnd::Clean);
        Ok(())
    }

    fn end(&mut self, end: BodyEnd) {
        let end = match (self.decoder.end(end), self.limits.nothing_understood.take()) {
            (Err(LlmError::Empty), Some(detail)) => Err(LlmError::Protocol { detail }),
            (end, _) => end,
        };
        self.state = State::Ended(end.map(StreamPart::Finished));
    }

    /// Waits no longer than allowed. True when the time is up.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if std::mem::take(&mut self.has_progress) {
            let deadline = self.deadline(Instant::now());
            self.timer.as_mut().reset(deadline);
        }
        if self.timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        if self.decoder.is_finished() {
            // The answer is whole; the server just does not hang up.
            self.end(BodyEnd::Broken);
            return true;
        }
        let is_dripping = self.content_by.is_some_and(|by| by <= self.timer.deadline());
        let error = if is_dripping {
            LlmError::IdleTimeout { after: self.limits.without_content }
        } else if self.has_begun {
            LlmError::IdleTimeout { after: self.limits.idle }
        } else {
            LlmError::FirstByteTimeout {
                base_url: self.limits.base_url.clone(),
                after: self.limits.first_byte,
            }
        };
        self.state = State::Ended(Err(error));
        true
    }
}

impl<D: AnswerDecoder> AnswerStream<D> {
    /// When the time is up, now that bytes came.
    fn deadline(&mut self, now: Instant) -> Instant {
        let content_bytes = self.decoder.parts().content_bytes();
        if content_bytes != self.content_bytes {
            self.content_bytes = content_bytes;
            self.content_by = None;
        }
        let content_by = *self.content_by.get_or_insert(now + self.limits.without_content);
        if self.decoder.is_finished() {
            self.finish_by.get_or_insert(now + self.limits.after_finish);
        }
        let deadline = content_by.min(now + self.limits.idle);
        self.finish_by.map_or(deadline, |finish_by| finish_by.min(deadline))
    }
}

impl<D: AnswerDecoder> Stream for AnswerStream<D> {
    type Item = Result<StreamPart, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            // Kinds of parts alternate in the queue: all but the last have their final length.
            if let Some(part) = this.decoder.parts_mut().take() {
                return Poll::Ready(Some(Ok(part)));
            }
            match std::mem::replace(&mut this.state, State::Over) {
                State::Over => return Poll::Ready(None),
                State::Ended(end) => return Poll::Ready(Some(end)),
                State::Reading => this.state = State::Reading,
                State::Closing => {
                    if this.close(cx).is_pending() {
                        this.state = State::Closing;
                        return Poll::Pending;
                    }
                    this.end(BodyEnd::Clean);
                    continue;
                }
            }
            if !this.read(cx) && !this.is_late(cx) {
                return Poll::Pending;
            }
        }
    }
}

/// Hands an event over unless nothing counts any more.
fn on_event<D: AnswerDecoder>(decoder: &mut D, event: SseEvent<'_>) -> Result<(), LlmError> {
    if decoder.is_done() { Ok(()) } else { decoder.on_event(event) }
}

#[cfg(test)]
mod tests;
