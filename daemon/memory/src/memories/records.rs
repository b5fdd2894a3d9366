//! Whole records: in pages, and taken in from elsewhere.

use std::sync::Arc;

use agentd_domain::{Memory, MemoryId, TimestampMs};
use agentd_store::{Batch, MemoryStore, Store as _, Write};

use crate::book::Added;
use crate::memories::Memories;
use crate::{MemoryError, NewMemory};

/// Memories that are copied at once.
const SCRATCH_PAGE: usize = 1_000;

impl Memories {
    /// All memories, whatever their status, in the order of their ids: those after `after`, at most
    /// `limit`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn page(
        &self,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, MemoryError> {
        self.load().await?;
        Ok(self.read(|book| book.after(after).take(limit).cloned().collect()))
    }

    /// Takes in a record that was written elsewhere, with its id, age and uses, under the same rules as
    /// a new one. A record that is there stays as it is.
    ///
    /// # Errors
    /// When it neither holds nor waits, a field is not as it must be, there is no room, or the store
    /// fails.
    pub async fn take_in(&self, record: Memory) -> Result<Added, MemoryError> {
        self.settle().await?;
        self.change(|book, drafting| book.take_in(drafting, record)).await
    }

    /// Remembers a text that was written down elsewhere at a time, under an id that it is known by when it
    /// comes again.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub async fn add_dated(
        &self,
        new: NewMemory,
        id: MemoryId,
        created_at: TimestampMs,
    ) -> Result<Added, MemoryError> {
        self.settle().await?;
        self.change(|book, drafting| book.add_dated(drafting, new, id, created_at)).await
    }

    /// A copy of all memories that nobody keeps, to try changes on.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn scratch(&self) -> Result<Self, MemoryError> {
        let store = MemoryStore::new();
        let mut after = None;
        loop {
            let page = self.page(after, SCRATCH_PAGE).await?;
            let Some(last) = page.last().map(|memory| memory.id) else { break };
            after = Some(last);
            let writes = page.into_iter().map(|memory| Write::PutMemory(Box::new(memory)));
            store.commit(Batch::from(writes.collect::<Vec<_>>())).await?;
        }
        let (clock, ids) = (Arc::clone(&self.0.clock), Arc::clone(&self.0.ids));
        Ok(Self::new(Arc::new(store), clock, ids, self.config()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use agentd_domain::{
        Clock, IdSource, MemoryAuthor, MemoryOrigin, MemoryPriority, MemoryStatus, MemoryUse,
    };

    use super::*;
    use crate::MemoryConfig;
    use crate::test_memory::memory;

    const DAY_MS: i64 = 86_400_000;

    #[derive(Debug)]
    struct World(AtomicI64);

    impl Clock for World {
        fn now(&self) -> TimestampMs {
            TimestampMs(self.0.load(Ordering::Relaxed))
        }
    }

    impl IdSource for World {
        fn random(&self) -> u128 {
            1_000
        }
    }

    fn memories(now_ms: i64) -> Memories {
        let world = || Arc::new(World(AtomicI64::new(now_ms)));
        Memories::new(Arc::new(MemoryStore::new()), world(), world(), MemoryConfig::default())
    }

    #[tokio::test]
    async fn a_record_from_elsewhere_keeps_its_age_and_comes_in_once() {
        let memories = memories(90 * DAY_MS);
        let author = MemoryAuthor::Import { from: "old".to_owned() };
        let record = Memory {
            priority: MemoryPriority::High,
            created_at: TimestampMs(40 * DAY_MS),
            tier_since: TimestampMs(50 * DAY_MS),
            usage: MemoryUse {
                uses: 3,
                last_used_at: Some(TimestampMs(80 * DAY_MS)),
                last_told_at: None,
                stability_days: 1e9,
            },
            origin: MemoryOrigin { author, session_id: None, seq: None },
            ..memory(7, "likes tea")
        };
        assert_eq!(memories.take_in(record.clone()).await.unwrap(), Added::New(record.id));
        let known = memories.resolve(&record.id.to_string()).await.unwrap();
        // No more than any memory may have.
        let usage = MemoryUse { stability_days: 360.0, ..record.usage };
        let expect = Memory { usage, changed_at: TimestampMs(90 * DAY_MS), ..record.clone() };
        assert_eq!(known, expect);
        let again = Memory { content: "likes coffee".to_owned(), ..record.clone() };
        assert_eq!(memories.take_in(again).await.unwrap(), Added::Known(record.id));
        // What says the same under another id becomes part of it.
        let same = Memory { id: memory(8, "").id, ..record.clone() };
        assert_eq!(memories.take_in(same).await.unwrap(), Added::Known(record.id));
        assert_eq!(memories.page(None, 10).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_dated_text_keeps_its_date_comes_in_once_and_a_scratch_copy_changes_nothing() {
        let memories = memories(90 * DAY_MS);
        let (id, created_at) = (MemoryId::from_parts(5, 5), TimestampMs(10 * DAY_MS));
        let new = || NewMemory {
            content: "likes tea".to_owned(),
            priority: Some(MemoryPriority::Critical),
            importance: None,
            category: agentd_domain::MemoryCategory::Fact,
            tags: Vec::new(),
            scope: agentd_domain::MemoryScope::User,
            pinned: false,
            expires_at: None,
            origin: memory(1, "").origin,
            vouched: crate::Vouched::Yes,
        };
        let scratch = memories.scratch().await.unwrap();
        assert_eq!(scratch.add_dated(new(), id, created_at).await.unwrap(), Added::New(id));
        assert_eq!(memories.page(None, 10).await.unwrap(), [], "the copy was tried on");
        assert_eq!(memories.add_dated(new(), id, created_at).await.unwrap(), Added::New(id));
        let kept = memories.resolve(&id.to_string()).await.unwrap();
        assert_eq!((kept.created_at, kept.tier_since), (created_at, TimestampMs(90 * DAY_MS)));
        let changed = NewMemory { content: "hates tea".to_owned(), ..new() };
        assert_eq!(memories.add_dated(changed, id, created_at).await.unwrap(), Added::Known(id));
        let scratch = memories.scratch().await.unwrap();
        assert_eq!(scratch.add_dated(new(), id, created_at).await.unwrap(), Added::Known(id));
        let secret = NewMemory { content: "my password is hunter22".to_owned(), ..new() };
        let refused = memories.add_dated(secret, MemoryId::from_parts(6, 6), created_at).await;
        assert!(matches!(refused, Err(MemoryError::Secret { .. })), "{refused:?}");
    }

    #[tokio::test]
    async fn records_that_make_no_sense_are_refused_or_put_right() {
        let memories = memories(DAY_MS);
        let gone = Memory { status: MemoryStatus::Forgotten, ..memory(1, "x y") };
        let refused = memories.take_in(gone).await.unwrap_err();
        assert!(refused.to_string().starts_with("status: "), "{refused}");
        let secret = memory(2, "my password is hunter22");
        assert!(matches!(memories.take_in(secret).await, Err(MemoryError::Secret { .. })));
        let usage = MemoryUse { stability_days: f64::NAN, ..memory(3, "").usage };
        let later = TimestampMs(9 * DAY_MS);
        let odd = Memory { usage, created_at: later, tier_since: later, ..memory(3, "odd one") };
        let id = memories.take_in(odd).await.unwrap().id();
        let kept = memories.resolve(&id.to_string()).await.unwrap();
        assert_eq!((kept.created_at, kept.tier_since), (TimestampMs(DAY_MS), TimestampMs(DAY_MS)));
        assert_eq!(kept.usage, memory(3, "").usage);
        let waiting = Memory { status: MemoryStatus::Quarantined, ..memory(4, "a page says so") };
        assert!(matches!(memories.take_in(waiting).await, Ok(Added::Quarantined(_))));
    }

    #[tokio::test]
    async fn pages_follow_each_other_and_the_future_is_told_without_coming() {
        let memories = memories(DAY_MS);
        for (n, content) in [(1, "alder"), (2, "birch"), (3, "cedar")] {
            let expires_at = (n == 3).then_some(TimestampMs(5 * DAY_MS));
            memories.take_in(Memory { expires_at, ..memory(n, content) }).await.unwrap();
        }
        let first = memories.page(None, 2).await.unwrap();
        let rest = memories.page(first.last().map(|it| it.id), 2).await.unwrap();
        let texts: Vec<_> = first.iter().chain(&rest).map(|it| it.content.as_str()).collect();
        assert_eq!(texts, ["alder", "birch", "cedar"]);
        let would = memories.would_sweep(TimestampMs(100 * DAY_MS)).await.unwrap();
        let aging = would.aging;
        assert_eq!((aging.len(), would.ended, would.removed), (2, 1, 0));
        assert_eq!(aging[0].before.as_ref().unwrap().priority, MemoryPriority::Medium);
        assert_eq!(aging[0].after.as_ref().unwrap().priority, MemoryPriority::Low);
        let now = memories.resolve(&first[0].id.to_string()).await.unwrap();
        assert_eq!(now.priority, MemoryPriority::Medium, "nothing has changed");
    }

    #[tokio::test]
    async fn changes_come_one_after_the_other_also_when_the_clock_was_set_back() {
        let store = Arc::new(MemoryStore::new());
        // As after a restart: each time another owner, whose clock is earlier.
        for (n, now_ms) in [(1, 9 * DAY_MS), (2, 9 * DAY_MS), (3, 5 * DAY_MS)] {
            let world = || Arc::new(World(AtomicI64::new(now_ms)));
            let config = MemoryConfig::default();
            let memories = Memories::new(Arc::clone(&store) as _, world(), world(), config);
            let id = memories.take_in(memory(n, &format!("alder{n} birch{n}"))).await.unwrap().id();
            let newest = memories.changes(None, None, 10).await.unwrap();
            assert_eq!(newest.len(), usize::try_from(n).unwrap());
            assert_eq!(newest[0].edits[0].id(), Some(id), "{newest:?}");
        }
    }

    #[tokio::test]
    async fn what_an_undo_would_take_back_is_told() {
        let memories = memories(DAY_MS);
        assert_eq!(memories.undoable().await.unwrap(), None);
        let id = memories.take_in(memory(1, "alder")).await.unwrap().id();
        let change = memories.undoable().await.unwrap().unwrap();
        assert_eq!(change.edits[0].id(), Some(id));
        let taken_back = memories.undo(Some(change.id), MemoryAuthor::Daemon).await.unwrap();
        assert_eq!(taken_back.id, change.id);
        assert_eq!(memories.undoable().await.unwrap(), None);
    }
}
