//! An attached terminal: the stream of a session that survives restarts of the daemon.
//!
//! A task of its own reads the stream, connects anew with growing pauses when it breaks, and goes on
//! after the last durable event, so that nothing is lost or comes twice. Pieces of live text may come
//! again; a [`crate::Transcript`] skips them.

mod reader;

use agentd_proto::v1;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::connect::Endpoint;
use crate::identity::Identity;
use crate::paths::Paths;
use crate::start::StartOptions;
use crate::status_error::RpcError;

/// Events that wait for the client. When it is full the daemon's stream stands still, and the daemon
/// falls back to the log for this terminal.
const CAPACITY: usize = 256;

/// What to attach to, and as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachTarget {
    /// ULID of the session.
    pub session_id: String,
    /// Who attaches.
    pub identity: Identity,
    /// Where to start.
    pub position: AttachPosition,
}

/// Where a stream starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachPosition {
    /// At the terminal's read cursor, or at the beginning if it has none.
    ReadCursor,
    /// At this event; 1 is the beginning.
    FromSeq(u64),
    /// With the newest turns.
    LastTurns(u32),
    /// Only what happens from now on, and the running turn.
    OnlyNew,
}

/// What to do about a daemon that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Wait until somebody starts it.
    Wait,
    /// Start it, unless it said that somebody stops it: then wait as [`Recovery::Wait`] does.
    Restart {
        /// Where it keeps its files.
        paths: Paths,
        /// How to start it.
        options: StartOptions,
    },
}

/// What an attached terminal gets to know.
#[derive(Debug, Clone, PartialEq)]
pub enum AttachEvent {
    /// The daemon has taken the terminal in. Comes again after each [`AttachEvent::Restored`].
    Attached(v1::Attached),
    /// An event of the session.
    Event(Box<v1::Event>),
    /// The replay has reached the present.
    CaughtUp {
        /// Newest durable event that was sent.
        seq: u64,
    },
    /// The terminal read too slowly; the daemon goes on from the log, and nothing durable is lost.
    Lagged {
        /// The replay goes on from this event.
        resume_seq: u64,
    },
    /// The connection is gone and is being made anew. Comes once for each loss, and again when an
    /// attempt fails for a reason of its own.
    Lost {
        /// Why.
        error: RpcError,
    },
    /// The connection is back.
    Restored,
    /// The daemon refuses, and would again. Nothing follows.
    Failed(RpcError),
}

/// Opens attachments.
#[derive(Debug)]
pub struct Attachment;

impl Attachment {
    /// Attaches to a session. Call it inside a tokio runtime.
    pub fn open(endpoint: Endpoint, target: AttachTarget, recovery: Recovery) -> AttachStream {
        let (tx, events) = mpsc::channel(CAPACITY);
        let mut reader = JoinSet::new();
        reader.spawn(reader::run(endpoint, target, recovery, tx));
        AttachStream { events, _reader: reader }
    }
}

/// The events of an attachment. Dropping it detaches the terminal.
#[derive(Debug)]
pub struct AttachStream {
    events: mpsc::Receiver<AttachEvent>,
    /// Aborts the task when it is dropped.
    _reader: JoinSet<()>,
}

impl AttachStream {
    /// Returns the next event, or `None` after [`AttachEvent::Failed`].
    ///
    /// # Cancel safety
    /// Safe: an event that was not returned stays.
    pub async fn next(&mut self) -> Option<AttachEvent> {
        self.events.recv().await
    }

    /// Returns an event that is there already, for drawing many at once.
    pub fn try_next(&mut self) -> Option<AttachEvent> {
        self.events.try_recv().ok()
    }
}
