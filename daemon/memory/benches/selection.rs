//! How long it takes to choose what a turn is told, and to answer a search, among many memories.
//!
//! `cargo bench -p agentd-memory --bench selection [-- COUNT]`; 100,000 memories unless it says otherwise.
//! First by words, then by words and vectors of 384 numbers, which a stand-in for a model makes at once.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark prints times and stops at what it did not expect"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use agentd_domain::{
    Clock, IdSource, Memory, MemoryAuthor, MemoryCategory, MemoryId, MemoryOrigin, MemoryPriority,
    MemoryScope, MemoryStatus, MemoryUse, TimestampMs, Usage,
};
use agentd_llm::{Embedded, Embedder, LlmError, TextKind};
use agentd_memory::{EmbeddingState, Embeddings, Filter, Memories, MemoryConfig};
use agentd_store::{Batch, MemoryStore, Store, Write};
use async_trait::async_trait;

/// Numbers of a vector, as small models have them.
const LENGTH: usize = 384;
const DAY_MS: u64 = 86_400_000;
const QUESTIONS: usize = 200;
/// Words that texts are made of; a few of them are in most texts, as in real ones.
const VOCABULARY: u64 = 20_000;

#[derive(Debug)]
struct Outside;

impl Clock for Outside {
    fn now(&self) -> TimestampMs {
        TimestampMs(i64::try_from(400 * DAY_MS).unwrap())
    }
}

impl IdSource for Outside {
    fn random(&self) -> u128 {
        7
    }
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

fn memory(n: u64, random: &mut Random) -> Memory {
    let at = TimestampMs(i64::try_from(random.below(400) * DAY_MS).unwrap());
    let level = u8::try_from(random.below(3) + 1).unwrap();
    Memory {
        id: MemoryId::from_parts(n, 1),
        revision: 1,
        content: random.text(14),
        priority: MemoryPriority::of_level(level).unwrap(),
        importance: u8::try_from(random.below(5) + 1).unwrap(),
        category: MemoryCategory::Fact,
        tags: vec![random.word()],
        scope: MemoryScope::User,
        status: MemoryStatus::Active,
        pinned: false,
        expires_at: None,
        created_at: at,
        changed_at: at,
        tier_since: at,
        usage: MemoryUse { uses: 0, last_used_at: None, last_told_at: None, stability_days: 30.0 },
        origin: MemoryOrigin { author: MemoryAuthor::Model, session_id: None, seq: None },
        sources: Vec::new(),
    }
}

/// Texts are near that share words.
#[derive(Debug)]
struct Words;

impl Words {
    fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; LENGTH];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let hash = word.to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            let mut random = Random(hash | 1);
            for number in &mut vector {
                *number += if random.below(2) == 0 { 1.0 } else { -1.0 };
            }
        }
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt().max(1.0);
        vector.into_iter().map(|number| number / length).collect()
    }
}

#[async_trait]
impl Embedder for Words {
    fn model(&self) -> &'static str {
        "words"
    }

    fn place(&self) -> &'static str {
        "here"
    }

    fn space(&self) -> &'static str {
        "words"
    }

    async fn embed(&self, texts: &[String], _kind: TextKind) -> Result<Embedded, LlmError> {
        let vectors = texts.iter().map(|text| Self::vector(text)).collect();
        Ok(Embedded { vectors, usage: Usage::default() })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let count: u64 = count.unwrap_or(100_000);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for n in 0..count {
        let put = Write::PutMemory(Box::new(memory(n, &mut random)));
        store.commit(Batch::of(put)).await.unwrap();
    }
    let outside = Arc::new(Outside);
    let memories = Memories::new(store, outside.clone(), outside, MemoryConfig::default());
    let scopes = [MemoryScope::User];
    let begin = Instant::now();
    let (told, known) = memories.select(&scopes, "", usize::MAX).await.unwrap();
    println!(
        "{count} memories: read and indexed in {:?}; {} of {known} told",
        begin.elapsed(),
        told.len()
    );
    measure("by words", &memories, &mut random).await;
    let begin = Instant::now();
    let query_timeout = Duration::from_secs(10);
    let embedder = Arc::new(Words);
    memories.embed_with(Embeddings::Model { embedder, query_timeout }).await.unwrap();
    tokio::select! {
        () = memories.keep_embedded() => {}
        () = all_embedded(&memories) => {}
    }
    println!("all vectors made in {:?}", begin.elapsed());
    measure("by words and vectors", &memories, &mut random).await;
}

async fn all_embedded(memories: &Memories) {
    let mut look = tokio::time::interval(Duration::from_millis(200));
    loop {
        look.tick().await;
        let state = memories.embeddings().await.unwrap();
        if matches!(state, EmbeddingState::Model { embedded, wanted, .. } if embedded == wanted) {
            return;
        }
    }
}

async fn measure(how: &str, memories: &Memories, random: &mut Random) {
    let scopes = [MemoryScope::User];
    let (mut select, mut search) = (Vec::new(), Vec::new());
    for _ in 0..QUESTIONS {
        let said = random.text(12);
        let begin = Instant::now();
        memories.select(&scopes, &said, usize::MAX).await.unwrap();
        select.push(begin.elapsed());
        let filter = Filter { text: said, scopes: scopes.to_vec(), ..Filter::default() };
        let begin = Instant::now();
        memories.find(&filter, 20).await.unwrap();
        search.push(begin.elapsed());
    }
    report(&format!("selection for a turn, {how}"), select);
    report(&format!("search, {how}"), search);
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!("{what}: p50 {:?}, p99 {:?}", at(50), at(99));
}
