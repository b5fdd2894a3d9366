//! What a terminal can ask the daemon for, and what comes back.

use std::path::PathBuf;

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
    /// Lists memories.
    ListMemories(v1::ListMemoriesRequest),
    /// Shows a memory with its history.
    GetMemory(v1::GetMemoryRequest),
    /// Changes a memory.
    UpdateMemory(v1::UpdateMemoryRequest),
    /// Remembers a text.
    AddMemory(v1::AddMemoryRequest),
    /// Takes a memory back.
    ForgetMemory(v1::ForgetMemoryRequest),
    /// Stands behind a memory.
    ConfirmMemory(v1::ConfirmMemoryRequest),
    /// Takes a change of memories back.
    UndoMemoryChange(v1::UndoMemoryChangeRequest),
    /// Counts memories.
    GetMemoryStats,
    /// Lets time do its work on memories, or tells what it would do.
    SweepMemories(v1::SweepMemoriesRequest),
    /// Brings order into memories, or tells what would be done.
    ConsolidateMemories(v1::ConsolidateMemoriesRequest),
    /// Lists tools.
    ListTools,
    /// Sums up what requests used and cost.
    GetUsage(v1::GetUsageRequest),
    /// Measures what the next request would hold.
    GetContext(v1::GetContextRequest),
    /// Finds what was said in all sessions.
    SearchMessages(v1::SearchMessagesRequest),
    /// Shows a tool.
    GetTool(v1::GetToolRequest),
    /// Shows what tools have changed.
    ListChanges(v1::ListChangesRequest),
    /// Takes a change of files back.
    Undo {
        /// Whose change.
        session_id: String,
        /// Its number; none: the last one.
        change: Option<u64>,
        /// Who wants it.
        author: v1::Author,
    },
    /// Folds the older turns.
    CompactContext(v1::CompactContextRequest),
    /// Shows what a line of the summary was made from.
    ExpandSummary(v1::ExpandSummaryRequest),
    /// Pins a text.
    Pin(v1::PinTextRequest),
    /// Takes back what is pinned.
    Unpin(v1::UnpinTextRequest),
    /// Reads events.
    ListEvents(v1::ListEventsRequest),
    /// Writes a session to a file.
    Export {
        /// Which session.
        session_id: String,
        /// The file, which must not be there yet.
        file: PathBuf,
    },
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
            | Self::DeleteSession(_)
            | Self::UpdateMemory(_)
            | Self::AddMemory(_)
            | Self::ForgetMemory(_)
            | Self::ConfirmMemory(_)
            | Self::UndoMemoryChange(_)
            | Self::Undo { .. }
            | Self::CompactContext(_)
            | Self::Pin(_)
            | Self::Unpin(_) => true,
            Self::SetReadCursor(_)
            | Self::ListSessions(_)
            | Self::GetSession(_)
            | Self::ListModels(_)
            | Self::GetStatus
            // They may take minutes, and a message must not wait for them.
            | Self::SweepMemories(_)
            | Self::ConsolidateMemories(_)
            | Self::ListMemories(_)
            | Self::GetMemory(_)
            | Self::GetMemoryStats
            | Self::ListTools
            | Self::GetUsage(_)
            | Self::GetContext(_)
            | Self::SearchMessages(_)
            | Self::GetTool(_)
            | Self::ListChanges(_)
            | Self::ExpandSummary(_)
            | Self::ListEvents(_)
            | Self::Export { .. } => false,
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
            Self::ListMemories(_) => "list the memories",
            Self::GetMemory(_) => "show the memory",
            Self::UpdateMemory(_) => "change the memory",
            Self::AddMemory(_) => "remember that",
            Self::ForgetMemory(_) => "forget the memory",
            Self::ConfirmMemory(_) => "confirm the memory",
            Self::UndoMemoryChange(_) => "take the change back",
            Self::GetMemoryStats => "count the memories",
            Self::SweepMemories(_) => "let the memories age",
            Self::ConsolidateMemories(_) => "bring order into the memories",
            Self::ListTools => "list the tools",
            Self::GetUsage(_) => "sum up what was used",
            Self::GetContext(_) => "measure the context",
            Self::SearchMessages(_) => "search all sessions",
            Self::GetTool(_) => "show the tool",
            Self::ListChanges(_) => "show the changes",
            Self::Undo { .. } => "take the change of files back",
            Self::CompactContext(_) => "fold the older turns",
            Self::ExpandSummary(_) => "show what the line was made from",
            Self::Pin(_) => "pin the text",
            Self::Unpin(_) => "take back what is pinned",
            Self::ListEvents(_) => "read the events",
            Self::Export { .. } => "write the session to a file",
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
    /// A page of memories.
    Memories(v1::ListMemoriesResponse),
    /// A memory with its history.
    Memory(Box<v1::GetMemoryResponse>),
    /// A memory was changed, taken back or confirmed.
    MemoryChanged,
    /// What has become of a text that was to be remembered.
    MemoryAdded(Box<v1::AddMemoryResponse>),
    /// A change of memories was taken back.
    MemoryUndone(Box<v1::UndoMemoryChangeResponse>),
    /// How many memories there are.
    MemoryStats(Box<v1::GetMemoryStatsResponse>),
    /// What time did to memories, or would do.
    Swept {
        /// Nothing was changed.
        dry_run: bool,
        /// What.
        swept: v1::SweepMemoriesResponse,
    },
    /// What was done to bring order into memories, or would be.
    Consolidated(Box<v1::ConsolidateMemoriesResponse>),
    /// Tools, by name.
    Tools(Vec<v1::Tool>),
    /// What requests used and cost.
    Usage(Box<v1::GetUsageResponse>),
    /// What the next request of a session would hold.
    Context {
        /// ULID.
        session_id: String,
        /// What.
        context: Box<v1::GetContextResponse>,
    },
    /// What was found, and the question.
    Found {
        /// What was looked for.
        question: String,
        /// What was found.
        found: v1::SearchMessagesResponse,
    },
    /// One tool.
    Tool(Box<v1::Tool>),
    /// What tools have changed.
    Changes(v1::ListChangesResponse),
    /// The end of taking a change back.
    Undone(Box<v1::ToolCallFinished>),
    /// Whether older turns were folded.
    Compacted(Box<v1::CompactContextResponse>),
    /// What a line of the summary was made from.
    Expanded(v1::ExpandSummaryResponse),
    /// What is pinned now.
    Pins(Vec<String>),
    /// Events.
    Events(Vec<v1::Event>),
    /// A session was written to a file.
    Exported(PathBuf),
    /// It was refused, or nobody answered.
    Failed {
        /// What was asked.
        command: Box<Command>,
        /// Why.
        error: RpcError,
    },
}
