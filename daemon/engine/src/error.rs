//! What commands to sessions answer when they fail.

use std::sync::Arc;

use agentd_domain::{
    ApprovalId, ErrorKind, GoalError, ItemId, QuestionId, Seq, SessionId, TitleError,
};
use agentd_store::{CommitError, ReadError};

use crate::expand::ExpandError;
use crate::pins::PinError;

/// A field of a request, as the wire names it.
pub type Field = &'static str;

/// Why a command was not carried out. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// There is no such message in the queue.
    #[error("message {0} is not in the queue: it was used by a turn, withdrawn, or never existed")]
    NoQueuedMessage(ItemId),
    /// There is no such open question.
    #[error("there is no open question {0}")]
    NoQuestion(QuestionId),
    /// Somebody else's answer was first.
    #[error("question {question_id} was answered already")]
    AnsweredAlready {
        /// The question.
        question_id: QuestionId,
    },
    /// The answer is not among the choices.
    #[error("'{got}' is not one of the choices: {}", .choices.join(", "))]
    NotAChoice {
        /// What was answered.
        got: String,
        /// What may be answered.
        choices: Vec<String>,
    },
    /// There is no such open approval.
    #[error("there is no open approval {0}")]
    NoApproval(ApprovalId),
    /// It was resolved before.
    #[error("approval {approval_id} was {}", resolved_how(.by))]
    ApprovalResolved {
        /// The approval.
        approval_id: ApprovalId,
        /// Name of who answered; empty when nobody did.
        by: String,
    },
    /// No rule can hold for the same thing only.
    #[error("no rule can allow what approval {0} is about and nothing else")]
    NoRuleFor(ApprovalId),
    /// There is no such rule.
    #[error("there is no rule {0}")]
    NoRule(String),
    /// The rule is the configuration's.
    #[error("rule {0} is made by the configuration")]
    ConfiguredRule(String),
    /// Users and workspaces have as many rules as they may.
    #[error("there are {max} permission rules; more are not kept")]
    TooManyRules {
        /// Most rules.
        max: usize,
    },
    /// There is no such goal.
    #[error("there is no goal {0}")]
    NoGoal(String),
    /// A person has set it.
    #[error("a person has set goal {0}, so that no model removes it")]
    GoalOfPerson(String),
    /// What is to be a goal is none.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// There are as many open goals as there may be.
    #[error("there are {max} open goals {wherever}; more are not kept")]
    TooManyGoals {
        /// Most of them.
        max: usize,
        /// Which.
        wherever: &'static str,
    },
    /// What is to be pinned or unpinned cannot be.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// A line of the summary cannot be shown.
    #[error(transparent)]
    Expand(#[from] ExpandError),
    /// A denial holds for one call.
    #[error("a denial holds for the call that it is about")]
    DenialScope,
    /// The reason is too long.
    #[error("the reason has {bytes} bytes; at most {max} are allowed")]
    ReasonTooLong {
        /// Bytes of the reason.
        bytes: usize,
        /// Most bytes allowed.
        max: usize,
    },
    /// The question has nothing to look for.
    #[error("the question has no word to look for")]
    EmptyQuestion,
    /// The question is too long.
    #[error("the question has {bytes} bytes; at most {max} are allowed")]
    QuestionTooLong {
        /// Bytes of the question.
        bytes: usize,
        /// Most bytes allowed.
        max: usize,
    },
    /// The message is empty.
    #[error("the message has no text")]
    EmptyMessage,
    /// The message is too long.
    #[error("the message has {bytes} bytes; at most {max} are allowed")]
    MessageTooLong {
        /// Bytes of the message.
        bytes: usize,
        /// Most bytes allowed.
        max: usize,
    },
    /// The title is not acceptable.
    #[error("the title is not acceptable: {0}")]
    Title(#[from] TitleError),
    /// The model name is not acceptable.
    #[error(
        "the model name has {bytes} bytes or control characters; at most {max} bytes of text are allowed"
    )]
    ModelName {
        /// Bytes of the name.
        bytes: usize,
        /// Most bytes allowed.
        max: usize,
    },
    /// The workspace is not a directory that can be used.
    #[error("the workspace {path} {problem}")]
    Workspace {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A further directory of a session cannot be one.
    #[error("the directory {path} {problem}")]
    FurtherRoot {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A session with this id exists and was made differently.
    #[error("session {0} exists already")]
    SessionExists(SessionId),
    /// Another request is making this session now.
    #[error("session {0} is being made by another request")]
    BeingMade(SessionId),
    /// The position is not in the log.
    #[error("event {got} is past the end of the log at {last}")]
    NoSuchEvent {
        /// What was asked for.
        got: Seq,
        /// The end of the log.
        last: Seq,
    },
    /// A turn is open, and what was asked for is done between turns.
    #[error("a turn of session {0} is not over")]
    TurnOpen(SessionId),
    /// What requests are made of cannot be told.
    #[error("what requests are made of cannot be told: {problem}")]
    NoContext {
        /// Why.
        problem: String,
    },
    /// Too many messages wait.
    #[error("{limit} messages are waiting in this session already")]
    QueueFull {
        /// Most messages that may wait.
        limit: usize,
    },
    /// Too many terminals are attached.
    #[error("{limit} terminals are attached to this session already")]
    TooManyTerminals {
        /// Most terminals of a session.
        limit: usize,
    },
    /// Too many clients watch all sessions.
    #[error("{limit} clients watch the sessions already")]
    TooManyWatchers {
        /// Most of them.
        limit: usize,
    },
    /// Too many commands wait.
    #[error("the session has too many commands to work through")]
    MailboxFull,
    /// Too many calls by hand run.
    #[error("{limit} calls by hand are running already")]
    TooManyByHand {
        /// Most that may run.
        limit: usize,
    },
    /// What was changed cannot be shown.
    #[error("the changes cannot be shown: {problem}")]
    Changes {
        /// Why.
        problem: String,
    },
    /// The daemon is stopping.
    #[error("the daemon is stopping")]
    Stopping,
    /// The session was deleted meanwhile.
    #[error("session {0} was deleted")]
    Deleted(SessionId),
    /// Nothing durable could be written.
    #[error("the change could not be stored: {0}")]
    Commit(#[from] CommitError),
    /// The store could not be read.
    #[error("the session could not be read: {0}")]
    Read(Arc<ReadError>),
}

impl CommandError {
    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSession(_)
            | Self::NoQueuedMessage(_)
            | Self::NoQuestion(_)
            | Self::NoApproval(_)
            | Self::NoRule(_)
            | Self::NoGoal(_)
            | Self::Deleted(_) => ErrorKind::NotFound,
            Self::AnsweredAlready { .. }
            | Self::ApprovalResolved { .. }
            | Self::SessionExists(_) => ErrorKind::Conflict,
            Self::NoRuleFor(_)
            | Self::ConfiguredRule(_)
            | Self::TurnOpen(_)
            | Self::NoContext { .. }
            | Self::Changes { .. } => ErrorKind::Precondition,
            Self::GoalOfPerson(_) => ErrorKind::Denied,
            Self::NotAChoice { .. }
            | Self::Goal(_)
            | Self::DenialScope
            | Self::ReasonTooLong { .. }
            | Self::EmptyQuestion
            | Self::QuestionTooLong { .. }
            | Self::EmptyMessage
            | Self::MessageTooLong { .. }
            | Self::Title(_)
            | Self::ModelName { .. }
            | Self::Workspace { .. }
            | Self::FurtherRoot { .. }
            | Self::NoSuchEvent { .. } => ErrorKind::Invalid,
            Self::QueueFull { .. }
            | Self::TooManyTerminals { .. }
            | Self::TooManyWatchers { .. }
            | Self::TooManyRules { .. }
            | Self::TooManyGoals { .. }
            | Self::MailboxFull
            | Self::TooManyByHand { .. }
            | Self::BeingMade(_) => ErrorKind::Busy,
            Self::Stopping => ErrorKind::Unavailable,
            Self::Pin(error) => error.kind(),
            Self::Expand(error) => error.kind(),
            Self::Commit(error) => error.kind(),
            Self::Read(error) => error.kind(),
        }
    }

    /// The field of the request that is at fault.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::NoSession(_)
            | Self::Deleted(_)
            | Self::SessionExists(_)
            | Self::BeingMade(_)
            | Self::TurnOpen(_) => Some("session_id"),
            Self::NoQueuedMessage(_) => Some("item_id"),
            Self::NoQuestion(_) | Self::AnsweredAlready { .. } => Some("question_id"),
            Self::NoApproval(_) | Self::ApprovalResolved { .. } => Some("approval_id"),
            Self::NoRuleFor(_) | Self::DenialScope => Some("scope"),
            Self::NoRule(_) | Self::ConfiguredRule(_) => Some("rule_id"),
            Self::NoGoal(_) | Self::GoalOfPerson(_) => Some("goal_id"),
            Self::Goal(GoalError::Priority { .. }) => Some("priority"),
            Self::Goal(GoalError::Empty | GoalError::TooLong { .. }) => Some("content"),
            Self::ReasonTooLong { .. } => Some("reason"),
            Self::NotAChoice { .. } => Some("choice"),
            Self::EmptyQuestion | Self::QuestionTooLong { .. } => Some("question"),
            Self::EmptyMessage | Self::MessageTooLong { .. } => Some("text"),
            Self::Title(_) => Some("title"),
            Self::ModelName { .. } => Some("model"),
            Self::Workspace { .. } => Some("workspace"),
            Self::FurtherRoot { .. } => Some("further_roots"),
            Self::NoSuchEvent { .. } => Some("up_to_seq"),
            Self::Pin(error) => error.field(),
            Self::Expand(error) => error.field(),
            Self::QueueFull { .. }
            | Self::TooManyTerminals { .. }
            | Self::TooManyWatchers { .. }
            | Self::TooManyRules { .. }
            | Self::TooManyGoals { .. }
            | Self::MailboxFull
            | Self::TooManyByHand { .. }
            | Self::NoContext { .. }
            | Self::Changes { .. }
            | Self::Stopping
            | Self::Commit(_)
            | Self::Read(_) => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoSession(_) | Self::Deleted(_) => {
                "`agentctl sessions list` shows the sessions there are"
            }
            Self::NoQueuedMessage(_) => "`/queue` shows what is still waiting",
            Self::NoQuestion(_) | Self::AnsweredAlready { .. } => {
                "attach to the session to see how it went on"
            }
            Self::NoApproval(_) | Self::ApprovalResolved { .. } => {
                "`agentctl approvals` shows what still waits"
            }
            Self::NoRuleFor(_) => "allow it once",
            Self::DenialScope => "deny it once",
            Self::NoRule(_) => "`agentctl permissions list` shows the rules there are",
            Self::ConfiguredRule(_) => "take it out of [permission] in the configuration",
            Self::TooManyRules { .. } => "remove some with `agentctl permissions remove`",
            Self::NoGoal(_) => "`agentctl goals list --done` shows the goals there are",
            Self::GoalOfPerson(_) => "people remove it with `agentctl goals drop`",
            Self::Goal(GoalError::Priority { .. }) => "give 1 (first), 2 or 3 (last)",
            Self::Goal(GoalError::Empty) => "say what is to be reached",
            Self::TooManyGoals { .. } => "drop some with `agentctl goals drop`",
            Self::ReasonTooLong { .. }
            | Self::QuestionTooLong { .. }
            | Self::Goal(GoalError::TooLong { .. }) => "say it in fewer words",
            Self::EmptyQuestion => "name a word that was said",
            Self::NotAChoice { .. } => "answer with one of the choices, as it is written",
            Self::EmptyMessage => "write something other than white space",
            Self::MessageTooLong { .. } => {
                "put long material in a file of the workspace and name the file"
            }
            Self::Title(_) => "give one line of 1 to 200 characters",
            Self::ModelName { .. } => "give the name as the provider lists it",
            Self::Workspace { .. } => "give the absolute path of an existing directory",
            Self::FurtherRoot { .. } => {
                "give absolute paths of existing directories, none in another or in the workspace"
            }
            Self::SessionExists(_) => "choose another id, or leave it out",
            Self::TurnOpen(_) => "wait for its end, or interrupt it",
            Self::NoContext { .. } => "look at the configuration of the model",
            Self::NoSuchEvent { .. } => "give the seq of an event that the log has",
            Self::TooManyTerminals { .. } => "close some, or read the log in pages",
            Self::TooManyWatchers { .. } => "close some, or list the sessions",
            Self::QueueFull { .. } => "wait for some to be answered, or withdraw some",
            Self::MailboxFull | Self::BeingMade(_) | Self::TooManyByHand { .. } => {
                "try again in a moment"
            }
            Self::Changes { .. } => "look at the workspace and the daemon's data directory",
            Self::Stopping => "try again when it is back",
            Self::Pin(error) => error.hint(),
            Self::Expand(error) => error.hint(),
            Self::Commit(error) => error.hint(),
            Self::Read(error) => error.hint(),
        }
    }
}

fn resolved_how(by: &str) -> String {
    if by.is_empty() {
        "expired or void before".to_owned()
    } else {
        format!("answered before, by {}", agentd_domain::cut_line(by, 80))
    }
}

impl From<ReadError> for CommandError {
    fn from(error: ReadError) -> Self {
        Self::Read(Arc::new(error))
    }
}
