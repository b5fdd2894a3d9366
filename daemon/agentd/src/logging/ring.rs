//! The newest log records, kept in memory for `agentctl logs`.
//!
//! A record is numbered. Readers ask for what follows a number and learn how many they have missed, so
//! that nobody who reads slowly holds up whoever logs.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{Clock, TimestampMs, cut_head_tail};
use agentd_engine::SystemClock;
use tokio::sync::watch;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber, span};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, Scope};

/// Most records that are kept.
const MAX_RECORDS: usize = 10_000;
/// Most bytes that they take.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// What a record takes beside its texts, about.
const RECORD_BYTES: usize = 256;
/// What a fact takes beside its texts, about: a place in a map whose nodes are half empty, and two
/// allocations. With a dozen facts, as in a turn, this is far more than the texts.
const FACT_BYTES: usize = 128;
/// Most bytes of a message or of one fact.
const MAX_TEXT: usize = 4 * 1024;
/// Bytes of texts after which a page ends: with one more record it fits a message of the wire.
const PAGE_BYTES: usize = 1024 * 1024;
/// Most facts of a record, those of its spans included.
const MAX_FIELDS: usize = 32;

/// One log record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// When.
    pub at: TimestampMs,
    /// How grave.
    pub level: Level,
    /// Where in the daemon.
    pub target: String,
    /// What happened.
    pub message: String,
    /// Further facts, those of the spans around it included.
    pub fields: BTreeMap<String, String>,
}

impl LogRecord {
    fn bytes(&self) -> usize {
        let fact = |(name, value): (&String, &String)| FACT_BYTES + name.len() + value.len();
        let facts: usize = self.fields.iter().map(fact).sum();
        RECORD_BYTES + self.target.len() + self.message.len() + facts
    }
}

/// Records that follow a number.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LogPage {
    /// In order.
    pub records: Vec<Arc<LogRecord>>,
    /// The number to go on from.
    pub next: u64,
    /// Records that were gone when they were asked for.
    pub dropped: u64,
}

/// The newest log records. Clones share them.
#[derive(Debug, Clone)]
pub struct LogRing {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    clock: Arc<dyn Clock>,
    max_records: usize,
    kept: Mutex<Kept>,
    /// The number that the next record gets, for those who wait for it.
    next: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    records: VecDeque<Arc<LogRecord>>,
    bytes: usize,
    /// The number that the next record gets.
    next: u64,
}

impl Default for LogRing {
    /// An empty ring for 10,000 records.
    fn default() -> Self {
        Self::of_records(MAX_RECORDS)
    }
}

impl LogRing {
    /// An empty ring for so many records, or 8 MiB of them, whichever are fewer.
    pub fn of_records(max_records: usize) -> Self {
        let inner = Inner {
            clock: Arc::new(SystemClock),
            max_records,
            kept: Mutex::default(),
            next: watch::Sender::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The number from which on the newest `count` records are that `wanted` takes.
    pub fn start_of_newest(&self, count: usize, wanted: impl Fn(&LogRecord) -> bool) -> u64 {
        let kept = self.kept();
        let mut start = kept.next;
        let mut missing = count;
        for (number, record) in (0..kept.next).rev().zip(kept.records.iter().rev()) {
            if missing == 0 {
                break;
            }
            if wanted(record) {
                missing -= 1;
                start = number;
            }
        }
        start
    }

    /// At most `max` records from number `from` on. A page also ends when its texts have come to
    /// 1 MiB.
    pub fn read(&self, from: u64, max: usize) -> LogPage {
        let kept = self.kept();
        let oldest = kept.next.saturating_sub(count(kept.records.len()));
        let start = from.clamp(oldest, kept.next);
        let skip = usize::try_from(start - oldest).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let records: Vec<_> = kept
            .records
            .iter()
            .skip(skip)
            .take(max)
            .take_while(|record| {
                let before = bytes;
                bytes += record.bytes();
                before < PAGE_BYTES
            })
            .cloned()
            .collect();
        LogPage {
            next: start + count(records.len()),
            records,
            dropped: oldest.saturating_sub(from),
        }
    }

    /// Waits until there is a record with this number.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn wait_for(&self, number: u64) {
        let mut next = self.inner.next.subscribe();
        // The sender lives as long as `self`.
        let _alive = next.wait_for(|next| *next > number).await;
    }

    fn push(&self, record: LogRecord) {
        let next = {
            let mut kept = self.kept();
            kept.bytes += record.bytes();
            kept.records.push_back(Arc::new(record));
            kept.next += 1;
            while kept.records.len() > self.inner.max_records || kept.bytes > MAX_BYTES {
                let Some(oldest) = kept.records.pop_front() else { break };
                kept.bytes -= oldest.bytes();
            }
            kept.next
        };
        self.inner.next.send_replace(next);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing that can panic runs under this lock, and nothing that logs.
        self.inner.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogRing {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, ctx: Context<'_, S>) {
        if let Some(span) = ctx.span(id) {
            let mut facts = Facts::default();
            attributes.record(&mut facts);
            span.extensions_mut().insert(facts);
        }
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, ctx: Context<'_, S>) {
        if let Some(span) = ctx.span(id)
            && let Some(facts) = span.extensions_mut().get_mut::<Facts>()
        {
            values.record(facts);
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        let mut facts = Facts::default();
        // From the root inwards: what is nearer to the event counts more.
        for span in ctx.event_scope(event).into_iter().flat_map(Scope::from_root) {
            if let Some(of_span) = span.extensions().get::<Facts>() {
                of_span.fields.iter().for_each(|(name, value)| facts.keep(name, value.clone()));
            }
        }
        event.record(&mut facts);
        let metadata = event.metadata();
        self.push(LogRecord {
            at: self.inner.clock.now(),
            level: *metadata.level(),
            target: metadata.target().to_owned(),
            message: facts.message,
            fields: facts.fields,
        });
    }
}

/// What an event or a span says, within bounds.
#[derive(Debug, Default)]
struct Facts {
    message: String,
    fields: BTreeMap<String, String>,
}

impl Facts {
    fn keep(&mut self, name: &str, value: String) {
        if self.fields.len() < MAX_FIELDS || self.fields.contains_key(name) {
            self.fields.insert(name.to_owned(), value);
        }
    }

    fn take(&mut self, field: &Field, value: &str) {
        let value = cut_head_tail(value, MAX_TEXT);
        if field.name() == "message" {
            self.message = value;
        } else {
            self.keep(field.name(), value);
        }
    }
}

impl Visit for Facts {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = String::new();
        // Writing to a String fails only when a Debug of ours does; what came so far is kept.
        let _incomplete = write!(text, "{value:?}");
        self.take(field, &text);
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    fn messages(page: &LogPage) -> Vec<&str> {
        page.records.iter().map(|record| record.message.as_str()).collect()
    }

    #[test]
    fn a_record_has_the_facts_of_its_spans() {
        let ring = LogRing::default();
        let subscriber = tracing_subscriber::registry().with(ring.clone());
        tracing::subscriber::with_default(subscriber, || {
            let outer = tracing::info_span!("session", session_id = "S", turn_id = "none");
            let _outer = outer.enter();
            let inner = tracing::info_span!("turn", turn_id = tracing::field::Empty);
            inner.record("turn_id", "T");
            let _inner = inner.enter();
            tracing::warn!(attempt = 2, "trying {}", "again");
        });
        let page = ring.read(0, 10);
        assert_eq!(messages(&page), ["trying again"]);
        let record = &page.records[0];
        assert_eq!(record.level, Level::WARN);
        let fields: Vec<_> =
            record.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(fields, ["attempt=2", "session_id=S", "turn_id=T"]);
    }

    #[test]
    fn what_is_too_old_is_dropped_and_counted() {
        let ring = LogRing::default();
        let subscriber = tracing_subscriber::registry().with(ring.clone());
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..MAX_RECORDS + 5 {
                tracing::info!("{number}");
            }
        });
        let page = ring.read(0, 2);
        assert_eq!((messages(&page), page.next, page.dropped), (vec!["5", "6"], 7, 5));
        let page = ring.read(page.next, 1);
        assert_eq!((messages(&page), page.dropped), (vec!["7"], 0));
        let end = count(MAX_RECORDS + 5);
        let nothing = ring.read(end + 7, 9);
        assert_eq!((nothing.records.len(), nothing.next, nothing.dropped), (0, end, 0));
        let start = ring.start_of_newest(2, |record| record.message.ends_with('0'));
        assert_eq!(messages(&ring.read(start, 1)), ["9990"]);
    }

    #[test]
    fn long_texts_are_cut_and_memory_is_bounded() {
        let ring = LogRing::default();
        let subscriber = tracing_subscriber::registry().with(ring.clone());
        let long = "世".repeat(MAX_TEXT);
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..2 * MAX_BYTES / MAX_TEXT {
                tracing::info!(long, "x");
            }
        });
        let kept = ring.kept();
        assert!(kept.bytes <= MAX_BYTES);
        assert!(kept.records[0].fields["long"].len() <= MAX_TEXT + 100);
    }

    #[test]
    fn many_facts_count_as_the_memory_that_they_take() {
        let ring = LogRing::default();
        let subscriber = tracing_subscriber::registry().with(ring.clone());
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..MAX_RECORDS {
                tracing::info!(a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, "x");
            }
        });
        let kept = ring.kept();
        assert!(kept.records.len() * (RECORD_BYTES + 8 * FACT_BYTES) <= MAX_BYTES);
        assert_eq!(kept.bytes, kept.records.iter().map(|record| record.bytes()).sum::<usize>());
    }

    #[test]
    fn a_small_ring_keeps_the_newest_records() {
        let ring = LogRing::of_records(2);
        let subscriber = tracing_subscriber::registry().with(ring.clone());
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..5 {
                tracing::info!("{number}");
            }
        });
        let page = ring.read(0, 10);
        assert_eq!((messages(&page), page.dropped), (vec!["3", "4"], 3));
    }

    #[tokio::test]
    async fn who_waits_is_woken_by_the_next_record() {
        let ring = LogRing::default();
        let subscriber = tracing_subscriber::registry().with(ring.clone());
        let waiting = ring.clone();
        let ((), ()) = tokio::join!(waiting.wait_for(0), async {
            tokio::task::yield_now().await;
            tracing::subscriber::with_default(subscriber, || tracing::info!("now"));
        });
        assert_eq!(messages(&ring.read(0, 10)), ["now"]);
    }
}
