//! The book as the store has it: read when it is first needed, and again when a change may have become
//! durable that nobody has seen, because whoever asked for it went away meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

use agentd_domain::MemoryChangeId;
use agentd_store::{Batch, Write};
use tokio::sync::SemaphorePermit;

use crate::MemoryError;
use crate::book::Book;
use crate::memories::{Memories, PAGE};

/// Set while it is not known whether the book is as the store is.
#[derive(Debug, Default)]
pub(super) struct Stale(AtomicBool);

/// A commit that is under way. Dropped before its end, it leaves the book stale.
struct UnderWay<'a>(&'a Stale);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Release);
    }
}

impl Memories {
    /// Makes writes durable, and then visible. The caller lets nobody else change anything meanwhile.
    ///
    /// # Cancel safety
    /// A dropped future has written everything or nothing; whoever comes next sees which.
    pub(super) async fn commit(
        &self,
        writes: Vec<Write>,
        show: impl FnOnce(&mut Book),
    ) -> Result<(), MemoryError> {
        let under_way = UnderWay(&self.0.stale);
        let committed = self.0.store.commit(Batch::from(writes)).await;
        if committed.is_ok() {
            self.write(show);
            self.0.changed.notify_one();
        }
        std::mem::forget(under_way);
        Ok(committed?)
    }

    /// Reads the book, unless it is there and as the store is.
    pub(super) async fn load(&self) -> Result<(), MemoryError> {
        if self.is_loaded() {
            return Ok(());
        }
        self.load_alone(&self.alone().await).await
    }

    /// The same for who lets nobody else change anything.
    pub(super) async fn load_alone(&self, _alone: &SemaphorePermit<'_>) -> Result<(), MemoryError> {
        if self.is_loaded() {
            return Ok(());
        }
        if self.0.stale.0.load(Ordering::Acquire) {
            // Commits are carried out in order: when this one is, which changes nothing, so is the one
            // that was left.
            let nothing = Write::DeleteMemoryChange(MemoryChangeId::from_parts(0, 0));
            self.0.store.commit(Batch::of(nothing)).await?;
        }
        let mut book = Book::default();
        let mut after = None;
        loop {
            let page = self.0.store.memories(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            for memory in page {
                book.restore(memory);
            }
        }
        if let Some(last) = self.0.store.memory_changes(None, 1).await?.first() {
            book.restore_last_change(last.id);
        }
        book.upkeep = self.0.store.memory_upkeep().await?;
        *self.book_mut() = Some(book);
        self.restore_vectors().await?;
        self.0.stale.0.store(false, Ordering::Release);
        Ok(())
    }

    pub(super) fn is_loaded(&self) -> bool {
        !self.0.stale.0.load(Ordering::Acquire) && self.book().is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future as _, poll_fn};
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::Poll;

    use agentd_domain::{Clock, IdSource, MemoryAuthor, TimestampMs};
    use agentd_store::{SledOptions, SledStore};

    use super::*;
    use crate::test_memory::memory;
    use crate::{Filter, MemoryConfig};

    #[derive(Debug)]
    struct Outside;

    impl Clock for Outside {
        fn now(&self) -> TimestampMs {
            TimestampMs(1_000)
        }
    }

    impl IdSource for Outside {
        fn random(&self) -> u128 {
            7
        }
    }

    #[tokio::test]
    async fn a_change_whose_asker_left_is_seen_by_who_comes_next() {
        let dir = tempfile::tempdir().unwrap();
        let opened = SledStore::open(dir.path(), SledOptions::default()).unwrap();
        let (clock, ids) = (Arc::new(Outside), Arc::new(Outside));
        let memories = Memories::new(Arc::new(opened.store), clock, ids, MemoryConfig::default());
        let mut left_alone = 0;
        for n in 1..=20 {
            memories.counts().await.unwrap();
            // Asked once, so that the commit is on its way to the writer's thread, and then dropped.
            let mut adding = pin!(memories.take_in(memory(n, &format!("alder{n} birch{n}"))));
            let polled = poll_fn(|cx| Poll::Ready(adding.as_mut().poll(cx))).await;
            left_alone += usize::from(polled.is_pending());
        }
        assert!(left_alone > 0, "no commit takes no time");
        let (found, all) = memories.find(&Filter::default(), 50).await.unwrap();
        assert_eq!((found.len(), all), (20, 20));
        // Each with its entry in the journal, in order: they are taken back one after the other.
        for left in (0..20).rev() {
            memories.undo(None, MemoryAuthor::Daemon).await.unwrap();
            let (_found, all) = memories.find(&Filter::default(), 1).await.unwrap();
            assert_eq!(all, left);
        }
    }
}
