//! Who keeps the index of what was said: made when it is first asked for, fed while it is used.
//!
//! There is one way in, for what was there before and for what comes: a session that has changed is
//! noted, and one task reads its log from where it has read it up to. So nothing is handed over that
//! could be lost, and whoever records an event only leaves a note.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{Event, EventBody, HistoryExtent, SessionId};
use agentd_store::{PageLimit, ReadError};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::texts::Texts;
use crate::session::SessionDeps;

/// Events that are read at once.
const PAGE: PageLimit = PageLimit { events: 500, bytes: 1024 * 1024 };
/// Sessions of the list that are read at once.
const SESSIONS: usize = 500;

/// See the page. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    run: Mutex<Option<Run>>,
    /// Something is to be read, or the task is to look at the time.
    wake: Notify,
    /// All that there is has been read.
    is_current: watch::Sender<bool>,
}

impl Default for Inner {
    fn default() -> Self {
        let run = Mutex::default();
        Self { run, wake: Notify::new(), is_current: watch::Sender::new(false) }
    }
}

/// From the first question to long disuse.
#[derive(Debug)]
struct Run {
    texts: Arc<Mutex<Texts>>,
    last_used: Instant,
    /// The list of sessions has been read.
    is_listed: bool,
    /// Sessions to be read, in this order, and whether from the beginning.
    queue: VecDeque<SessionId>,
    queued: HashMap<SessionId, bool>,
    /// One is being read.
    is_reading: bool,
    /// Sessions that are there.
    known: HashSet<SessionId>,
    damaged: HashSet<SessionId>,
}

impl Run {
    fn is_current(&self) -> bool {
        self.is_listed && self.queue.is_empty() && !self.is_reading
    }

    fn note(&mut self, id: SessionId, is_new: bool) {
        match self.queued.entry(id) {
            Entry::Occupied(mut noted) => *noted.get_mut() |= is_new,
            Entry::Vacant(place) => {
                place.insert(is_new);
                self.queue.push_back(id);
            }
        }
    }
}

impl History {
    /// Events of a session are durable.
    pub(crate) fn recorded(&self, id: SessionId, events: &[Event]) {
        if events.iter().any(|event| matters(&event.body)) {
            self.note(id, false);
        }
    }

    /// A session is there that was not, or is gone.
    pub(crate) fn is_new(&self, id: SessionId) {
        self.note(id, true);
    }

    fn note(&self, id: SessionId, is_new: bool) {
        if let Some(run) = &mut *self.run() {
            run.note(id, is_new);
            self.inner.is_current.send_if_modified(|is| std::mem::replace(is, false));
            self.inner.wake.notify_one();
        }
    }

    /// The index. Starts to read the logs when nobody does.
    pub(super) fn texts(&self, deps: &Arc<SessionDeps>) -> Arc<Mutex<Texts>> {
        let mut run = self.run();
        if let Some(run) = &mut *run {
            run.last_used = Instant::now();
            return Arc::clone(&run.texts);
        }
        let texts = Arc::new(Mutex::new(Texts::new(deps.config.borrow().history)));
        *run = Some(Run {
            texts: Arc::clone(&texts),
            last_used: Instant::now(),
            is_listed: false,
            queue: VecDeque::new(),
            queued: HashMap::new(),
            is_reading: false,
            known: HashSet::new(),
            damaged: HashSet::new(),
        });
        self.inner.is_current.send_replace(false);
        let ended = Ended { history: self.clone(), texts: Arc::clone(&texts) };
        let deps = Arc::clone(deps);
        let cancel = deps.tasks.cancel_token().clone();
        deps.tasks.clone().spawn("history", async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = ended.history.keep(&deps, &ended.texts) => {}
            }
        });
        texts
    }

    /// Waits until all has been read, until `deadline` at most.
    pub(super) async fn wait(&self, deadline: Instant) {
        let mut is_current = self.inner.is_current.subscribe();
        let read = is_current.wait_for(|is_current| *is_current);
        // Late, or the daemon stops: the answer says how much has been read.
        let _late = tokio::time::timeout_at(deadline, read).await.is_err();
    }

    /// How many sessions have been read.
    pub(super) fn extent(&self) -> HistoryExtent {
        let run = self.run();
        let Some(run) = &*run else {
            return HistoryExtent { sessions_unread: 1, ..HistoryExtent::default() };
        };
        HistoryExtent {
            sessions: run.known.len(),
            sessions_unread: match (run.queue.len() + usize::from(run.is_reading), run.is_listed) {
                (0, false) => 1,
                (unread, _) => unread,
            },
            sessions_damaged: run.damaged.len(),
            ..HistoryExtent::default()
        }
    }

    fn run(&self) -> MutexGuard<'_, Option<Run>> {
        // Nothing that can panic runs under this lock.
        self.inner.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is noted until nobody has asked for long.
    async fn keep(&self, deps: &SessionDeps, texts: &Arc<Mutex<Texts>>) {
        self.list(deps).await;
        loop {
            while let Some((id, is_new)) = self.next() {
                let is_damaged = match read(deps, texts, id, is_new).await {
                    Ok(is_there) => {
                        self.seen(id, is_there);
                        false
                    }
                    Err(error) => {
                        tracing::warn!(session_id = %id, %error, "what was said here is not searched");
                        true
                    }
                };
                if let Some(run) = &mut *self.run() {
                    run.is_reading = false;
                    if is_damaged {
                        run.damaged.insert(id);
                    } else {
                        run.damaged.remove(&id);
                    }
                }
            }
            let idle = deps.config.borrow().history.idle_unload;
            let unload_at = {
                let mut run = self.run();
                let Some(current) = &*run else { return };
                let unload_at = current.last_used + idle;
                if unload_at <= Instant::now() {
                    *run = None;
                    tracing::info!("nobody searches what was said; its index leaves memory");
                    return;
                }
                if current.is_current() {
                    self.inner.is_current.send_replace(true);
                }
                unload_at
            };
            tokio::select! {
                () = self.inner.wake.notified() => {}
                () = tokio::time::sleep_until(unload_at) => {}
            }
        }
    }

    /// Notes all sessions, the last used first.
    async fn list(&self, deps: &SessionDeps) {
        let mut from = None;
        loop {
            let page = match deps.store.sessions(from, SESSIONS).await {
                Ok(page) => page,
                Err(error) => {
                    // The next question tries again.
                    tracing::error!(%error, "the sessions cannot be listed to be searched");
                    *self.run() = None;
                    return;
                }
            };
            if let Some(run) = &mut *self.run() {
                for record in &page.sessions {
                    run.known.insert(record.session_id);
                    run.note(record.session_id, false);
                }
                run.is_listed = page.next.is_none();
            }
            from = page.next;
            if from.is_none() {
                return;
            }
        }
    }

    fn next(&self) -> Option<(SessionId, bool)> {
        let mut run = self.run();
        let run = run.as_mut()?;
        let id = run.queue.pop_front()?;
        run.is_reading = true;
        Some((id, run.queued.remove(&id).unwrap_or(false)))
    }

    fn seen(&self, id: SessionId, is_there: bool) {
        if let Some(run) = &mut *self.run() {
            if is_there {
                run.known.insert(id);
            } else {
                run.known.remove(&id);
            }
        }
    }
}

/// Takes the index away when its task ends, however it ends.
struct Ended {
    history: History,
    texts: Arc<Mutex<Texts>>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        let mut run = self.history.run();
        if run.as_ref().is_some_and(|run| Arc::ptr_eq(&run.texts, &self.texts)) {
            *run = None;
        }
    }
}

/// True of events after which something else is to be found.
fn matters(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::MessageAccepted(_)
            | EventBody::AssistantMessage(_)
            | EventBody::TurnStarted(_)
            | EventBody::MessagesDelivered(_)
            | EventBody::MessageWithdrawn(_)
            | EventBody::MessageExpired(_)
    )
}

/// Reads what a session's log has that was not read. False: there is no such session.
async fn read(
    deps: &SessionDeps,
    texts: &Arc<Mutex<Texts>>,
    id: SessionId,
    is_new: bool,
) -> Result<bool, ReadError> {
    let is_there = deps.store.session(id).await?.is_some();
    let mut from = with(texts, move |texts| {
        if is_new || !is_there {
            texts.forget(id);
        }
        texts.through(id).next()
    })
    .await;
    if !is_there {
        return Ok(false);
    }
    loop {
        let page = deps.store.events(id, from, PAGE).await?;
        let (events, more) = (page.events, page.more);
        let Some(last) = events.last().map(|event| event.seq) else { break };
        with(texts, move |texts| {
            for event in &events {
                texts.take(id, event);
            }
        })
        .await;
        from = last.next();
        if !more {
            break;
        }
    }
    Ok(true)
}

/// Works on the index where it may take its time: the first Chinese text loads a dictionary.
async fn with<T: Default + Send + 'static>(
    texts: &Arc<Mutex<Texts>>,
    work: impl FnOnce(&mut Texts) -> T + Send + 'static,
) -> T {
    let texts = Arc::clone(texts);
    let worked = tokio::task::spawn_blocking(move || {
        work(&mut texts.lock().unwrap_or_else(PoisonError::into_inner))
    });
    match worked.await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime is being torn down.
        Err(_cancelled) => T::default(),
    }
}
