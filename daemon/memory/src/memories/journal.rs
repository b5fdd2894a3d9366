//! Looking back at what was changed, and taking it back.

use std::collections::{BTreeMap, BTreeSet};

use agentd_domain::{MemoryAuthor, MemoryChange, MemoryChangeId, MemoryChangeKind, MemoryId};
use agentd_store::Write;

use crate::MemoryError;
use crate::memories::{Memories, PAGE};

impl Memories {
    /// Takes a change back: this one, or the last that was not yet.
    ///
    /// # Errors
    /// When there is none, its records were changed since, or the store fails.
    pub async fn undo(
        &self,
        id: Option<MemoryChangeId>,
        author: MemoryAuthor,
    ) -> Result<MemoryChange, MemoryError> {
        self.settle().await?;
        let alone = self.begin_change().await?;
        let (mut change, moved) = self.to_undo(id).await?;
        let config = self.config();
        let drafting = self.drafting(&config);
        let draft = self.read(|book| book.undo(&drafting, &change, &moved, author))?;
        change.undone_by = draft.change.as_ref().map(|undo| undo.id);
        let also = Write::PutMemoryChange(Box::new(change.clone()));
        self.carry_out(alone, draft, vec![also]).await?;
        Ok(change)
    }

    /// Removes a memory with all that the journal says of it. This cannot be undone.
    ///
    /// # Errors
    /// When there is none, or the store fails.
    pub async fn erase(&self, id: MemoryId) -> Result<(), MemoryError> {
        let _alone = self.begin_change().await?;
        // With it goes what became part of it or was replaced by it: it may say the same.
        let gone = self.read(|book| book.with_forerunners(id));
        if gone.is_empty() {
            return Err(MemoryError::NotFound { id: id.to_string() });
        }
        let mut writes: Vec<Write> = gone.iter().map(|id| Write::DeleteMemory(*id)).collect();
        let mut before = None;
        loop {
            let page = self.0.store.memory_changes(before, PAGE).await?;
            let is_gone = |id: Option<MemoryId>| id.is_some_and(|id| gone.contains(&id));
            let about = |it: &&MemoryChange| it.edits.iter().any(|edit| is_gone(edit.id()));
            writes.extend(page.iter().filter(about).map(|it| Write::DeleteMemoryChange(it.id)));
            let Some(last) = page.last() else { break };
            before = Some(last.id);
        }
        self.commit(writes, |book| {
            for id in &gone {
                book.remove(Some(*id));
            }
        })
        .await
    }

    /// What was changed, the newest first: changes before `before`, at most `limit`; of one memory or
    /// of all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn changes(
        &self,
        of: Option<MemoryId>,
        before: Option<MemoryChangeId>,
        limit: usize,
    ) -> Result<Vec<MemoryChange>, MemoryError> {
        let mut found = Vec::new();
        let mut before = before;
        while found.len() < limit {
            let page = self.0.store.memory_changes(before, PAGE).await?;
            let Some(last) = page.last() else { break };
            before = Some(last.id);
            let wanted = page.into_iter().filter(|change| {
                of.is_none_or(|id| change.edits.iter().any(|edit| edit.id() == Some(id)))
            });
            found.extend(wanted.take(limit - found.len()));
        }
        Ok(found)
    }

    /// What [`Self::undo`] takes back when it is told nothing; none: nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn undoable(&self) -> Result<Option<MemoryChange>, MemoryError> {
        match self.to_undo(None).await {
            Ok((change, _moved)) => Ok(Some(change)),
            Err(MemoryError::NoChange) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The change that is taken back, and the memories that somebody has moved to another tier since.
    async fn to_undo(
        &self,
        id: Option<MemoryChangeId>,
    ) -> Result<(MemoryChange, BTreeSet<MemoryId>), MemoryError> {
        let mut before = None;
        let mut since = Since::default();
        loop {
            let page = self.0.store.memory_changes(before, PAGE).await?;
            let Some(last) = page.last() else { return Err(MemoryError::NoChange) };
            before = Some(last.id);
            let is_it = |change: &MemoryChange| match id {
                Some(id) => change.id == id,
                None => is_by_somebody(change.kind),
            };
            for change in page {
                if change.undone_by.is_none() && is_it(&change) {
                    return Ok((change, since.moved()));
                }
                since.note(&change);
            }
        }
    }

    /// Removes the oldest changes above the limit.
    pub(super) async fn trim_journal(&self) -> Result<(), MemoryError> {
        let _alone = self.begin_change().await?;
        let kept = self.0.store.memory_changes(None, self.config().max_changes.max(1)).await?;
        let Some(last) = kept.last() else { return Ok(()) };
        loop {
            let old = self.0.store.memory_changes(Some(last.id), PAGE).await?;
            let writes: Vec<Write> =
                old.into_iter().map(|change| Write::DeleteMemoryChange(change.id)).collect();
            if writes.is_empty() {
                return Ok(());
            }
            self.0.store.commit(writes.into()).await?;
        }
    }
}

/// What was done after a change, read from the newest on.
#[derive(Debug, Default)]
struct Since {
    /// Memories that somebody moved to another tier.
    moved: BTreeSet<MemoryId>,
    /// The same of changes that took back others, which may have been made after the change as well:
    /// then both are as if they had not been.
    undoing: BTreeMap<MemoryChangeId, BTreeSet<MemoryId>>,
    /// Changes that were taken back.
    undone: BTreeSet<MemoryChangeId>,
}

impl Since {
    fn note(&mut self, change: &MemoryChange) {
        // What took it back may have been taken back itself.
        if let Some(undo) = change.undone_by.filter(|undo| !self.undone.contains(undo)) {
            self.undone.insert(change.id);
            self.undoing.remove(&undo);
            return;
        }
        let moved = change.edits.iter().filter_map(|edit| {
            let (before, after) = (edit.before.as_ref()?, edit.after.as_ref()?);
            (before.priority != after.priority).then_some(after.id)
        });
        match change.kind {
            MemoryChangeKind::Decayed | MemoryChangeKind::Expired => {}
            MemoryChangeKind::Undone => drop(self.undoing.insert(change.id, moved.collect())),
            _ => self.moved.extend(moved),
        }
    }

    fn moved(self) -> BTreeSet<MemoryId> {
        self.moved.into_iter().chain(self.undoing.into_values().flatten()).collect()
    }
}

/// True for what somebody did, not what time did, nor what was taken back.
fn is_by_somebody(kind: MemoryChangeKind) -> bool {
    use MemoryChangeKind::{
        Added, Adjusted, Confirmed, Decayed, Edited, Expired, Forgotten, Merged, Superseded, Undone,
    };
    match kind {
        Added | Merged | Edited | Superseded | Confirmed | Forgotten | Adjusted => true,
        Decayed | Expired | Undone => false,
    }
}
