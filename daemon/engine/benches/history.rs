//! How long it takes to read what was said into the index that is searched, how much memory that takes,
//! and how long a question takes.
//!
//! `cargo bench -p agentd-engine --bench history [-- COUNT]`; 100,000 messages unless it says otherwise.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark prints times and stops at what it did not expect"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use agentd_domain::{
    Author, Clock, Delivery, Event, EventBody, HistoryQuery, IdSource, ItemId, MessageAccepted,
    Priority, Seq, SessionId, SessionRecord, TimestampMs,
};
use agentd_engine::{Engine, EngineConfig, EngineDeps, ModelQuery, ModelSource, ResolvedModel};
use agentd_llm::LlmError;
use agentd_memory::{Memories, MemoryConfig};
use agentd_store::{Batch, CrashPoints, MemoryStore, Store, Write};
use agentd_tools::Registry;
use tokio::sync::watch;

const QUESTIONS: usize = 200;
/// Messages of a session.
const OF_SESSION: u64 = 100;
/// Words of a message: about 400 bytes.
const WORDS: u64 = 60;
/// Words that texts are made of; a few of them are in most texts, as in real ones.
const VOCABULARY: u64 = 20_000;

#[derive(Debug)]
struct Outside;

impl Clock for Outside {
    fn now(&self) -> TimestampMs {
        TimestampMs(1_800_000_000_000)
    }
}

impl IdSource for Outside {
    fn random(&self) -> u128 {
        7
    }
}

#[async_trait::async_trait]
impl ModelSource for Outside {
    async fn resolve(&self, _query: &ModelQuery) -> Result<ResolvedModel, LlmError> {
        std::future::pending().await
    }

    fn learn_context_limit(&self, _provider_base_url: &str, _model: &str, _tokens: u64) {}
}

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % limit
    }

    /// Small numbers come far more often.
    fn word(&mut self) -> String {
        let mut limit = VOCABULARY;
        for _ in 0..3 {
            limit = self.below(limit) + 1;
        }
        format!("word{limit}")
    }

    fn text(&mut self, words: u64) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

async fn session(store: &dyn Store, n: u64, random: &mut Random) -> usize {
    let id = SessionId::from_parts(n, 1);
    let mut bytes = 0;
    let events = (1..=OF_SESSION).map(|seq| {
        let text = random.text(WORDS);
        bytes += text.len();
        let body = EventBody::MessageAccepted(MessageAccepted {
            item_id: ItemId::from_parts(n, seq.into()),
            client_message_id: format!("m{seq}").parse().unwrap(),
            text,
            delivery: Delivery::Queue,
            author: Author::new("c", "ann").unwrap(),
            priority: Priority::Normal,
            expires_at: None,
            unattended: false,
        });
        let at = TimestampMs(i64::try_from(n * OF_SESSION + seq).unwrap());
        Event { seq: Seq(seq), at, turn_id: None, body }
    });
    let events = events.collect();
    let record = SessionRecord::new(id);
    let writes = vec![Write::Append { session_id: id, events }, Write::PutSession(record)];
    store.commit(Batch::from(writes)).await.unwrap();
    bytes
}

/// Resident memory in MiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}

#[tokio::main]
async fn main() {
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let count: u64 = count.unwrap_or(100_000);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut bytes = 0;
    for n in 0..count.div_ceil(OF_SESSION) {
        bytes += session(&*store, n, &mut random).await;
    }
    let outside = Arc::new(Outside);
    let memories = Memories::new(
        Arc::clone(&store),
        outside.clone(),
        outside.clone(),
        MemoryConfig::default(),
    );
    let engine = Engine::new(EngineDeps {
        store,
        models: outside.clone(),
        tools: Registry::new(),
        clock: outside.clone(),
        ids: outside,
        config: watch::Sender::new(EngineConfig::default()).subscribe(),
        crash_points: CrashPoints::default(),
        memories,
        undo: None,
    });
    let ask = |question: String| {
        let query = HistoryQuery {
            question,
            session: None,
            since: None,
            by: None,
            most: 10,
            without_turn_of: None,
        };
        let engine = engine.clone();
        async move { engine.search_history(query).await.unwrap() }
    };
    let (before, begin) = (resident(), Instant::now());
    // Each question waits two seconds at most.
    let mut answer = ask("word1".to_owned()).await;
    while answer.extent.sessions_unread > 0 {
        answer = ask("word1".to_owned()).await;
    }
    let mib = |bytes: usize| bytes / (1 << 20);
    println!(
        "{} messages of {} MiB: read and indexed in {:?}, {} MiB of memory, {} left out",
        answer.extent.messages,
        mib(bytes),
        begin.elapsed(),
        resident().saturating_sub(before),
        answer.extent.messages_left_out,
    );
    let mut times = Vec::new();
    for _ in 0..QUESTIONS {
        let question = random.text(8);
        let begin = Instant::now();
        ask(question).await;
        times.push(begin.elapsed());
    }
    report("a question", times);
    engine.stop().await;
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!("{what}: p50 {:?}, p99 {:?}", at(50), at(99));
}
