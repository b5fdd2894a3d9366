//! Sends ended spans in batches, and tells of trouble once in a while.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_sdk::trace::SpanData;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::Figures;

/// Most spans of one request; about a quarter of the queue.
const BATCH: usize = 512;
/// Longest time that a span waits for others to go with it.
const BATCH_PAUSE: Duration = Duration::from_secs(5);
/// Longest time of a request, its connection included.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// Shortest time between two warnings.
const WARN_PAUSE: Duration = Duration::from_secs(300);

/// Where spans go.
pub(super) trait Collector: Send {
    /// Sends them. Dropping the future gives them up.
    fn send(&mut self, spans: Vec<SpanData>) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// What did not arrive, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) lost: usize,
    pub(super) why: String,
}

/// The task that sends.
#[derive(Debug)]
pub(super) struct Export<C> {
    ended: mpsc::Receiver<SpanData>,
    collector: C,
    figures: Arc<Figures>,
    told: Told,
}

/// What the log was told last.
#[derive(Debug, Default)]
struct Told {
    warned_at: Option<Instant>,
    lost: u64,
    is_failing: bool,
}

impl<C: Collector> Export<C> {
    pub(super) fn new(
        ended: mpsc::Receiver<SpanData>,
        collector: C,
        figures: Arc<Figures>,
    ) -> Self {
        Self { ended, collector, figures, told: Told::default() }
    }

    /// Sends until `closing`, then what is still queued.
    pub(super) async fn run(mut self, closing: CancellationToken) {
        loop {
            let batch = self.next_batch(&closing).await;
            if batch.is_empty() {
                return;
            }
            self.send(batch).await;
        }
    }

    /// Empty when there is nothing left and nothing will come.
    async fn next_batch(&mut self, closing: &CancellationToken) -> Vec<SpanData> {
        let mut batch = Vec::new();
        let mut due = None;
        while batch.len() < BATCH {
            let room = BATCH - batch.len();
            let pause_ends = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // What is queued goes out before a stop.
                biased;
                more = self.ended.recv_many(&mut batch, room) => {
                    if more == 0 {
                        break;
                    }
                    due.get_or_insert_with(|| Instant::now() + BATCH_PAUSE);
                }
                () = closing.cancelled() => break,
                () = pause_ends => break,
            }
        }
        batch
    }

    async fn send(&mut self, batch: Vec<SpanData>) {
        let count = batch.len();
        let sent = timeout(EXPORT_TIMEOUT, self.collector.send(batch)).await;
        let failure = match sent {
            Ok(sent) => sent.err(),
            Err(_too_slow) => {
                let why = format!("no answer within {} s", EXPORT_TIMEOUT.as_secs());
                Some(Failure { lost: count, why })
            }
        };
        let lost = failure.as_ref().map_or(0, |failure| failure.lost.min(count));
        self.figures.add_lost(lost);
        if lost < count {
            self.figures.add_exported(count - lost);
        }
        if let Some(failure) = &failure {
            self.figures.failed(failure.why.clone());
        }
        let why = failure.map(|failure| failure.why);
        self.told.tell(why.as_deref(), self.figures.lost());
    }
}

impl Told {
    /// `lost` counts since the start, with those for which the queue had no room.
    fn tell(&mut self, failure: Option<&str>, lost: u64) {
        let newly_lost = lost.saturating_sub(self.lost);
        if failure.is_none() && self.is_failing {
            self.is_failing = false;
            self.lost = lost;
            tracing::info!(lost_spans = newly_lost, "traces are exported again");
            return;
        }
        let Some(why) = failure.or((newly_lost > 0).then_some("too many at once")) else { return };
        if self.warned_at.is_some_and(|at| at.elapsed() < WARN_PAUSE) {
            return;
        }
        tracing::warn!(
            reason = why,
            lost_spans = newly_lost,
            "traces could not be exported; this is said every {} minutes at most",
            WARN_PAUSE.as_secs() / 60
        );
        *self = Self { warned_at: Some(Instant::now()), lost, is_failing: failure.is_some() };
    }
}

#[cfg(test)]
mod tests;
