//! One span for each request, with the attribute names of OpenTelemetry's conventions for generative
//! AI (`gen_ai.*`), so that any collector understands it.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use agentd_domain::Usage;
use futures_util::Stream;
use tower::util::{BoxCloneSyncService, service_fn};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::adapt::{ModelService, ask};
use crate::{
    Attempt, Completion, Finish, LlmError, Meter, Request, ResponseStream, Spent, StreamPart,
};

/// Puts the layer around a stack whose first provider is of this kind.
pub(super) fn layer(inner: ModelService, provider: &'static str) -> ModelService {
    BoxCloneSyncService::new(service_fn(move |mut request: Request| {
        let inner = inner.clone();
        let span = tracing::info_span!(
            "chat",
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider,
            gen_ai.request.model = request.model,
            gen_ai.request.max_tokens = request.max_output_tokens,
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            attempts = Empty,
            error.type = Empty,
        );
        let mut ended = Ended { span: span.clone(), tally: Tally::around(&mut request) };
        async move {
            match ask(&inner, request).await {
                Ok(stream) => Ok(Box::pin(Traced { stream, ended }) as ResponseStream),
                Err(error) => {
                    ended.error(&error);
                    Err(error)
                }
            }
        }
        .instrument(span)
    }))
}

/// Completes the span when the request has ended, however it did.
struct Ended {
    span: Span,
    tally: Arc<Tally>,
}

impl Ended {
    fn error(&mut self, error: &LlmError) {
        self.span.record("error.type", error.code());
    }

    fn finished(&mut self, completion: &Completion) {
        self.span.record("gen_ai.response.finish_reasons", finish_reason(completion));
    }
}

/// In the words of Chat Completions, which the conventions use for every provider.
fn finish_reason(completion: &Completion) -> &'static str {
    match completion.finish {
        Finish::Done if completion.tool_calls.is_empty() => "stop",
        Finish::Done => "tool_calls",
        Finish::OutputLimit => "length",
        Finish::Refused => "content_filter",
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let Sums { usage, model } = self.tally.sums();
        self.span.record("gen_ai.response.model", model);
        self.span.record("gen_ai.usage.input_tokens", usage.prompt_tokens);
        self.span.record("gen_ai.usage.output_tokens", usage.completion_tokens);
        self.span.record("attempts", self.tally.attempts());
    }
}

/// An answer whose parts come inside the span.
struct Traced {
    // Dropped before `ended`: what broke off is recorded by then.
    stream: ResponseStream,
    ended: Ended,
}

impl Stream for Traced {
    type Item = Result<StreamPart, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let span = self.ended.span.clone();
        let item = span.in_scope(|| self.stream.as_mut().poll_next(cx));
        match &item {
            Poll::Ready(Some(Err(error))) => self.ended.error(error),
            Poll::Ready(Some(Ok(StreamPart::Finished(completion)))) => {
                self.ended.finished(completion);
            }
            _ => {}
        }
        item
    }
}

/// Counts attempts and tokens on their way to the request's own meter.
#[derive(Debug)]
pub(super) struct Tally {
    inner: Option<Arc<dyn Meter>>,
    attempts: AtomicU32,
    sums: Mutex<Sums>,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    usage: Usage,
    /// The model that was asked last.
    model: String,
}

impl Tally {
    /// Puts itself between the request and its meter.
    pub(super) fn around(request: &mut Request) -> Arc<Self> {
        let tally = Arc::new(Self {
            inner: request.meter.take(),
            attempts: AtomicU32::new(0),
            sums: Mutex::default(),
        });
        request.meter = Some(Arc::<Self>::clone(&tally));
        tally
    }

    /// Attempts so far.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }

    fn sums(&self) -> Sums {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Meter for Tally {
    fn admit(&self, attempt: &Attempt) -> Result<(), LlmError> {
        if let Some(inner) = &self.inner {
            inner.admit(attempt)?;
        }
        self.attempts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn record(&self, spent: Spent) {
        {
            let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
            sums.usage.add(&spent.usage);
            sums.model.clone_from(&spent.attempt.model);
        }
        if let Some(inner) = &self.inner {
            inner.record(spent);
        }
    }
}
