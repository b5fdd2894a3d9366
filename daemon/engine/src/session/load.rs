//! Bringing a session from the store into memory.

use std::io;
use std::sync::Arc;

use agentd_domain::{Event, SessionId};
use agentd_store::{CommitError, PageLimit, PartialMessage, ReadError, Snapshot, Store};
use serde::{Deserialize, Serialize};

use super::state::SessionState;
use crate::error::CommandError;

/// Version of the snapshot format. Another version is passed over: the log has everything.
const SNAPSHOT_VERSION: u32 = 1;

/// Events per page: small enough for memory, large enough that pages do not cost.
pub(crate) const LOAD_PAGE: PageLimit = PageLimit { events: 1000, bytes: 1024 * 1024 };

#[derive(Serialize, Deserialize)]
struct StoredState<S> {
    v: u32,
    state: S,
}

/// A session as the store has it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) state: SessionState,
    /// Last event of the snapshot that the state was folded from.
    pub(crate) snapshot_seq: agentd_domain::Seq,
    /// Text that was being written when the daemon stopped.
    pub(crate) partial: Option<PartialMessage>,
}

/// Loads a session: its newest snapshot, then the events since.
pub(crate) async fn load(store: &dyn Store, id: SessionId) -> Result<Loaded, CommandError> {
    if store.session(id).await?.is_none() {
        return Err(CommandError::NoSession(id));
    }
    let mut state = match store.snapshot(id).await {
        Ok(Some(snapshot)) => decode(&snapshot, id),
        Ok(None) => SessionState::new(id),
        Err(error @ ReadError::Record { .. }) => {
            tracing::warn!(session_id = %id, %error, "snapshot damaged, folding the whole log");
            SessionState::new(id)
        }
        Err(error) => return Err(error.into()),
    };
    let snapshot_seq = state.record.last_seq;
    for_each_event(store, id, snapshot_seq.next(), |event| state.apply(event)).await?;
    let partial = match store.partial(id).await {
        Ok(partial) => partial,
        Err(error @ ReadError::Record { .. }) => {
            tracing::warn!(session_id = %id, %error, "text that was being written is lost");
            None
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Loaded { state, snapshot_seq, partial })
}

/// Why a session could not be loaded, once more for the next one who asked.
pub(crate) fn same_error(error: &CommandError, id: SessionId) -> CommandError {
    let same = |error: &io::Error| io::Error::new(error.kind(), error.to_string());
    match error {
        CommandError::Read(error) => CommandError::Read(Arc::clone(error)),
        CommandError::Commit(error) => CommandError::Commit(match error {
            CommitError::OutOfOrder { session_id, last, got } => {
                CommitError::OutOfOrder { session_id: *session_id, last: *last, got: *got }
            }
            CommitError::DiskFull(error) => CommitError::DiskFull(same(error)),
            CommitError::Io(error) => CommitError::Io(same(error)),
            CommitError::Corrupt { detail } => CommitError::Corrupt { detail: detail.clone() },
            CommitError::Closed => CommitError::Closed,
        }),
        _ => CommandError::NoSession(id),
    }
}

/// Calls `visit` with each event of a log from `from` on, page by page.
pub(crate) async fn for_each_event(
    store: &dyn Store,
    id: SessionId,
    mut from: agentd_domain::Seq,
    mut visit: impl FnMut(&Event) + Send,
) -> Result<(), CommandError> {
    loop {
        let page = store.events(id, from, LOAD_PAGE).await?;
        for event in &page.events {
            visit(event);
        }
        match page.events.last() {
            Some(last) if page.more => from = last.seq.next(),
            _ => return Ok(()),
        }
    }
}

/// Writes the state down.
pub(crate) fn encode(state: &SessionState) -> Snapshot {
    #[expect(clippy::expect_used, reason = "no map keys, no fallible Serialize in the state")]
    let bytes = serde_json::to_vec(&StoredState { v: SNAPSHOT_VERSION, state })
        .expect("the state serializes");
    Snapshot { seq: state.record.last_seq, bytes }
}

fn decode(snapshot: &Snapshot, id: SessionId) -> SessionState {
    match serde_json::from_slice::<StoredState<SessionState>>(&snapshot.bytes) {
        Ok(StoredState { v: SNAPSHOT_VERSION, state })
            if state.record.session_id == id && state.record.last_seq == snapshot.seq =>
        {
            state
        }
        Ok(_) => SessionState::new(id),
        Err(error) => {
            tracing::warn!(session_id = %id, %error, "snapshot not readable, folding the whole log");
            SessionState::new(id)
        }
    }
}

#[cfg(test)]
mod tests;
