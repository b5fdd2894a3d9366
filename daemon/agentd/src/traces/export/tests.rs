use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::SystemTime;

use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanEvents, SpanLinks, SpanProcessor as _};
use tokio::task::JoinSet;
use tracing::{Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

use super::super::Exporting;
use super::super::queue::{QUEUE, Queue};
use super::*;

fn span(name: &'static str, fields: &[(&'static str, &'static str)]) -> SpanData {
    let (trace, span) = (TraceId::from(1_u128), SpanId::from(1_u64));
    SpanData {
        span_context: SpanContext::new(
            trace,
            span,
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        ),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: Cow::Borrowed(name),
        start_time: SystemTime::UNIX_EPOCH,
        end_time: SystemTime::UNIX_EPOCH,
        attributes: fields.iter().map(|(key, value)| KeyValue::new(*key, *value)).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::default(),
    }
}

/// What the collector does with all requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Take,
    Refuse,
    Hang,
}

#[derive(Debug, Clone)]
struct Scripted {
    does: Arc<Mutex<Does>>,
    /// How many spans each request had, and when it came.
    asked: mpsc::Sender<(usize, Instant)>,
}

impl Collector for Scripted {
    async fn send(&mut self, spans: Vec<SpanData>) -> Result<(), Failure> {
        self.asked.send((spans.len(), Instant::now())).await.unwrap();
        let does = *self.does.lock().unwrap();
        match does {
            Does::Take => Ok(()),
            Does::Refuse => Err(Failure { lost: spans.len(), why: "away".to_owned() }),
            Does::Hang => std::future::pending().await,
        }
    }
}

struct World {
    queue: Queue,
    figures: Arc<Figures>,
    does: Arc<Mutex<Does>>,
    asked: mpsc::Receiver<(usize, Instant)>,
    exporting: Exporting,
}

impl World {
    fn new(does: Does) -> Self {
        let figures = Arc::new(Figures::default());
        let (queue, ended) = Queue::new(Arc::clone(&figures));
        let (asked_tx, asked) = mpsc::channel(1_000);
        let does = Arc::new(Mutex::new(does));
        let collector = Scripted { does: Arc::clone(&does), asked: asked_tx };
        let export = Export::new(ended, collector, Arc::clone(&figures));
        let closing = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(export.run(closing.clone()));
        Self { queue, figures, does, asked, exporting: Exporting { tasks, closing } }
    }

    fn end_spans(&self, count: usize) {
        for _ in 0..count {
            self.queue.on_end(span("turn", &[]));
        }
    }

    async fn asked(&mut self) -> (usize, Instant) {
        self.asked.recv().await.unwrap()
    }

    /// A request that has come to its end, however that is.
    async fn one_more(&mut self) {
        let before = self.figures.lost() + self.figures.exported();
        self.end_spans(1);
        self.asked().await;
        while self.figures.lost() + self.figures.exported() == before {
            tokio::task::yield_now().await;
        }
    }
}

const LIMIT: Duration = Duration::from_secs(3);

#[tokio::test(start_paused = true)]
async fn spans_go_in_batches_and_none_waits_long() {
    let mut world = World::new(Does::Take);
    let began = Instant::now();
    world.end_spans(3);
    assert_eq!(world.asked().await, (3, began + BATCH_PAUSE));
    // A full batch does not wait.
    let began = Instant::now();
    world.end_spans(BATCH + 1);
    assert_eq!(world.asked().await, (BATCH, began));
    assert_eq!(world.asked().await, (1, began + BATCH_PAUSE));
    world.exporting.flush(LIMIT).await;
    assert_eq!((world.figures.exported(), world.figures.lost()), (3 + BATCH as u64 + 1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stop_sends_all_that_is_queued_at_once() {
    let world = World::new(Does::Take);
    world.end_spans(QUEUE);
    let began = Instant::now();
    world.exporting.flush(LIMIT).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!((world.figures.exported(), world.figures.lost()), (QUEUE as u64, 0));
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_hangs_costs_spans_but_no_memory_and_no_stop() {
    let mut world = World::new(Does::Hang);
    world.end_spans(BATCH);
    world.asked().await;
    // The queue takes what it can hold while the request hangs, and no more.
    world.end_spans(QUEUE + 100);
    assert_eq!(world.figures.lost(), 100);
    // The request is given up, and the next one is tried.
    let (_spans, at) = world.asked().await;
    assert_eq!(world.figures.lost(), 100 + BATCH as u64);
    assert_eq!(world.figures.failure().as_deref(), Some("no answer within 10 s"));
    world.exporting.flush(LIMIT).await;
    assert_eq!(at.elapsed(), LIMIT);
    assert_eq!(world.figures.exported(), 0);
}

/// Messages of the log.
#[derive(Debug, Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _context: Context<'_, S>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                write!(self.0, " {}={value:?}", field.name()).unwrap();
            }
        }
        if *event.metadata().level() <= Level::INFO {
            let mut fields = Fields(event.metadata().level().to_string());
            event.record(&mut fields);
            self.0.lock().unwrap().push(fields.0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_told_once_in_a_while_and_their_end_too() {
    let lines = Lines::default();
    let _guard = Registry::default().with(lines.clone()).set_default();
    let mut world = World::new(Does::Refuse);
    let told = |expect: &[&[&str]]| {
        let lines = std::mem::take(&mut *lines.0.lock().unwrap());
        assert_eq!(lines.len(), expect.len(), "{lines:?}");
        for (line, parts) in lines.iter().zip(expect) {
            assert!(parts.iter().all(|part| line.contains(part)), "{line}");
        }
    };
    world.one_more().await;
    told(&[&["WARN", "away", "lost_spans=1"]]);
    // One each five seconds: the last comes when the pause is over.
    for _ in 0..WARN_PAUSE.as_secs() / BATCH_PAUSE.as_secs() {
        world.one_more().await;
    }
    told(&[&["WARN", "away", "lost_spans=60"]]);
    world.one_more().await;
    *world.does.lock().unwrap() = Does::Take;
    world.one_more().await;
    told(&[&["INFO", "exported again", "lost_spans=1"]]);
    world.one_more().await;
    told(&[]);
    assert_eq!(world.figures.failure(), None);
}

#[tokio::test(start_paused = true)]
async fn only_known_fields_leave_and_none_is_long() {
    let figures = Arc::new(Figures::default());
    let (queue, mut ended) = Queue::new(figures);
    let long: &'static str = Box::leak("ü".repeat(10_000).into_boxed_str());
    queue.on_end(span(
        "chat",
        &[
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", long),
            ("gen_ai.usage.input_tokens", "12"),
            ("gen_ai.usage.output_tokens", "many"),
            ("gen_ai.response.model", ""),
            ("prompt", "private"),
        ],
    ));
    let span = ended.recv().await.unwrap();
    let names: Vec<&str> = span.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
    assert_eq!(
        names,
        ["gen_ai.operation.name", "gen_ai.request.model", "gen_ai.usage.input_tokens"]
    );
    assert!(span.name.starts_with("chat ü") && span.name.chars().count() < 300, "{}", span.name);
    assert_eq!(span.attributes[2].value, opentelemetry::Value::I64(12));
}
