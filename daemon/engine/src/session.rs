//! One live session: the commands it takes and the handle that sends them.

mod actor;
mod approvals;
mod decide;
mod live;
mod load;
mod plans;
mod questions;
mod state;
mod subscriber;
#[cfg(test)]
pub(crate) mod test_log;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentd_domain::{
    ApprovalRequested, Author, Effort, ItemId, PermissionMode, PermissionRule, Plan, QuestionAsked,
    QuestionId, Seq, SessionId, SessionRecord, Title, TodoList, TurnId, WorkMode,
};
use tokio::sync::{mpsc, oneshot};

use crate::by_hand::SessionPlace;
use crate::compact::Folding;
use crate::error::CommandError;

pub use actor::Compaction;
pub(crate) use actor::{Actor, Ended, SessionDeps};
pub use approvals::ApprovalAnswer;
pub(crate) use approvals::{Ask, Standing};
pub use decide::Submission;
pub(crate) use decide::{Draft, check_model_name, close_turn};
pub(crate) use live::TextChannel;
pub(crate) use load::{LOAD_PAGE, for_each_event};
pub(crate) use plans::interrupt as interrupt_plan;
pub use state::QueuedMessage;
pub(crate) use state::{OpenCall, SessionState, brings_outside_text};
pub use subscriber::{Delta, DeltaSource, Participant, StreamEnd};
pub(crate) use subscriber::{Outgoing, Seat, Subscriber, Taken};

/// Commands that may wait for one session. Each is answered in about a millisecond; more waiting
/// ones mean that a client should slow down.
pub(crate) const MAILBOX: usize = 64;

/// The answer to a submitted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    /// The id that the message got.
    pub item_id: ItemId,
    /// Its MessageAccepted event.
    pub seq: Seq,
    /// Messages that run before it.
    pub queue_position: usize,
    /// True when it had been accepted before.
    pub duplicate: bool,
}

/// A session with what is live about it.
#[derive(Debug, Clone)]
pub struct SessionView {
    /// The index entry, up to date.
    pub record: SessionRecord,
    /// Waiting messages in the order in which they will run.
    pub queue: Vec<QueuedMessage>,
    /// Questions that nobody has answered yet.
    pub open_questions: Vec<QuestionAsked>,
    /// Terminals attached now.
    pub participants: Vec<Participant>,
    /// What it has set out to do.
    pub todo: TodoList,
    /// Its plan; without steps when there is none.
    pub plan: Plan,
    /// Calls that wait until somebody says whether they may run.
    pub open_approvals: Vec<ApprovalRequested>,
    /// Rules that hold in this session only.
    pub rules: Vec<PermissionRule>,
}

/// Where the answer to a command goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, CommandError>>;

/// What a session can be asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    Submit {
        submission: Submission,
        reply: Reply<Submitted>,
    },
    Withdraw {
        item_id: ItemId,
        by: Author,
        reply: Reply<Seq>,
    },
    Interrupt {
        turn_id: Option<TurnId>,
        by: Author,
        reply: Reply<bool>,
    },
    Answer {
        question_id: QuestionId,
        choice: String,
        by: Author,
        reply: Reply<Seq>,
    },
    AnswerApproval {
        answer: ApprovalAnswer,
        reply: Reply<Seq>,
    },
    RevokeRule {
        rule_id: String,
        by: Author,
        reply: Reply<Seq>,
    },
    Update {
        update: SessionUpdate,
        by: Option<Author>,
        reply: Reply<SessionView>,
    },
    View {
        reply: Reply<SessionView>,
    },
    Place {
        reply: Reply<SessionPlace>,
    },
    FoldingView {
        reply: Reply<(Folding, String)>,
    },
    Compact {
        reply: Reply<Compaction>,
    },
    Note {
        text: String,
        reply: Reply<()>,
    },
    /// Look for memories now. False: there is nothing to look through, or nothing came of it.
    LookForMemories {
        reply: Reply<bool>,
    },
    Pins {
        change: PinChange,
        by: Author,
        reply: Reply<Vec<String>>,
    },
    RequestParts {
        reply: Reply<RequestParts>,
    },
    Attach {
        author: Author,
        reply: Reply<Joined>,
    },
    Resync {
        subscriber: Arc<Subscriber>,
        reply: Reply<()>,
    },
    Detach,
    Delete {
        reply: Reply<()>,
    },
}

/// What requests hold beside the turns.
#[derive(Debug, Clone)]
pub(crate) struct RequestParts {
    /// The event that the summary is from; none: nothing was folded.
    pub(crate) summary: Option<Seq>,
    /// Path below the workspace of the document that they hold; empty: none.
    pub(crate) project_document: String,
}

/// What to change of a session's pins.
#[derive(Debug, Clone)]
pub(crate) enum PinChange {
    /// Pin a text.
    Add { text: String },
    /// Unpin one.
    Remove {
        /// Its number, from 1 on.
        number: u32,
    },
}

/// What to change of a session. What is absent stays as it is.
#[derive(Debug, Clone, Default)]
pub struct SessionUpdate {
    /// New manual title.
    pub title: Option<Title>,
    /// New model from the next turn on; empty means the default.
    pub model: Option<String>,
    /// New effort from the next turn on; none inside means the model's default.
    pub effort: Option<Option<Effort>>,
    /// How much the agent may do without asking, from the next call on.
    pub permission_mode: Option<PermissionMode>,
    /// What it works on, from the next call on.
    pub work_mode: Option<WorkMode>,
}

/// A terminal's place in a session.
#[derive(Debug)]
pub(crate) struct Joined {
    /// Its queue: everything after `head`.
    pub(crate) seat: Seat,
    /// The newest durable event when it joined.
    pub(crate) head: Seq,
    /// All terminals, this one included.
    pub(crate) participants: Vec<Participant>,
}

/// What others may look at without asking the actor.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) attached: AtomicU32,
    pub(crate) running: AtomicBool,
    /// Messages that wait.
    pub(crate) queued: AtomicU32,
    /// Calls that wait for people.
    pub(crate) approvals: AtomicU32,
    /// The index entry as it is now; none before the session is loaded.
    record: Mutex<Option<Arc<SessionRecord>>>,
}

impl Gauges {
    /// Shows the index entry as it is now. The index itself lags behind while a turn runs.
    pub(crate) fn show(&self, record: &SessionRecord) {
        *self.record() = Some(Arc::new(record.clone()));
    }

    /// Leaves it to the store to say what there is of the session.
    pub(crate) fn hide(&self) {
        *self.record() = None;
    }

    fn record(&self) -> MutexGuard<'_, Option<Arc<SessionRecord>>> {
        // Nothing that can panic runs under this lock.
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends commands to a live session. Cheap to clone; holding one does not keep the session loaded.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    id: SessionId,
    commands: mpsc::Sender<Command>,
    gauges: Arc<Gauges>,
}

impl SessionHandle {
    pub(crate) fn new(id: SessionId, commands: mpsc::Sender<Command>, gauges: Arc<Gauges>) -> Self {
        Self { id, commands, gauges }
    }

    /// The session.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Terminals attached now.
    pub fn attached(&self) -> u32 {
        self.gauges.attached.load(Ordering::Relaxed)
    }

    /// True while a turn's task runs.
    pub fn is_running(&self) -> bool {
        self.gauges.running.load(Ordering::Relaxed)
    }

    /// Calls that wait for people.
    pub fn approvals(&self) -> u32 {
        self.gauges.approvals.load(Ordering::Relaxed)
    }

    /// Messages that wait for a turn.
    pub fn queued(&self) -> u32 {
        self.gauges.queued.load(Ordering::Relaxed)
    }

    /// The index entry as it is now; none before the session is loaded.
    pub(crate) fn record(&self) -> Option<Arc<SessionRecord>> {
        self.gauges.record().clone()
    }

    /// Sends a command and waits for its answer. `Ok(None)` means that the actor has just ended, so
    /// the session must be opened again.
    ///
    /// # Cancel safety
    /// A command that was sent is carried out even when the future is dropped.
    pub(crate) async fn ask<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<Option<T>, CommandError> {
        let (reply, answer) = oneshot::channel();
        match self.commands.try_send(command(reply)) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => return Err(CommandError::MailboxFull),
            Err(mpsc::error::TrySendError::Closed(_)) => return Ok(None),
        }
        match answer.await {
            Ok(answer) => answer.map(Some),
            Err(_dropped) => Ok(None),
        }
    }

    /// Sends a command that has no answer; it is dropped when the mailbox is full.
    pub(crate) fn tell(&self, command: Command) -> bool {
        self.commands.try_send(command).is_ok()
    }
}
