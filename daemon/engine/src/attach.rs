//! A terminal's view of a session: the log from a position, then everything as it happens.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Author, Event, EventBody, Seq, SessionId, TurnStarted};
use agentd_store::{Page, PageLimit, ReadError};
use tokio::task::JoinSet;

use crate::digest;
use crate::engine::Engine;
use crate::error::CommandError;
use crate::session::{Command, Delta, Joined, Outgoing, Participant, Seat, StreamEnd, Taken};

/// Events per page of a replay; a page is one message of the stream.
const REPLAY_PAGE: PageLimit = PageLimit { events: 512, bytes: 256 * 1024 };
/// Pause of a late terminal whose session has too much to do.
const MAILBOX_PAUSE: Duration = Duration::from_millis(20);
/// Events that are searched backwards for the start of the newest turns.
const MAX_LOOK_BACK: usize = 20_000;

/// Where a terminal starts to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachPosition {
    /// After its read cursor; from the beginning when it has none.
    Cursor,
    /// At this event.
    From(Seq),
    /// At the start of the newest turns.
    LastTurns(u32),
    /// After what is there now.
    OnlyNew,
}

/// One step of the stream.
#[derive(Debug)]
pub enum AttachmentItem {
    /// Durable events, in order, without gaps.
    Events(Vec<Arc<Event>>),
    /// More text of the item that is being written.
    Delta(Delta),
    /// Who is attached now.
    Presence(Vec<Participant>),
    /// The replay has reached the present. Comes once.
    CaughtUp(Seq),
    /// The terminal was too slow; the replay goes on from here.
    Lagged(Seq),
    /// There will be no more.
    End(StreamEnd),
}

/// A terminal that is attached. Dropping it detaches.
#[derive(Debug)]
pub struct Attachment {
    /// First event of the replay.
    pub from: Seq,
    /// Newest durable event at the moment of attaching.
    pub head: Seq,
    /// The terminal's read cursor.
    pub cursor: Seq,
    /// One line about what happened since the cursor; empty when nothing did.
    pub digest: String,
    /// All terminals, this one included.
    pub participants: Vec<Participant>,
    engine: Engine,
    session_id: SessionId,
    seat: Seat,
    next: Seq,
    replay_until: Seq,
    caught_up: bool,
    ready: VecDeque<AttachmentItem>,
    /// The next page of the replay; at most one.
    ahead: JoinSet<(Seq, Result<Page, ReadError>)>,
}

impl Engine {
    /// Attaches a terminal.
    ///
    /// # Errors
    /// When there is no such session, or the store cannot be read.
    pub async fn attach(
        &self,
        id: SessionId,
        author: Author,
        position: AttachPosition,
    ) -> Result<Attachment, CommandError> {
        let client_id = author.client_id.clone();
        let Joined { seat, head, participants } =
            self.ask(id, |reply| Command::Attach { author: author.clone(), reply }).await?;
        // From here on, dropping it detaches.
        let mut attachment = Attachment {
            from: head.next(),
            head,
            cursor: Seq::ZERO,
            digest: String::new(),
            participants,
            engine: self.clone(),
            session_id: id,
            seat,
            next: head.next(),
            replay_until: head,
            caught_up: false,
            ready: VecDeque::new(),
            ahead: JoinSet::new(),
        };
        let store = &*self.deps().store;
        let cursor = store.cursor(id, &client_id).await?;
        attachment.cursor = cursor.unwrap_or(Seq::ZERO);
        if let Some(cursor) = cursor {
            attachment.digest = digest::since(store, id, cursor.next(), head).await?;
        }
        attachment.from = match position {
            AttachPosition::Cursor => attachment.cursor.next(),
            AttachPosition::From(seq) => seq.max(Seq(1)),
            AttachPosition::LastTurns(turns) => self.start_of_turns(id, head, turns).await?,
            AttachPosition::OnlyNew => head.next(),
        }
        .min(head.next());
        attachment.next = attachment.from;
        Ok(attachment)
    }

    /// The first event of the newest `turns` turns, their user messages included.
    async fn start_of_turns(
        &self,
        id: SessionId,
        head: Seq,
        turns: u32,
    ) -> Result<Seq, CommandError> {
        let store = &*self.deps().store;
        let mut before = head.next();
        let mut left = turns;
        let mut looked = 0;
        let mut start = before;
        let mut wanted: Option<TurnStarted> = None;
        while left > 0 || wanted.is_some() {
            let page = store.events_before(id, before, REPLAY_PAGE).await?;
            for event in page.events.iter().rev() {
                looked += 1;
                match (&event.body, &wanted) {
                    (EventBody::TurnStarted(started), None) => {
                        start = event.seq;
                        left -= 1;
                        if left == 0 {
                            wanted = Some(started.clone());
                        }
                    }
                    (EventBody::MessageAccepted(accepted), Some(started))
                        if started.item_ids.contains(&accepted.item_id) =>
                    {
                        return Ok(event.seq);
                    }
                    _ => {}
                }
            }
            match page.events.first() {
                Some(first) if page.more && looked < MAX_LOOK_BACK => before = first.seq,
                Some(_) if page.more => return Ok(start),
                _ => return Ok(if left > 0 { Seq(1) } else { start }),
            }
        }
        Ok(start)
    }
}

impl Attachment {
    /// The next step of the stream.
    ///
    /// # Errors
    /// When the store cannot be read; the stream is over then.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: what was taken from the queue waits in `ready`, and a
    /// restart that was asked for waits in the queue.
    pub async fn next(&mut self) -> Result<AttachmentItem, CommandError> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(item);
            }
            if self.next <= self.replay_until {
                if let Some(item) = self.replay().await? {
                    return Ok(item);
                }
                continue;
            }
            if !self.caught_up {
                self.caught_up = true;
                return Ok(AttachmentItem::CaughtUp(self.replay_until));
            }
            match self.seat.0.take().await {
                Taken::Items(items) => self.sort_in(items),
                Taken::Lagged => {
                    let subscriber = Arc::clone(&self.seat.0);
                    let restart = self.engine.ask(self.session_id, |reply| Command::Resync {
                        subscriber: Arc::clone(&subscriber),
                        reply,
                    });
                    match restart.await {
                        // A terminal that is late already can wait a little more.
                        Err(CommandError::MailboxFull) => tokio::time::sleep(MAILBOX_PAUSE).await,
                        restarted => restarted?,
                    }
                }
                Taken::Restarted(head) => {
                    self.replay_until = head;
                    return Ok(AttachmentItem::Lagged(self.next));
                }
                Taken::End(end) => return Ok(AttachmentItem::End(end)),
            }
        }
    }

    async fn replay(&mut self) -> Result<Option<AttachmentItem>, CommandError> {
        let page = self.page().await?;
        let goes_on = page.more;
        let events: Vec<_> = page
            .events
            .into_iter()
            .take_while(|event| event.seq <= self.replay_until)
            .map(Arc::new)
            .collect();
        let Some(last) = events.last() else {
            // The log is shorter than its head said: it was deleted meanwhile.
            self.next = self.replay_until.next();
            return Ok(None);
        };
        self.next = last.seq.next();
        if goes_on && self.next <= self.replay_until {
            self.read_ahead();
        }
        Ok(Some(AttachmentItem::Events(events)))
    }

    /// The page that begins at `next`.
    async fn page(&mut self) -> Result<Page, CommandError> {
        loop {
            match self.ahead.join_next().await {
                Some(Ok((from, page))) if from == self.next => return Ok(page?),
                // Read for a position that has since been passed by other ways.
                Some(Ok(_passed)) => {}
                Some(Err(broken)) => {
                    return Err(ReadError::Corrupt { detail: broken.to_string() }.into());
                }
                None => self.read_ahead(),
            }
        }
    }

    /// Reads the page that begins at `next` while the terminal is busy with the one before.
    fn read_ahead(&mut self) {
        let store = Arc::clone(&self.engine.deps().store);
        let (id, from) = (self.session_id, self.next);
        self.ahead.spawn(async move { (from, store.events(id, from, REPLAY_PAGE).await) });
    }

    fn sort_in(&mut self, items: Vec<Outgoing>) {
        let mut events = Vec::new();
        for item in items {
            match item {
                Outgoing::Event(event) => {
                    if event.seq >= self.next {
                        self.next = event.seq.next();
                        events.push(event);
                    }
                }
                Outgoing::Delta(delta) => {
                    self.flush(&mut events);
                    self.ready.push_back(AttachmentItem::Delta(delta));
                }
                Outgoing::Presence(participants) => {
                    self.flush(&mut events);
                    self.ready.push_back(AttachmentItem::Presence(participants));
                }
            }
        }
        self.flush(&mut events);
    }

    fn flush(&mut self, events: &mut Vec<Arc<Event>>) {
        if !events.is_empty() {
            self.ready.push_back(AttachmentItem::Events(std::mem::take(events)));
        }
    }

    /// More steps that are there already, without waiting: they may share a message.
    pub fn next_ready(&mut self) -> Option<AttachmentItem> {
        self.ready.pop_front()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // The actor looks for seats that were left; the seat itself is dropped after this.
        self.seat.0.leave();
        // A session that has meanwhile been unloaded has no terminals.
        if let Some(handle) = self.engine.live_handle(self.session_id) {
            // With a full mailbox the actor finds out by itself with its next timer.
            let _told = handle.tell(Command::Detach);
        }
    }
}
