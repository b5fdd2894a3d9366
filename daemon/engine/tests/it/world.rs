//! Everything a test needs: a store, a scripted model, tools, a clock, and terminals.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agentd_domain::{
    Author, CallId, Clock, Delivery, Event, EventBody, IdSource, PermissionMode, Priority, Seq,
    SessionId, TimestampMs, WorkMode,
};
use agentd_engine::{
    AttachPosition, Attachment, AttachmentItem, DeltaSource, Engine, EngineConfig, EngineDeps,
    ModelQuery, ModelSource, NewSession, ResolvedModel, Role, StreamEnd, Submission, Submitted,
    TitlePolicy,
};
use agentd_llm::layers::{Candidate, Endpoint, EndpointLimits, FallbackPolicy, RetryPolicy, Stack};
use agentd_llm::{
    AssembledCall, Catalogue, Completion, Finish, InfoSource, LlmError, ModelInfo, Price, Prices,
    Provider, Request, ResponseStream, StreamPart,
};
use agentd_memory::{Memories, MemoryConfig};
use agentd_store::{CrashPoints, PageLimit, Store};
use agentd_tools::Registry;
use async_trait::async_trait;
use futures_util::{FutureExt as _, stream};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use crate::store::FaultyStore;

/// A point at which a script waits until the test opens it.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<Semaphore>);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets one more through.
    pub(crate) fn open(&self) {
        self.0.add_permits(1);
    }

    pub(crate) async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

/// What a scripted model does next. A script that runs out ends the answer as a model would.
#[derive(Debug)]
pub(crate) enum Step {
    Text(String),
    Reasoning(&'static str),
    /// Asks for tools, by name and argument text, and ends the answer.
    Call(Vec<(&'static str, &'static str)>),
    /// Ends the answer like this.
    End(Completion),
    Wait(Duration),
    Pass(Gate),
    Fail(LlmError),
    /// Fails before the answer begins.
    Refuse(LlmError),
    Panic,
    Hang,
    /// So many parts that are all there at once, although each took that long.
    Flood(usize, Duration),
}

pub(crate) fn text(text: &str) -> Step {
    Step::Text(text.to_owned())
}

/// A model that follows scripts: one per request, "ok" when there is none.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    scripts: Mutex<VecDeque<Vec<Step>>>,
    /// What it was asked.
    pub(crate) requests: Mutex<Vec<Request>>,
    /// When.
    pub(crate) asked_at: Mutex<Vec<Instant>>,
}

impl Scripted {
    /// Takes back a script that no request has come for.
    pub(crate) fn take_script(&self) -> Option<Vec<Step>> {
        self.scripts.lock().unwrap().pop_front()
    }
}

#[async_trait]
impl Provider for Scripted {
    fn kind(&self) -> &'static str {
        "scripted"
    }

    fn base_url(&self) -> &'static str {
        ""
    }

    async fn stream(&self, request: Request) -> Result<ResponseStream, LlmError> {
        self.requests.lock().unwrap().push(request);
        self.asked_at.lock().unwrap().push(Instant::now());
        let script = self.scripts.lock().unwrap().pop_front();
        let mut steps: VecDeque<Step> = script.unwrap_or_else(|| vec![text("ok")]).into();
        if matches!(steps.front(), Some(Step::Refuse(_)))
            && let Some(Step::Refuse(error)) = steps.pop_front()
        {
            return Err(error);
        }
        Ok(Box::pin(stream::unfold(Some(steps), |steps| async move {
            let mut steps = steps?;
            loop {
                let (part, goes_on) = match steps.pop_front() {
                    None => (Ok(finished(Vec::new())), false),
                    Some(Step::Text(text)) => (Ok(StreamPart::Text(text)), true),
                    Some(Step::Reasoning(text)) => (Ok(StreamPart::Reasoning(text.into())), true),
                    Some(Step::Call(calls)) => (Ok(finished(calls)), false),
                    Some(Step::End(completion)) => (Ok(StreamPart::Finished(completion)), false),
                    Some(Step::Fail(error) | Step::Refuse(error)) => (Err(error), false),
                    Some(Step::Panic) => panic!("a scripted panic"),
                    Some(Step::Hang) => std::future::pending().await,
                    Some(Step::Wait(time)) => {
                        tokio::time::sleep_until(Instant::now() + time).await;
                        continue;
                    }
                    Some(Step::Pass(gate)) => {
                        gate.pass().await;
                        continue;
                    }
                    Some(Step::Flood(0, _)) => continue,
                    Some(Step::Flood(parts, each)) => {
                        // The first poll moves the clock; waiting would let others run.
                        let _moved = tokio::time::advance(each).now_or_never();
                        steps.push_front(Step::Flood(parts - 1, each));
                        (Ok(StreamPart::Text("x".to_owned())), true)
                    }
                };
                return Some((part, goes_on.then_some(steps)));
            }
        })))
    }

    async fn models(&self) -> Result<Vec<String>, LlmError> {
        Ok(vec!["scripted".to_owned()])
    }
}

fn finished(calls: Vec<(&'static str, &'static str)>) -> StreamPart {
    let tool_calls = calls
        .into_iter()
        .map(|(name, arguments)| AssembledCall {
            name: name.to_owned(),
            arguments_json: arguments.to_owned(),
            is_whole: true,
        })
        .collect();
    StreamPart::Finished(Completion { native: None, finish: Finish::Done, tool_calls, usage: None })
}

/// The layers around a model, with their usual limits.
fn stack(provider: &Arc<Scripted>, fallbacks: &[&str]) -> Arc<dyn Provider> {
    let candidate = |name: &str| Candidate {
        model: name.to_owned(),
        info: Arc::default(),
        provider: Arc::<Scripted>::clone(provider),
        endpoint: Arc::new(Endpoint::new("scripted", &EndpointLimits::default())),
        retry: RetryPolicy::default(),
        max_output_tokens: None,
        effort: None,
    };
    let fallbacks = fallbacks.iter().map(|name| candidate(name)).collect();
    Arc::new(Stack::new(candidate("default"), fallbacks, FallbackPolicy::default()))
}

/// A token costs a thousandth of a cent.
fn prices() -> Prices {
    let price = Price::from_usd_per_million(10.0).unwrap();
    let (cache_read, cache_write, long) = (None, None, None);
    Prices { prompt: price, completion: price, cache_read, cache_write, long }
}

/// Gives the scripted model, or what a test wants it to do first.
#[derive(Debug)]
pub(crate) struct Models {
    /// The scripted model in its layers, as in a daemon.
    stack: Arc<dyn Provider>,
    /// A provider to ask in its place. What is known of its models is in the catalogue.
    pub(crate) real: Mutex<Option<Arc<dyn Provider>>>,
    before: Mutex<VecDeque<Step>>,
    /// Tokens of the window.
    pub(crate) context_tokens: AtomicU64,
    /// What is known of the model.
    pub(crate) info: Mutex<ModelInfo>,
    /// Windows that providers named: where, which model, how many tokens.
    pub(crate) learned: Mutex<Vec<(String, String, u64)>>,
}

#[async_trait]
impl ModelSource for Models {
    async fn resolve(&self, query: &ModelQuery) -> Result<ResolvedModel, LlmError> {
        let before = self.before.lock().unwrap().pop_front();
        match before {
            Some(Step::Hang) => std::future::pending().await,
            Some(Step::Panic) => panic!("a scripted panic"),
            Some(Step::Fail(error)) => return Err(error),
            _ => {}
        }
        let real = self.real.lock().unwrap().clone();
        if real.is_some() {
            let facts = Catalogue::builtin().facts(&query.model).unwrap_or_default();
            *self.info.lock().unwrap() = ModelInfo::default().with(&facts, InfoSource::Catalogue);
        }
        let info = self.info.lock().unwrap().clone();
        Ok(ResolvedModel {
            provider: real.unwrap_or_else(|| Arc::clone(&self.stack)),
            model: match (query.role, query.model.as_str()) {
                (Role::Cheap, _) => "cheap".to_owned(),
                (_, "") => "default".to_owned(),
                (_, model) => model.to_owned(),
            },
            info: Arc::new(info.clone()),
            context_tokens: self.context_tokens.load(Ordering::Relaxed),
            max_output_tokens: None,
            effort: query.effort.map(|effort| info.effort_choice(effort)),
        })
    }

    fn learn_context_limit(&self, provider_base_url: &str, model: &str, tokens: u64) {
        let learned = (provider_base_url.to_owned(), model.to_owned(), tokens);
        self.learned.lock().unwrap().push(learned);
    }
}

/// Tokio's time, as a time of day.
#[derive(Debug)]
struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(1_700_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl IdSource for Counter {
    fn random(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// See the page.
pub(crate) struct World {
    pub(crate) store: Arc<FaultyStore>,
    pub(crate) provider: Arc<Scripted>,
    pub(crate) models: Arc<Models>,
    pub(crate) config: watch::Sender<EngineConfig>,
    pub(crate) tools: Registry,
    /// What is remembered. All engines of the world share it.
    pub(crate) memories: Memories,
    clock: Arc<TestClock>,
    ids: Arc<Counter>,
    messages: AtomicU64,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_fallbacks(&[])
    }

    /// A world whose model has others that answer when it cannot.
    pub(crate) fn with_fallbacks(fallbacks: &[&str]) -> Self {
        let provider = Arc::new(Scripted::default());
        let config = EngineConfig {
            titles: TitlePolicy::FirstMessage,
            // What may run is the matter of few tests.
            permission_mode: PermissionMode::Full,
            ..EngineConfig::default()
        };
        let store = Arc::new(FaultyStore::new());
        let clock = Arc::new(TestClock(Instant::now()));
        let ids = Arc::<Counter>::default();
        let memories = Memories::new(
            Arc::<FaultyStore>::clone(&store),
            Arc::<TestClock>::clone(&clock),
            Arc::<Counter>::clone(&ids),
            MemoryConfig::default(),
        );
        Self {
            store,
            memories,
            models: Arc::new(Models {
                stack: stack(&provider, fallbacks),
                before: Mutex::default(),
                context_tokens: AtomicU64::new(100_000),
                info: Mutex::new(ModelInfo { prices: Some(prices()), ..ModelInfo::default() }),
                learned: Mutex::default(),
                real: Mutex::default(),
            }),
            provider,
            config: watch::Sender::new(config),
            tools: Registry::new(),
            clock,
            ids,
            messages: AtomicU64::new(0),
        }
    }

    pub(crate) fn configure(&self, change: impl FnOnce(&mut EngineConfig)) {
        self.config.send_modify(change);
    }

    /// What the model does on its next requests.
    pub(crate) fn script(&self, steps: Vec<Step>) {
        self.provider.scripts.lock().unwrap().push_back(steps);
    }

    /// What happens when the model is looked up the next time.
    pub(crate) fn before_model(&self, step: Step) {
        self.models.before.lock().unwrap().push_back(step);
    }

    /// Starts a daemon's engine over the store.
    pub(crate) fn engine(&self) -> Engine {
        self.engine_with(CrashPoints::default())
    }

    fn engine_with(&self, crash_points: CrashPoints) -> Engine {
        Engine::new(EngineDeps {
            store: Arc::<FaultyStore>::clone(&self.store),
            models: Arc::<Models>::clone(&self.models),
            tools: self.tools.clone(),
            clock: Arc::<TestClock>::clone(&self.clock),
            ids: Arc::<Counter>::clone(&self.ids),
            config: self.config.subscribe(),
            crash_points,
            memories: self.memories.clone(),
            undo: None,
        })
    }

    /// An engine whose actor panics at a point, the first time that it passes there.
    pub(crate) fn engine_that_breaks_at(&self, point: &'static str) -> Engine {
        let broken = std::sync::atomic::AtomicBool::new(false);
        self.engine_with(CrashPoints::new(move |name| {
            assert!(name != point || broken.swap(true, Ordering::Relaxed), "a scripted panic");
        }))
    }

    /// Ends an engine as SIGKILL would: nothing more is written.
    pub(crate) async fn crash(&self, engine: Engine) {
        let tasks = engine.tasks().clone();
        drop(engine);
        tasks.stop().await;
    }

    pub(crate) async fn session(&self, engine: &Engine) -> SessionId {
        let new = NewSession {
            effort: None,
            permission_mode: None,
            work_mode: WorkMode::Develop,
            further_roots: Vec::new(),
            session_id: None,
            title: None,
            workspace: "/".to_owned(),
            model: String::new(),
        };
        engine.create(new).await.unwrap().record.session_id
    }

    pub(crate) fn message(&self, text: &str, delivery: Delivery) -> Submission {
        let number = self.messages.fetch_add(1, Ordering::Relaxed);
        Submission {
            priority: Priority::Normal,
            ttl: None,
            unattended: false,
            client_message_id: format!("m{number}").parse().unwrap(),
            text: text.to_owned(),
            delivery,
            author: author("ann"),
        }
    }

    pub(crate) async fn send(&self, engine: &Engine, id: SessionId, text: &str) -> Submitted {
        engine.submit(id, self.message(text, Delivery::Queue)).await.unwrap()
    }

    /// The whole log, from the store.
    pub(crate) async fn log(&self, id: SessionId) -> Vec<Event> {
        let limit = PageLimit { events: 100_000, bytes: usize::MAX };
        self.store.events(id, Seq(1), limit).await.unwrap().events
    }

    /// The kinds of all events.
    pub(crate) async fn kinds(&self, id: SessionId) -> Vec<String> {
        kinds(&self.log(id).await)
    }
}

/// Lets paused time go by: every timer in between fires, and nothing really waits.
pub(crate) async fn pass_seconds(seconds: u64) {
    tokio::time::sleep_until(Instant::now() + Duration::from_secs(seconds)).await;
}

pub(crate) fn author(name: &str) -> Author {
    Author::new(name, name).unwrap()
}

pub(crate) fn kinds<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    events.into_iter().map(|event| event.body.kind().to_owned()).collect()
}

/// A terminal that keeps what it was shown.
#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) attachment: Attachment,
    pub(crate) events: Vec<Event>,
    /// The answer that is being written, put together from deltas.
    pub(crate) live: String,
    pub(crate) reasoning: String,
    /// What running calls show.
    pub(crate) outputs: HashMap<CallId, String>,
    pub(crate) names: Vec<String>,
    pub(crate) lags: usize,
}

impl Terminal {
    pub(crate) async fn attach(engine: &Engine, id: SessionId, name: &str) -> Self {
        Self::attach_at(engine, id, name, AttachPosition::From(Seq(1))).await
    }

    pub(crate) async fn attach_at(
        engine: &Engine,
        id: SessionId,
        name: &str,
        position: AttachPosition,
    ) -> Self {
        let attachment = engine.attach(id, author(name), position).await.unwrap();
        Self {
            attachment,
            events: Vec::new(),
            live: String::new(),
            reasoning: String::new(),
            outputs: HashMap::new(),
            names: Vec::new(),
            lags: 0,
        }
    }

    /// Takes the next step of the stream in. Some: the stream has ended.
    pub(crate) async fn step(&mut self) -> Option<StreamEnd> {
        match self.attachment.next().await.expect("the stream goes on") {
            AttachmentItem::Events(events) => {
                for event in events {
                    let follows =
                        self.events.last().is_none_or(|last| last.seq.next() == event.seq);
                    assert!(follows, "a gap or a repetition before {event:?}");
                    if matches!(
                        event.body,
                        EventBody::AssistantMessage(_) | EventBody::AttemptRestarted(_)
                    ) {
                        self.live.clear();
                        self.reasoning.clear();
                    }
                    self.events.push(Event::clone(&event));
                }
            }
            AttachmentItem::Delta(delta) => {
                let text = match delta.source {
                    DeltaSource::Text(_) => &mut self.live,
                    DeltaSource::Reasoning(_) => &mut self.reasoning,
                    DeltaSource::Output(call_id) => self.outputs.entry(call_id).or_default(),
                };
                assert_eq!(text.len(), delta.offset, "a gap or a repetition in the text");
                text.push_str(&delta.text);
            }
            AttachmentItem::Presence(participants) => {
                self.names = participants.into_iter().map(|who| who.author.name).collect();
            }
            AttachmentItem::CaughtUp(_) => {}
            AttachmentItem::Lagged(_) => self.lags += 1,
            AttachmentItem::End(end) => return Some(end),
        }
        None
    }

    /// Reads on until something holds.
    pub(crate) async fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            let end = self.step().await;
            assert_eq!(end, None, "the stream ended after {:?}", kinds(&self.events));
        }
    }

    /// Reads on until so many events of a kind were shown.
    pub(crate) async fn until_kind(&mut self, kind: &str, times: usize) {
        self.until(|seen| seen.count(kind) >= times).await;
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.events.iter().filter(|event| event.body.kind() == kind).count()
    }

    pub(crate) async fn until_end(&mut self) -> StreamEnd {
        loop {
            if let Some(end) = self.step().await {
                return end;
            }
        }
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        kinds(&self.events)
    }
}

/// The directory of the tests' sessions.
pub(crate) fn root() -> &'static Path {
    Path::new("/")
}
