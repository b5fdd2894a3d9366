//! The owner of all memories.
//!
//! Handles are cloned freely. Reads see the book as the last durable change left it; changes come one
//! after the other: drafted, written, then visible. The book is read from the store when it is first
//! needed, so that a daemon starts as fast with many memories as with none.

mod consolidate;
mod embed;
mod journal;
mod load;
mod model;
mod records;
mod sweep;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use agentd_domain::{
    Clock, IdSource, Memory, MemoryAuthor, MemoryId, MemoryOrigin, MemoryPriority, MemoryScope,
    TimestampMs,
};
use agentd_store::{Store, Write};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};

use crate::book::holds;
use crate::book::{Added, Book, Draft, Drafting, Filter};
use crate::select::Chosen;
use crate::{MemoryConfig, MemoryError, MemoryPatch, NewMemory};

pub use consolidate::Settled;
pub use model::{EmbeddingState, Embeddings};
pub use sweep::{Swept, WouldSweep};

/// Records read from the store at once.
const PAGE: usize = 1000;

/// A memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// It.
    pub memory: Memory,
    /// 0 to 1, comparable within one answer; 1 when no words were asked for.
    pub score: f32,
}

/// How many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// By status name, then by priority name, in order.
    pub by_status: Vec<(&'static str, [usize; 4])>,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Memories(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    config: RwLock<MemoryConfig>,
    /// None until it has been read.
    book: RwLock<Option<Book>>,
    /// One permit, held from a draft until its change is visible.
    changing: Semaphore,
    stale: load::Stale,
    /// What makes vectors of them.
    embeddings: RwLock<embed::Use>,
    /// Some may want a vector that have none.
    changed: Notify,
    /// Another model makes the vectors, or the same is to be tried again.
    reconfigured: watch::Sender<()>,
}

impl Memories {
    /// A handle; nothing is read yet.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        config: MemoryConfig,
    ) -> Self {
        Self(Arc::new(Inner {
            store,
            clock,
            ids,
            config: RwLock::new(config),
            book: RwLock::new(None),
            changing: Semaphore::new(1),
            stale: load::Stale::default(),
            embeddings: RwLock::default(),
            changed: Notify::new(),
            reconfigured: watch::Sender::new(()),
        }))
    }

    /// Replaces the configuration.
    pub fn configure(&self, config: MemoryConfig) {
        *self.0.config.write().unwrap_or_else(PoisonError::into_inner) = config;
    }

    /// The configuration.
    pub fn config(&self) -> MemoryConfig {
        self.0.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers a text.
    ///
    /// # Errors
    /// When a field is not as it must be, there is no room, or the store fails.
    pub async fn add(&self, new: NewMemory) -> Result<Added, MemoryError> {
        self.settle().await?;
        // Before a model sees it: what may not be kept is not sent anywhere either.
        let checked = new.clone().check(MemoryId::from_parts(0, 0), self.now(), 0.0)?;
        let direction = self.direction(&checked.content).await;
        self.change(|book, drafting| book.add(drafting, new, direction.as_ref())).await
    }

    /// Changes a memory; the text as it was stays in the journal.
    ///
    /// # Errors
    /// When there is none, a field is not as it must be, or the store fails.
    pub async fn edit(
        &self,
        id: MemoryId,
        patch: MemoryPatch,
        author: MemoryAuthor,
    ) -> Result<(), MemoryError> {
        self.settle().await?;
        self.change(|book, drafting| book.edit(drafting, id, patch, author)).await
    }

    /// Puts a newer memory in the place of one that no longer holds, which is kept as history.
    ///
    /// # Errors
    /// When there is none that holds, a field is not as it must be, or the store fails.
    pub async fn supersede(
        &self,
        id: MemoryId,
        patch: MemoryPatch,
        origin: MemoryOrigin,
    ) -> Result<MemoryId, MemoryError> {
        self.settle().await?;
        self.change(|book, drafting| book.supersede(drafting, id, patch, origin)).await
    }

    /// Takes a memory back. This can be undone.
    ///
    /// # Errors
    /// When there is none, or the store fails.
    pub async fn forget(&self, id: MemoryId, author: MemoryAuthor) -> Result<(), MemoryError> {
        self.settle().await?;
        self.change(|book, drafting| book.forget(drafting, id, author)).await
    }

    /// Stands behind a memory that waited for a user.
    ///
    /// # Errors
    /// When there is none that waits, there is no room, or the store fails.
    pub async fn confirm(&self, id: MemoryId, author: MemoryAuthor) -> Result<(), MemoryError> {
        self.settle().await?;
        self.change(|book, drafting| book.confirm(drafting, id, author)).await
    }

    /// Moves memories to other tiers as a model asks, within limits. Returns how many were moved.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn adjust(
        &self,
        wanted: &[(MemoryId, MemoryPriority)],
    ) -> Result<usize, MemoryError> {
        self.settle().await?;
        self.change(|book, drafting| book.adjust(drafting, wanted)).await
    }

    /// Reminders whose time has come, the earliest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn due(&self) -> Result<Vec<Memory>, MemoryError> {
        self.load().await?;
        let now = self.0.clock.now();
        Ok(self.read(|book| book.due(now).into_iter().cloned().collect()))
    }

    /// Ends a reminder that was shown.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn reminded(&self, id: MemoryId) -> Result<(), MemoryError> {
        self.change(|book, drafting| Ok(book.reminded(drafting, id))).await
    }

    /// Notes that memories have helped.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn used(&self, ids: &[MemoryId]) -> Result<(), MemoryError> {
        self.settle().await?;
        let alone = self.begin_change().await?;
        let config = self.config();
        let drafting = self.drafting(&config);
        let records = self.read(|book| book.used(&drafting, ids));
        self.put(alone, records).await
    }

    /// Notes which of the memories that a model knew went into its answer: those of which it repeats
    /// half of the words, two at least.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn note_answer(&self, known: &[MemoryId], answer: &str) -> Result<(), MemoryError> {
        self.load().await?;
        let answer = agentd_search::keywords(answer);
        let used: Vec<MemoryId> = self.read(|book| {
            let is_used = |id: &&MemoryId| {
                book.get(**id).is_some_and(|memory| {
                    let words = agentd_search::keywords(&memory.content);
                    let repeated = words.intersection(&answer).count();
                    repeated >= 2 && repeated * 2 >= words.len()
                })
            };
            known.iter().filter(is_used).copied().collect()
        });
        if used.is_empty() { Ok(()) } else { self.used(&used).await }
    }

    /// The memory with this id, if it holds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn holding(&self, id: MemoryId) -> Result<Option<Memory>, MemoryError> {
        self.load().await?;
        let now = self.now();
        Ok(self.read(|book| book.get(id).filter(|memory| holds(memory, now)).cloned()))
    }

    /// Those of these memories that do not hold.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn no_longer_hold(
        &self,
        ids: impl IntoIterator<Item = MemoryId>,
    ) -> Result<Vec<MemoryId>, MemoryError> {
        self.load().await?;
        let now = self.now();
        Ok(self.read(|book| {
            let holds = |id: &MemoryId| book.get(*id).is_some_and(|memory| holds(memory, now));
            let mut gone: Vec<MemoryId> = ids.into_iter().filter(|id| !holds(id)).collect();
            gone.sort_unstable();
            gone
        }))
    }

    /// Notes that a model was told of memories.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn told(&self, ids: &[MemoryId]) -> Result<(), MemoryError> {
        let alone = self.begin_change().await?;
        let now = self.0.clock.now();
        let records = self.read(|book| book.told(now, ids));
        self.put(alone, records).await
    }

    /// What is told when `said` was said last in a session with these scopes, and how many hold there.
    /// `max_bytes` of contents at most, and what the configuration says.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn select(
        &self,
        scopes: &[MemoryScope],
        said: &str,
        max_bytes: usize,
    ) -> Result<(Vec<(Memory, Chosen)>, usize), MemoryError> {
        self.load().await?;
        let meaning = self.meaning(said).await;
        let now = self.0.clock.now();
        let mut config = self.config().select;
        config.max_bytes = config.max_bytes.min(max_bytes);
        Ok(self.read(|book| {
            let chosen = book.select(scopes, said, meaning.as_ref(), now, &config);
            let chosen = chosen.into_iter().filter_map(|it| Some((book.get(it.id)?.clone(), it)));
            (chosen.collect(), book.count_active_in(scopes))
        }))
    }

    /// The memories that are wanted, at most `limit`, and how many there are in all. A model that makes
    /// vectors is waited for a moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn find(
        &self,
        filter: &Filter,
        limit: usize,
    ) -> Result<(Vec<Found>, usize), MemoryError> {
        self.load().await?;
        let meaning = self.meaning(&filter.text).await;
        let now = self.0.clock.now();
        Ok(self.read(|book| {
            let (found, all) = book.find(filter, meaning.as_ref(), now, limit);
            let found =
                found.into_iter().map(|(score, memory)| Found { memory: memory.clone(), score });
            (found.collect(), all)
        }))
    }

    /// The memory with this id, or the only one whose id ends so.
    ///
    /// # Errors
    /// When there is none or more than one, or the store cannot be read.
    pub async fn resolve(&self, id: &str) -> Result<Memory, MemoryError> {
        self.load().await?;
        self.read(|book| book.resolve(id).cloned())
    }

    /// How many memories there are.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn counts(&self) -> Result<Counts, MemoryError> {
        self.load().await?;
        Ok(self.read(|book| {
            let mut counts = Counts::default();
            for memory in book.all() {
                let name = memory.status.name();
                let at = counts.by_status.iter().position(|(known, _)| *known == name);
                let at = at.unwrap_or_else(|| {
                    counts.by_status.push((name, [0; 4]));
                    counts.by_status.len() - 1
                });
                let level = usize::from(memory.priority.level());
                if let Some((_name, tiers)) = counts.by_status.get_mut(at)
                    && let Some(tier) = tiers.get_mut(level)
                {
                    *tier += 1;
                }
            }
            counts
        }))
    }

    /// Drafts a change, makes it durable, and then visible.
    async fn change<T>(
        &self,
        draft: impl FnOnce(&Book, &Drafting<'_>) -> Result<Draft<T>, MemoryError>,
    ) -> Result<T, MemoryError> {
        let alone = self.begin_change().await?;
        let config = self.config();
        let drafting = self.drafting(&config);
        let draft = self.read(|book| draft(book, &drafting))?;
        self.carry_out(alone, draft, Vec::new()).await
    }

    async fn carry_out<T>(
        &self,
        _alone: SemaphorePermit<'_>,
        draft: Draft<T>,
        mut writes: Vec<Write>,
    ) -> Result<T, MemoryError> {
        let Draft { change, outcome } = draft;
        let Some(change) = change else { return Ok(outcome) };
        for edit in &change.edits {
            writes.extend(edit.after.clone().map(|after| Write::PutMemory(Box::new(after))));
        }
        writes.push(Write::PutMemoryChange(Box::new(change.clone())));
        self.commit(writes, |book| book.apply(&change)).await?;
        Ok(outcome)
    }

    /// Writes records as they are.
    async fn put(
        &self,
        _alone: SemaphorePermit<'_>,
        records: Vec<Memory>,
    ) -> Result<(), MemoryError> {
        if records.is_empty() {
            return Ok(());
        }
        let writes = records.iter().map(|memory| Write::PutMemory(Box::new(memory.clone())));
        let writes = writes.collect();
        self.commit(writes, |book| records.into_iter().for_each(|memory| book.put(memory))).await
    }

    async fn begin_change(&self) -> Result<SemaphorePermit<'_>, MemoryError> {
        let alone = self.alone().await;
        self.load_alone(&alone).await?;
        Ok(alone)
    }

    #[expect(clippy::expect_used, reason = "nobody closes the semaphore")]
    async fn alone(&self) -> SemaphorePermit<'_> {
        self.0.changing.acquire().await.expect("an open semaphore")
    }

    fn drafting<'a>(&'a self, config: &'a MemoryConfig) -> Drafting<'a> {
        Drafting { now: self.now(), ids: &*self.0.ids, config }
    }

    fn now(&self) -> TimestampMs {
        self.0.clock.now()
    }

    /// Looks at the book, which was loaded before.
    fn read<T>(&self, look: impl FnOnce(&Book) -> T) -> T {
        match &*self.book() {
            Some(book) => look(book),
            None => look(&Book::default()),
        }
    }

    fn write(&self, change: impl FnOnce(&mut Book)) {
        if let Some(book) = self.book_mut().as_mut() {
            change(book);
        }
    }

    fn book(&self) -> RwLockReadGuard<'_, Option<Book>> {
        self.0.book.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn book_mut(&self) -> RwLockWriteGuard<'_, Option<Book>> {
        self.0.book.write().unwrap_or_else(PoisonError::into_inner)
    }
}
