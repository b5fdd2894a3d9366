//! What a terminal can ask the daemon for, and what comes back.

use agentd_proto::v1;
use agentd_shared::RpcError;

/// One call of the daemon.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Sends a message; sent again while the daemon is away, it is still one message.
    Submit(v1::SubmitMessageRequest),
    /// Cancels a turn.
    Interrupt(v1::InterruptTurnRequest),
    /// Answers a question.
    AnswerQuestion(v1::AnswerQuestionRequest),
    /// Answers an approval.
    AnswerApproval(v1::AnswerApprovalRequest),
    /// Takes back a queued message.
    Withdraw(v1::WithdrawMessageRequest),
    /// Changes a session's title, model, effort or modes.
    UpdateSession(v1::UpdateSessionRequest),
    /// Makes a session.
    CreateSession(v1::CreateSessionRequest),
    /// Deletes a session.
    DeleteSession(v1::DeleteSessionRequest),
    /// Notes how far this terminal has read.
    SetReadCursor(v1::SetReadCursorRequest),
    /// Lists sessions.
    ListSessions(v1::ListSessionsRequest),
    /// Reads a session.
    GetSession(v1::GetSessionRequest),
    /// Lists models.
    ListModels(v1::ListModelsRequest),
    /// Tells how the daemon is.
    GetStatus,
}

impl Command {
    /// Whether it changes something, so that its place among others matters.
    pub fn changes(&self) -> bool {
        match self {
            Self::Submit(_)
            | Self::Interrupt(_)
            | Self::AnswerQuestion(_)
            | Self::AnswerApproval(_)
            | Self::Withdraw(_)
            | Self::UpdateSession(_)
            | Self::CreateSession(_)
            | Self::DeleteSession(_) => true,
            Self::SetReadCursor(_)
            | Self::ListSessions(_)
            | Self::GetSession(_)
            | Self::ListModels(_)
            | Self::GetStatus => false,
        }
    }

    /// What it was for, as in "cannot send the message".
    pub fn purpose(&self) -> &'static str {
        match self {
            Self::Submit(_) => "send the message",
            Self::Interrupt(_) => "interrupt the turn",
            Self::AnswerQuestion(_) => "answer the question",
            Self::AnswerApproval(_) => "answer the approval",
            Self::Withdraw(_) => "take the message back",
            Self::UpdateSession(_) => "change the session",
            Self::CreateSession(_) => "make a session",
            Self::DeleteSession(_) => "delete the session",
            Self::SetReadCursor(_) => "note how far you have read",
            Self::ListSessions(_) => "list the sessions",
            Self::GetSession(_) => "read the session",
            Self::ListModels(_) => "list the models",
            Self::GetStatus => "read the daemon's status",
        }
    }
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It is done; events tell the rest.
    Done,
    /// The message was accepted.
    Submitted(v1::SubmitMessageResponse),
    /// Whether a turn was cancelled.
    Interrupted(bool),
    /// A session was made.
    Created(Box<v1::Session>),
    /// A session was deleted.
    Deleted {
        /// ULID.
        session_id: String,
    },
    /// Sessions, the most recently used first.
    Sessions(Vec<v1::Session>),
    /// A session with what stands beside it.
    Session(Box<v1::GetSessionResponse>),
    /// Models.
    Models(v1::ListModelsResponse),
    /// How the daemon is.
    Status(Box<v1::GetStatusResponse>),
    /// It was refused, or nobody answered.
    Failed {
        /// What was asked.
        command: Box<Command>,
        /// Why.
        error: RpcError,
    },
}
