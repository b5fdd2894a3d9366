//! Memories through their handle, on a store.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod history;
mod order;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use agentd_domain::{
    Clock, IdSource, MemoryAuthor, MemoryCategory, MemoryChangeKind, MemoryOrigin, MemoryPriority,
    MemoryScope, TimestampMs,
};
use agentd_memory::{
    Added, Filter, Memories, MemoryConfig, MemoryError, MemoryPatch, NewMemory, Swept, Vouched,
};
use agentd_store::{MemoryStore, Store};

const DAY_MS: i64 = 86_400_000;

/// Time and ids that tests set.
#[derive(Debug, Default)]
struct Outside {
    now: AtomicI64,
    random: AtomicU64,
}

impl Clock for Outside {
    fn now(&self) -> TimestampMs {
        TimestampMs(self.now.fetch_add(1, Ordering::Relaxed))
    }
}

impl IdSource for Outside {
    fn random(&self) -> u128 {
        u128::from(self.random.fetch_add(1, Ordering::Relaxed))
    }
}

struct World {
    store: Arc<dyn Store>,
    outside: Arc<Outside>,
    memories: Memories,
}

impl World {
    fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let outside = Arc::new(Outside::default());
        let memories = open(&store, &outside);
        Self { store, outside, memories }
    }

    fn reopen(&mut self) {
        self.memories = open(&self.store, &self.outside);
    }

    fn pass_days(&self, days: i64) {
        self.outside.now.fetch_add(days * DAY_MS, Ordering::Relaxed);
    }

    async fn add(&self, content: &str, priority: MemoryPriority) -> Added {
        let new = NewMemory { priority: Some(priority), ..note(content) };
        self.memories.add(new).await.unwrap()
    }

    async fn told(&self, said: &str) -> Vec<String> {
        let (told, _known) =
            self.memories.select(&[MemoryScope::User], said, usize::MAX).await.unwrap();
        told.into_iter().map(|(memory, _)| memory.content).collect()
    }
}

fn open(store: &Arc<dyn Store>, outside: &Arc<Outside>) -> Memories {
    Memories::new(store.clone(), outside.clone(), outside.clone(), MemoryConfig::default())
}

fn note(content: &str) -> NewMemory {
    NewMemory {
        content: content.to_owned(),
        priority: None,
        importance: None,
        category: MemoryCategory::General,
        tags: Vec::new(),
        scope: MemoryScope::User,
        pinned: false,
        expires_at: None,
        origin: MemoryOrigin { author: MemoryAuthor::Model, session_id: None, seq: None },
        vouched: Vouched::Yes,
    }
}

#[tokio::test]
async fn memories_are_there_when_the_daemon_comes_back() {
    let mut world = World::new();
    let tea = world.add("Ann drinks green tea", MemoryPriority::High).await.id();
    world.add("The office is in Bonn", MemoryPriority::Low).await;
    world.memories.used(&[tea]).await.unwrap();
    let before = world.memories.find(&Filter::default(), 10).await.unwrap();
    world.reopen();
    let after = world.memories.find(&Filter::default(), 10).await.unwrap();
    assert_eq!(before, after);
    assert_eq!(after.0[0].memory.usage.uses, 1);
    assert_eq!(world.told("green tea, please").await.len(), 2);
}

#[tokio::test]
async fn memories_age_by_the_clock_and_what_is_used_stays_longer() {
    let world = World::new();
    let used = world.add("The build needs clang", MemoryPriority::High).await.id();
    let unused = world.add("Lunch is at noon", MemoryPriority::High).await.id();
    for days in [20, 20, 19] {
        world.pass_days(days);
        world.memories.used(&[used]).await.unwrap();
    }
    world.pass_days(2);
    let now = TimestampMs(world.outside.now.load(Ordering::Relaxed));
    let dry = world.memories.would_sweep(now).await.unwrap();
    assert_eq!(
        dry.aging.iter().map(agentd_domain::MemoryEdit::id).collect::<Vec<_>>(),
        [Some(unused)]
    );
    assert_eq!(world.memories.sweep().await.unwrap(), Swept { aged: 1, ..Swept::default() });
    assert_eq!(world.memories.sweep().await.unwrap(), Swept::default());
    let tier = async |id: agentd_domain::MemoryId| {
        world.memories.resolve(&id.to_string()).await.unwrap().priority
    };
    assert_eq!(tier(used).await, MemoryPriority::High);
    assert_eq!(tier(unused).await, MemoryPriority::Medium);
}

#[tokio::test]
async fn the_last_thing_somebody_did_is_undone_not_what_time_did() {
    let mut world = World::new();
    let id = world.add("The port is 8080", MemoryPriority::High).await.id();
    world.memories.forget(id, MemoryAuthor::Model).await.unwrap();
    world.add("Lunch is at noon", MemoryPriority::Critical).await;
    world.pass_days(61);
    world.memories.sweep().await.unwrap();
    world.reopen();
    let undo = async || world.memories.undo(None, MemoryAuthor::Daemon).await;
    assert_eq!(undo().await.unwrap().kind, MemoryChangeKind::Added);
    assert_eq!(undo().await.unwrap().kind, MemoryChangeKind::Forgotten);
    assert_eq!(world.told("").await, ["The port is 8080"]);
    assert_eq!(undo().await.unwrap().kind, MemoryChangeKind::Added);
    assert!(matches!(undo().await.unwrap_err(), MemoryError::NoChange));
}

#[tokio::test]
async fn what_is_erased_leaves_no_trace() {
    let mut world = World::new();
    let id = world.add("The cat is called Zebedee", MemoryPriority::High).await.id();
    // Part of it, and so gone with it.
    let merged = world.add("The cat of Ann is called Zebedee", MemoryPriority::High).await;
    assert_eq!(merged, Added::MergedInto(id));
    world.add("Lunch is at noon", MemoryPriority::High).await;
    world.memories.forget(id, MemoryAuthor::Model).await.unwrap();
    world.memories.erase(id).await.unwrap();
    world.reopen();
    let changes = world.memories.changes(None, None, 100).await.unwrap();
    let stored = format!("{changes:?} {:?}", world.store.memories(None, 100).await.unwrap());
    assert!(!stored.contains("Zebedee") && stored.contains("Lunch"), "{stored}");
    assert!(world.memories.erase(id).await.is_err());
}

#[tokio::test]
async fn the_journal_keeps_the_newest_changes() {
    let world = World::new();
    world.memories.configure(MemoryConfig { max_changes: 3, ..MemoryConfig::default() });
    for text in ["alder", "birch", "cedar", "dogwood", "elm"] {
        world.add(text, MemoryPriority::Low).await;
    }
    world.memories.sweep().await.unwrap();
    let changes = world.memories.changes(None, None, 100).await.unwrap();
    assert_eq!(changes.len(), 3);
    let newest = changes[0].edits[0].after.as_ref().unwrap();
    assert_eq!(newest.content, "elm");
    let of = world.memories.changes(Some(newest.id), None, 100).await.unwrap();
    assert_eq!(of.len(), 1);

    // As many as an import makes.
    for n in 0..2_100_u32 {
        let importance = Some(if n % 2 == 0 { 5 } else { 1 });
        let patch = MemoryPatch { importance, ..MemoryPatch::default() };
        world.memories.edit(newest.id, patch, MemoryAuthor::Model).await.unwrap();
    }
    world.pass_days(1);
    world.memories.sweep().await.unwrap();
    assert_eq!(world.memories.changes(None, None, 10_000).await.unwrap().len(), 3);
}

#[tokio::test]
async fn texts_are_found_by_their_words_in_any_script() {
    let world = World::new();
    for text in [
        "The database is restored from the nightly dump",
        "Ann prefers short answers",
        "用户的数据库部署在北京机房",
        "Der Überweisungsschein liegt im zweiten Fach",
    ] {
        world.add(text, MemoryPriority::Medium).await;
    }
    let find = async |text: &str| {
        let filter = Filter { text: text.to_owned(), ..Filter::default() };
        let (found, _all) = world.memories.find(&filter, 1).await.unwrap();
        found.first().map(|found| found.memory.content.chars().take(6).collect::<String>())
    };
    assert_eq!(find("how do we restore databases?").await.as_deref(), Some("The da"));
    assert_eq!(find("数据库在哪里").await.as_deref(), Some("用户的数据库"));
    assert_eq!(find("überweisungsschein").await.as_deref(), Some("Der Üb"));
    assert_eq!(find("?!").await, None);
}
