//! A stream with somebody who watches it, for layers that must last as long as the answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::Stream;

use crate::{LlmError, ResponseStream, StreamPart};

/// Watches one answer. Dropped as soon as the answer has ended or nobody wants it any more.
pub(super) trait Observer: Send + Unpin + 'static {
    /// Another part has come.
    fn part(&mut self, part: &StreamPart);

    /// The answer broke off.
    fn error(&mut self, error: &LlmError);
}

/// See the page.
struct Observed<O> {
    /// None once it has ended.
    inner: Option<(ResponseStream, O)>,
}

/// Has `observer` watch `stream`. A stream that ends before its answer does ends in an error.
pub(super) fn observed(stream: ResponseStream, observer: impl Observer) -> ResponseStream {
    Box::pin(Observed { inner: Some((stream, observer)) })
}

impl<O: Observer> Stream for Observed<O> {
    type Item = Result<StreamPart, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some((stream, observer)) = &mut self.inner else { return Poll::Ready(None) };
        let item = ready!(stream.as_mut().poll_next(cx)).unwrap_or(Err(LlmError::Cut));
        let is_last = match &item {
            Ok(part) => {
                observer.part(part);
                matches!(part, StreamPart::Finished(_))
            }
            Err(error) => {
                observer.error(error);
                true
            }
        };
        if is_last {
            self.inner = None;
        }
        Poll::Ready(Some(item))
    }
}
