//! A scripted model server over real HTTP on loopback. It speaks Chat Completions, Anthropic Messages
//! and OpenAI Responses on one port.
//!
//! ```no_run
//! # async fn example() {
//! use agentd_testkit::{LlmServer, Reply};
//!
//! let llm = LlmServer::start().await;
//! llm.push(Reply::tool_call("calculator", r#"{"expression":"1+1"}"#));
//! llm.push(Reply::text("It is 2."));
//! // ... point the code under test at llm.base_url() ...
//! let second = llm.wait_for_request(2).await;
//! assert_eq!(second.tool_outputs(), ["2"]);
//! # }
//! ```
//!
//! Every request for `/chat/completions`, `/messages` or `/responses` is recorded and answered with,
//! in this order: an error when it breaks a [rule](LlmServer::lenient) of its API; the first
//! [`push_when`](LlmServer::push_when) reply that matches; the next [pushed](LlmServer::push) reply;
//! what [chaos](LlmServer::chaos) has in store; the [default](LlmServer::set_default), which echoes
//! the last user message. HTTP is written by hand because tests must control every byte.
//!
//! Requests for `/embeddings` are recorded apart and answered with the next
//! [pushed](LlmServer::push_embeddings) reply, else with vectors in which texts are near that share words.

mod api;
mod chaos;
mod embeddings;
mod gate;
mod http;
mod render;
mod reply;
mod request;
mod rules;
mod script;
mod sent;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use api::Api;
pub use chaos::ChaosRates;
pub use gate::Gate;
pub use reply::{Pace, Reply};
pub use request::RecordedRequest;

use chaos::Chaos;
use embeddings::Embeddings;
use render::{About, render};
use rules::{Rules, Violation};
use script::Rendered;
use sent::Sent;

type Matcher = Box<dyn Fn(&RecordedRequest) -> bool + Send + Sync>;
type DefaultReply = Box<dyn Fn(&RecordedRequest) -> Reply + Send + Sync>;

/// A running server. Dropping it closes the port and all connections.
#[derive(Debug)]
pub struct LlmServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

/// What connections share with the test.
struct Shared {
    script: Mutex<Script>,
    recorded: watch::Sender<Vec<Arc<RecordedRequest>>>,
    embedded: watch::Sender<Vec<Arc<RecordedRequest>>>,
    disconnects: watch::Sender<usize>,
    connections: AtomicUsize,
    /// Requests so far, recorded or not.
    served: AtomicUsize,
}

struct Script {
    matched: Vec<(Matcher, Reply)>,
    queue: VecDeque<Reply>,
    chaos: Option<Chaos>,
    chaotic: BTreeMap<&'static str, u64>,
    default: DefaultReply,
    sent: Sent,
    rules: Rules,
    violations: Vec<String>,
    models: Vec<String>,
    embeddings: Embeddings,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("recorded", &self.recorded).finish_non_exhaustive()
    }
}

impl LlmServer {
    /// Starts a server on a free loopback port.
    #[expect(clippy::expect_used, reason = "without the server the test cannot go on")]
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bind a loopback port");
        let address = listener.local_addr().expect("the address of a bound socket");
        let shared = Arc::new(Shared {
            script: Mutex::new(Script {
                matched: Vec::new(),
                queue: VecDeque::new(),
                chaos: None,
                chaotic: BTreeMap::new(),
                default: Box::new(|request| Reply::text(&request.last_user_text())),
                sent: Sent::default(),
                rules: Rules { form: true, reasoning: false },
                violations: Vec::new(),
                models: vec!["scripted".to_owned()],
                embeddings: Embeddings::default(),
            }),
            recorded: watch::Sender::new(Vec::new()),
            embedded: watch::Sender::new(Vec::new()),
            disconnects: watch::Sender::new(0),
            connections: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, _tasks: tasks }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to configure as the provider's base URL; ends in `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: Reply) {
        self.shared.script().queue.push_back(reply);
    }

    /// Adds a reply for the first request that matches, whatever stands in the script. Used once.
    pub fn push_when(
        &self,
        matches: impl Fn(&RecordedRequest) -> bool + Send + Sync + 'static,
        reply: Reply,
    ) {
        self.shared.script().matched.push((Box::new(matches), reply));
    }

    /// Sets the answer to requests for which nothing is scripted.
    pub fn set_default(&self, reply: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) {
        self.shared.script().default = Box::new(reply);
    }

    /// Replies pushed and not used yet.
    pub fn unused_replies(&self) -> usize {
        let script = self.shared.script();
        script.queue.len() + script.matched.len()
    }

    /// Sets what `GET /v1/models` lists; at first "scripted".
    pub fn set_models(&self, models: &[&str]) {
        self.shared.script().models = models.iter().map(|model| (*model).to_owned()).collect();
    }

    /// Adds a reply for the next request for vectors that has none yet.
    pub fn push_embeddings(&self, reply: Reply) {
        self.shared.script().embeddings.replies.push_back(reply);
    }

    /// Gives vectors of this length from now on; at first 64.
    pub fn set_dimensions(&self, dimensions: usize) {
        self.shared.script().embeddings.dimensions = dimensions;
    }

    /// Gives these words, in lower case, one vector from now on.
    pub fn mean_the_same(&self, words: &[&str]) {
        let mut script = self.shared.script();
        let first = words.first().copied().unwrap_or_default();
        for word in words {
            script.embeddings.meanings.insert((*word).to_owned(), first.to_owned());
        }
    }

    /// The requests for vectors so far, in order of arrival.
    pub fn embedding_requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.shared.embedded.borrow().clone()
    }

    /// Waits for the `n`-th request for vectors (from 1).
    #[expect(clippy::expect_used, reason = "the sender lives in self, and n counts from 1")]
    pub async fn wait_for_embeddings(&self, n: usize) -> Arc<RecordedRequest> {
        let mut embedded = self.shared.embedded.subscribe();
        let requests = embedded.wait_for(|all| all.len() >= n).await.expect("the sender lives");
        Arc::clone(requests.get(n.wrapping_sub(1)).expect("requests are counted from 1"))
    }

    /// Answers by chance from now on, by these rates and always alike for a seed and the number of the
    /// request. Silences last `stall`. Requests are counted but recorded no more, so that a soak does
    /// not fill the memory.
    pub fn chaos(&self, seed: u64, rates: ChaosRates, stall: Duration) {
        self.shared.script().chaos = Some(Chaos { seed, rates, stall });
    }

    /// How often chaos gave each kind of answer so far, by its name among [`ChaosRates`].
    pub fn chaotic(&self) -> BTreeMap<&'static str, u64> {
        self.shared.script().chaotic.clone()
    }

    /// Stops checking requests.
    ///
    /// At first the server answers 400 to requests that strict providers of the API refuse. All: a tool
    /// call without exactly one result after it, a result without call, an id used twice, arguments
    /// that are no object, blank text, an empty message, an unknown role. Messages also: roles that
    /// do not alternate from user to user, no limit of output, more thinking than output, signed
    /// blocks that the server did not send or not in this order, a missing key or version. Responses also:
    /// reasoning that was changed or lost what followed it.
    pub fn lenient(&self) {
        self.shared.script().rules.form = false;
    }

    /// Answers 400 when an assistant message with tool calls comes without `reasoning_content`, or
    /// with a blank one in the running turn, as DeepSeek's thinking mode does. Chat Completions only.
    pub fn demand_reasoning(&self) {
        self.shared.script().rules.reasoning = true;
    }

    /// What broke a rule so far, in order.
    pub fn violations(&self) -> Vec<String> {
        self.shared.script().violations.clone()
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Requests for answers so far, also those that chaos does not record.
    pub fn served(&self) -> usize {
        self.shared.served.load(Ordering::Relaxed)
    }

    /// The requests for answers so far, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.shared.recorded.borrow().clone()
    }

    /// Waits for the `n`-th request for an answer (from 1).
    #[expect(clippy::expect_used, reason = "the sender lives in self, and n counts from 1")]
    pub async fn wait_for_request(&self, n: usize) -> Arc<RecordedRequest> {
        let mut recorded = self.shared.recorded.subscribe();
        let requests = recorded.wait_for(|all| all.len() >= n).await.expect("the sender lives");
        Arc::clone(requests.get(n.wrapping_sub(1)).expect("requests are counted from 1"))
    }

    /// Waits until `n` clients left before their reply was written.
    #[expect(clippy::expect_used, reason = "the sender lives in self")]
    pub async fn wait_for_disconnects(&self, n: usize) {
        let mut disconnects = self.shared.disconnects.subscribe();
        disconnects.wait_for(|count| *count >= n).await.expect("the sender lives");
    }
}

impl Shared {
    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        // A matcher that panicked fails its own test; the server stays usable for the message.
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and decides on its reply.
    fn answer(&self, request: RecordedRequest) -> Rendered {
        let request = Arc::new(request);
        let serial = self.served.fetch_add(1, Ordering::Relaxed) + 1;
        let api = request.api().unwrap_or(Api::Chat);
        let about = About { api, model: request.model().to_owned(), serial };
        let mut script = self.script();
        let checked = script.rules.check(api, &request, &script.sent);
        let mut is_recorded = true;
        let reply = if let Err(Violation { status, code, message }) = checked {
            script.violations.push(message.clone());
            Reply::error(status, code, &message)
        } else if let Some(at) = script.matched.iter().position(|(matches, _)| matches(&request)) {
            script.matched.remove(at).1
        } else if let Some(reply) = script.queue.pop_front() {
            reply
        } else if let Some(chaos) = &script.chaos {
            is_recorded = false;
            let (name, reply) = chaos.answer(serial, &request);
            *script.chaotic.entry(name).or_default() += 1;
            reply
        } else {
            (script.default)(&request)
        };
        let rendered = render(&reply, &about);
        script.sent.remember(&about, &rendered.bytes());
        drop(script);
        if is_recorded {
            self.recorded.send_modify(|all| all.push(request));
        }
        rendered
    }

    /// Records a request for vectors and decides on its reply.
    fn embed(&self, request: RecordedRequest) -> Rendered {
        let request = Arc::new(request);
        let mut script = self.script();
        let rendered = match script.embeddings.replies.pop_front() {
            Some(reply) => {
                let model = request.model().to_owned();
                render(&reply, &About { api: Api::Chat, model, serial: 0 })
            }
            None => script.embeddings.answer(&request),
        };
        drop(script);
        self.embedded.send_modify(|all| all.push(request));
        rendered
    }

    fn models(&self) -> Vec<String> {
        self.script().models.clone()
    }

    fn client_left(&self) {
        self.disconnects.send_modify(|count| *count += 1);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A refused accept is a client that is gone already.
                if let Ok((stream, _)) = accepted {
                    shared.connections.fetch_add(1, Ordering::Relaxed);
                    connections.spawn(http::serve(stream, Arc::clone(&shared)));
                }
            }
            Some(_ended) = connections.join_next() => {}
        }
    }
}
