use std::sync::Arc;

use agentd_domain::{
    Clock as _, Memory, MemoryAuthor, MemoryCategory, MemoryId, MemoryOrigin, MemoryPriority,
    MemoryScope, MemoryStatus, TimestampMs,
};
use agentd_memory::{MemoryConfig, NewMemory, Vouched};
use agentd_store::MemoryStore;
use agentd_testkit::{FakeClock, SeqIds};

use super::*;

const DAY_MS: i64 = 86_400_000;
const START_MS: i64 = 1_700_000_000_000;

/// Memories, and what looks after them.
struct World {
    memories: Memories,
    clock: Arc<FakeClock>,
    config: watch::Sender<Config>,
    control: Control,
    running: tokio::task::JoinSet<()>,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(FakeClock::at(START_MS));
        let memories = Memories::new(
            Arc::new(MemoryStore::new()),
            Arc::clone(&clock) as _,
            Arc::new(SeqIds::default()),
            MemoryConfig::default(),
        );
        let (config, _) = watch::channel(Config::default());
        let control = Control::for_tests();
        let mut running = tokio::task::JoinSet::new();
        let upkeep = Upkeep {
            memories: memories.clone(),
            config: config.subscribe(),
            control: control.clone(),
        };
        running.spawn(upkeep.run());
        Self { memories, clock, config, control, running }
    }

    async fn add(&self, content: &str, expires_in_ms: Option<i64>) -> MemoryId {
        let new = NewMemory {
            content: content.to_owned(),
            priority: Some(MemoryPriority::High),
            importance: None,
            category: MemoryCategory::General,
            tags: Vec::new(),
            scope: MemoryScope::User,
            pinned: false,
            expires_at: expires_in_ms.map(|ms| TimestampMs(self.clock.now().0 + ms)),
            origin: MemoryOrigin { author: MemoryAuthor::Model, session_id: None, seq: None },
            vouched: Vouched::Yes,
        };
        self.memories.add(new).await.unwrap().id()
    }

    async fn get(&self, id: MemoryId) -> Memory {
        self.memories.resolve(&id.to_string()).await.unwrap()
    }

    /// Moves the day on, and then the daemon's own time.
    async fn pass(&self, day_ms: i64, uptime: Duration) {
        self.clock.advance(day_ms);
        tokio::time::advance(uptime).await;
        // The task does what has become due, and waits again.
        for _turn in 0..20 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn memories_age_soon_after_the_start_and_then_each_hour_although_nobody_talks() {
    let world = World::new();
    let old = world.add("likes tea", None).await;
    let short = world.add("is in Oslo this week", Some(7 * DAY_MS)).await;
    world.pass(0, Duration::ZERO).await;
    world.pass(61 * DAY_MS, FIRST_LOOK / 2).await;
    assert_eq!(world.get(old).await.priority, MemoryPriority::High, "not yet");
    world.pass(0, FIRST_LOOK).await;
    assert_eq!(world.get(old).await.priority, MemoryPriority::Medium);
    assert_eq!(world.get(old).await.tier_since, TimestampMs(START_MS + 60 * DAY_MS));
    assert_eq!(world.get(short).await.status, MemoryStatus::Expired);

    let hour = Duration::from_secs(3600);
    world.pass(95 * DAY_MS, hour / 2).await;
    assert_eq!(world.get(old).await.priority, MemoryPriority::Medium, "not yet");
    world.pass(0, hour).await;
    assert_eq!(world.get(old).await.priority, MemoryPriority::Low);
    drop(world.running);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_wrong_by_years_is_warned_of_until_it_is_right() {
    let world = World::new();
    let id = world.add("likes tea", None).await;
    world.pass(0, Duration::ZERO).await;
    world.pass(0, FIRST_LOOK).await;
    assert_eq!(world.control.warnings(), []);
    let hour = Duration::from_secs(3601);
    world.pass(3650 * DAY_MS, hour).await;
    let warnings = world.control.warnings();
    assert!(warnings[0].text.contains("3650 days beyond"), "{warnings:?}");
    assert!(warnings[0].text.contains("agentctl memory decay"), "{warnings:?}");
    assert_eq!(world.get(id).await.priority, MemoryPriority::High);
    world.pass(-3650 * DAY_MS, hour).await;
    assert_eq!(world.control.warnings(), []);
}

#[tokio::test(start_paused = true)]
async fn another_interval_holds_at_once() {
    let world = World::new();
    let id = world.add("likes tea", None).await;
    world.pass(0, Duration::ZERO).await;
    world.pass(0, FIRST_LOOK).await;
    world.config.send_modify(|config| config.memory.sweep_interval_ms = 60_000);
    world.pass(61 * DAY_MS, Duration::from_secs(30)).await;
    assert_eq!(world.get(id).await.priority, MemoryPriority::High, "not yet");
    world.pass(0, Duration::from_secs(31)).await;
    assert_eq!(world.get(id).await.priority, MemoryPriority::Medium);
}
