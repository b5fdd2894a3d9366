//! The words that every other crate speaks: ids, events, tool results, token counts, error kinds.
//!
//! Its one job is to say what these things are and which values are legal. It must not know where
//! they are stored, sent or shown: no I/O, no async, no clock, no randomness. It owns no state.

mod action;
mod approval;
mod author;
mod cut;
mod day;
mod effort;
mod error;
mod event;
mod goal;
mod history;
mod id;
mod memory;
mod named;
mod native;
mod permission;
mod plan;
mod port;
mod priority;
mod question;
mod session;
mod time;
mod todo;
mod tool;
mod turn;
mod usage;

pub use action::{Action, ActionTarget, Confinement};
pub use approval::{
    ApprovalDecision, ApprovalRequested, ApprovalResolved, ApprovalScope, PermissionModeChanged,
    PermissionRuleRevoked, WorkModeChanged,
};
pub use author::{Author, AuthorError};
pub use cut::{cut_head_tail, cut_line, floor_char_boundary};
pub use day::Day;
pub use effort::{Effort, EffortChoice, EffortError};
pub use error::{ErrorKind, ErrorReport};
pub use event::{
    AssistantMessage, AttemptRestarted, CompactionReason, Completeness, ContextCompacted,
    ContextTrimmed, DecodeEventError, Delivery, EffortChanged, Event, EventBody, MemoriesExtracted,
    MemoriesTold, MessageAccepted, MessageExpired, MessageWithdrawn, MessagesDelivered,
    ModelChanged, Notice, NoticeLevel, PinsChanged, PlanChanged, ProjectDocumentChanged,
    QuestionAnswered, QuestionAsked, SeqRange, SessionCreated, SessionRenamed, SummaryLine,
    SummaryMethod, SummarySection, TitleSource, TodoListChanged, ToldMemory, ToolCallFinished,
    ToolCallStarted, TrimKind, TrimStep, TurnCompleted, TurnFailed, TurnInterrupted, TurnResumed,
    TurnStarted, TurnSuspended, TurnsRecalled, UnknownEvent, UsageRecorded,
};
pub use goal::{Goal, GoalAuthor, GoalContent, GoalDone, GoalError, GoalPriority, GoalScope};
pub use history::{HistoryAnswer, HistoryExtent, HistoryHit, HistoryQuery, Speaker};
pub use id::{
    ApprovalId, CallId, ClientMessageId, IdError, ItemId, MemoryChangeId, MemoryId, QuestionId,
    Seq, SessionId, TurnId,
};
pub use memory::{
    Consolidation, Memory, MemoryAuthor, MemoryCategory, MemoryChange, MemoryChangeKind,
    MemoryCommand, MemoryEdit, MemoryMark, MemoryOrigin, MemoryPriority, MemoryReach, MemoryScope,
    MemoryStatus, MemoryUpkeep, MemoryUse,
};
pub use native::NativeBlocks;
pub use permission::{
    PathAccess, PermissionMode, PermissionRule, RuleEffect, RuleMatcher, RuleScope, WorkMode,
    host_matches,
};
pub use plan::{
    NewStep, Plan, PlanCommand, PlanError, PlanStep, Proof, StepStatus, StepsError, TestCounts,
    Trial, Verification,
};
pub use port::{Clock, IdSource};
pub use priority::Priority;
pub use question::{CHOICE_CONTINUE, CHOICE_STOP, QuestionKind};
pub use session::{
    ForkOrigin, OpenAsks, SessionRecord, SessionStatus, Title, TitleError, UnfinishedWork,
};
pub use time::TimestampMs;
pub use todo::{TodoItem, TodoList, TodoStatus};
pub use tool::{
    CallMetrics, Capabilities, Evidence, OutputPart, OutputRequest, ResultSource, SessionRequest,
    ToolCall, ToolEffect, ToolImage, ToolResult, ToolSpec, ToolStatus,
};
pub use turn::{InterruptReason, SuspendReason, TurnEnd};
pub use usage::{Cost, Usage, UsagePurpose, UsageSum};
