//! What each API brings to the answer stream: an understanding of its events.

use super::Parts;
use super::sse::SseEvent;
use crate::http::error_text::ErrorText;
use crate::{Completion, LlmError};

/// Understands the answers of one API.
///
/// [`super::AnswerStream`] does what is the same for all: it reads and merges, measures time, splits
/// the body into events, and hands over the parts. A decoder folds the events of one answer:
///
/// - it pushes what is said into its [`Parts`], which bound the answer, and counts there what it
///   gathers elsewhere, such as the arguments of calls;
/// - it says when the answer [has its end](Self::is_finished) and when [nothing
///   follows](Self::is_done);
/// - it decides in [`Self::end`] whether the answer is whole.
///
/// It must take any bytes: what it does not know it passes over, and an event that cannot be what the
/// API says is [`LlmError::Protocol`]. It knows no clock and no connection, so it is tested with
/// texts.
pub(crate) trait AnswerDecoder: Send + Unpin + 'static {
    /// Takes one event. Not called any more once [`Self::is_done`].
    ///
    /// # Errors
    /// What ends the answer: an error that the provider sends in the stream, an answer beyond its
    /// limit, an event that is not understandable.
    fn on_event(&mut self, event: SseEvent<'_>) -> Result<(), LlmError>;

    /// Takes the body of a server that does not stream, whole.
    ///
    /// # Errors
    /// As [`Self::on_event`].
    fn on_whole_body(&mut self, body: &[u8]) -> Result<(), LlmError>;

    /// What was said.
    fn parts(&self) -> &Parts;

    /// What was said, to take it.
    fn parts_mut(&mut self) -> &mut Parts;

    /// The model said why it ended; only counts may follow, and they are not waited for long.
    fn is_finished(&self) -> bool;

    /// The last event was seen: only the end of the body may follow.
    fn is_done(&self) -> bool;

    /// Decides what the answer was, now that the connection has ended. Called once.
    ///
    /// # Errors
    /// [`LlmError::Cut`] when the answer has no end, [`LlmError::Empty`] when it says nothing.
    fn end(&mut self, end: BodyEnd) -> Result<Completion, LlmError>;
}

/// How the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyEnd {
    /// The body is whole as far as HTTP can tell.
    Clean,
    /// The connection broke, or fell silent.
    Broken,
}

/// The error for an event that cannot be read.
pub(crate) fn not_understood(text: &ErrorText, error: &serde_json::Error, data: &[u8]) -> LlmError {
    let start = String::from_utf8_lossy(data.get(..200).unwrap_or(data));
    LlmError::Protocol { detail: text.clean(&format!("{error} in '{start}'")) }
}
