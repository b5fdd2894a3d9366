//! What reaches the daemon and comes back: streams of sessions, and commands with their replies.
//!
//! Commands run beside the loop, so that a slow daemon never holds up a key. Those that change something
//! go one after the other in the order in which they were given; those that only read overtake them.

mod command;
mod execute;

use std::collections::BTreeMap;
use std::sync::Arc;

use agentd_shared::{
    AttachEvent, AttachPosition, AttachStream, Client, Connector, SessionWatchStream, WatchEvent,
};
use futures_util::future::select_all;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use command::{Command, Reply};

/// Commands that wait to be sent. A person does not type faster than the daemon answers; when it is
/// away for long, more are refused.
const WAITING: usize = 64;
/// Reads on their way at a time.
const READS: usize = 16;
/// Sessions that are told at first.
const WATCHED: u32 = 500;
/// Replies that wait for the loop.
const REPLIES: usize = 64;

/// A stream of events, numbered by whoever opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StreamId(pub u64);

/// What came from the daemon.
#[derive(Debug)]
pub enum Report {
    /// Something of a session's stream.
    Stream {
        /// Which.
        stream: StreamId,
        /// What; `None` when it has ended for good.
        event: Option<AttachEvent>,
    },
    /// The answer to a command.
    Reply(Reply),
    /// Something of all sessions.
    Watch(WatchEvent),
}

/// The way to one daemon.
#[derive(Debug)]
pub struct Conn {
    client: Client,
    connector: Arc<Connector>,
    streams: BTreeMap<StreamId, AttachStream>,
    /// All sessions, while they are followed.
    watch: Option<SessionWatchStream>,
    changes: mpsc::Sender<Command>,
    replies_tx: mpsc::Sender<Reply>,
    replies: mpsc::Receiver<Reply>,
    reads: JoinSet<()>,
    /// Aborts the task when it is dropped.
    _worker: JoinSet<()>,
}

impl Conn {
    /// Talks to the daemon of `client`, which `connector` has found. Call it inside a tokio runtime.
    pub fn new(connector: Connector, client: Client) -> Self {
        let connector = Arc::new(connector);
        let (changes, mut waiting) = mpsc::channel::<Command>(WAITING);
        let (replies_tx, replies) = mpsc::channel(REPLIES);
        let mut worker = JoinSet::new();
        let (its_client, its_replies) = (client.clone(), replies_tx.clone());
        let its_connector = Arc::clone(&connector);
        worker.spawn(async move {
            while let Some(command) = waiting.recv().await {
                let reply = execute::execute(&its_connector, &its_client, command).await;
                if its_replies.send(reply).await.is_err() {
                    return;
                }
            }
        });
        Self {
            client,
            connector,
            streams: BTreeMap::new(),
            watch: None,
            changes,
            replies_tx,
            replies,
            reads: JoinSet::new(),
            _worker: worker,
        }
    }

    /// Opens a stream of a session.
    pub fn attach(&mut self, stream: StreamId, session_id: &str, position: AttachPosition) {
        let opened = self.connector.attach(&self.client, session_id, position);
        self.streams.insert(stream, opened);
    }

    /// Closes a stream.
    pub fn detach(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
    }

    /// Follows all sessions.
    pub fn watch(&mut self) {
        self.watch = Some(self.connector.watch_sessions(&self.client, WATCHED));
    }

    /// Sends a command; its reply comes as a [`Report`].
    ///
    /// # Errors
    /// The command when too many wait already.
    pub fn send(&mut self, command: Command) -> Result<(), Box<Command>> {
        while self.reads.try_join_next().is_some() {}
        if command.changes() {
            return self.changes.try_send(command).map_err(|error| Box::new(error.into_inner()));
        }
        if self.reads.len() >= READS {
            return Err(Box::new(command));
        }
        let (client, replies) = (self.client.clone(), self.replies_tx.clone());
        let connector = Arc::clone(&self.connector);
        self.reads.spawn(async move {
            let reply = execute::execute(&connector, &client, command).await;
            // Nobody waits for it any more when the loop has ended.
            drop(replies.send(reply).await);
        });
        Ok(())
    }

    /// Returns what comes next.
    ///
    /// # Cancel safety
    /// Safe: what was not returned stays.
    pub async fn next(&mut self) -> Report {
        let Self { streams, replies, watch, .. } = self;
        let sessions = async {
            match watch {
                Some(watch) => watch.next().await,
                None => std::future::pending().await,
            }
        };
        let streams = async {
            if streams.is_empty() {
                return std::future::pending().await;
            }
            let nexts = streams
                .iter_mut()
                .map(|(stream, events)| Box::pin(async { (*stream, events.next().await) }));
            select_all(nexts).await.0
        };
        tokio::select! {
            // The sender is ours too, so that it never closes.
            Some(reply) = replies.recv() => Report::Reply(reply),
            (stream, event) = streams => {
                if event.is_none() {
                    self.streams.remove(&stream);
                }
                Report::Stream { stream, event }
            }
            change = sessions => {
                if let Some(change) = change {
                    return Report::Watch(change);
                }
                // The change before told why.
                self.watch = None;
                Box::pin(self.next()).await
            }
        }
    }

    /// Returns what is there already, for drawing many at once.
    pub fn try_next(&mut self) -> Option<Report> {
        if let Ok(reply) = self.replies.try_recv() {
            return Some(Report::Reply(reply));
        }
        if let Some(change) = self.watch.as_mut().and_then(SessionWatchStream::try_next) {
            return Some(Report::Watch(change));
        }
        self.streams.iter_mut().find_map(|(stream, events)| {
            let event = events.try_next()?;
            Some(Report::Stream { stream: *stream, event: Some(event) })
        })
    }
}
