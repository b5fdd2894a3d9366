//! Spans that have ended and wait to be exported. Nobody who ends one waits.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use tokio::sync::mpsc;

use super::Figures;
use super::conventions::conform;

/// Most spans that wait; further ones are lost. Each is about 1 KiB.
pub(super) const QUEUE: usize = 2_048;

/// Where spans are put in.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: mpsc::Sender<SpanData>,
    figures: Arc<Figures>,
}

impl Queue {
    /// A queue and where its spans come out.
    pub(super) fn new(figures: Arc<Figures>) -> (Self, mpsc::Receiver<SpanData>) {
        let (waiting, ended) = mpsc::channel(QUEUE);
        (Self { waiting, figures }, ended)
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        // Before it waits: what waits is bounded in number and size.
        if self.waiting.try_send(conform(span)).is_err() {
            self.figures.add_lost(1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        // The exporting task flushes when the daemon stops.
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}
