//! What a transcript consists of.

use agentd_proto::v1;

use super::Note;

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A message of a user.
    User(UserMessage),
    /// A message of the model, with the tools that it asked for.
    Assistant(AssistantItem),
    /// A turn, where it began or came to where it stands now.
    Turn(TurnMarker),
    /// A question to the users.
    Question(Question),
    /// Anything else that users should see.
    Note(Note),
}

/// A message of a user. It moves to the end of the transcript when it is delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct UserMessage {
    /// ULID.
    pub item_id: String,
    /// The id that its client made for it.
    pub client_message_id: String,
    /// `seq` of its acceptance.
    pub seq: u64,
    /// Unix time in milliseconds of its acceptance.
    pub at_ms: i64,
    /// Who sent it.
    pub author: v1::Author,
    /// The text.
    pub text: String,
    /// What was to happen if a turn ran.
    pub delivery: v1::Delivery,
    /// How important it is.
    pub priority: v1::Priority,
    /// Unix time in milliseconds at which it is too late to begin; 0: never.
    pub expires_at_ms: i64,
    /// Where it stands.
    pub state: MessageState,
}

/// Where a user message stands.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageState {
    /// It waits for a turn.
    Queued,
    /// The model has it.
    Delivered,
    /// It expired before a turn had it.
    Expired,
    /// It was taken back.
    Withdrawn {
        /// By whom.
        by: Option<v1::Author>,
    },
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantItem {
    /// ULID; empty for tool calls whose message lies before the first event that was read.
    pub item_id: String,
    /// ULID of the turn.
    pub turn_id: String,
    /// `seq` of the final message; 0 while it is live.
    pub seq: u64,
    /// Unix time in milliseconds of the final message, or of its first piece.
    pub at_ms: i64,
    /// The reasoning so far.
    pub reasoning: String,
    /// The text so far.
    pub text: String,
    /// Tools that it asks for, in order.
    pub tool_calls: Vec<ToolCallItem>,
    /// How whole it is; `None` while it is live.
    pub completeness: Option<v1::MessageCompleteness>,
}

impl AssistantItem {
    /// Tells whether more may come.
    pub fn is_live(&self) -> bool {
        self.completeness.is_none()
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCallItem {
    /// Unique in the session.
    pub call_id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON text.
    pub arguments_json: String,
    /// What the tool may do; known once it runs.
    pub effect: Option<v1::ToolEffect>,
    /// Where it stands.
    pub state: ToolCallState,
    /// Live output while it runs, the result afterwards.
    pub output: String,
    /// Bytes of output before it was cut; 0 until it has ended.
    pub output_bytes: u64,
    /// Machine-readable error; empty when there is none.
    pub error_code: String,
    /// Unix time in milliseconds of its start; 0 until it runs.
    pub started_at_ms: i64,
    /// Milliseconds that it ran; 0 until it has ended.
    pub elapsed_ms: u64,
    /// Unified diff of what it changed; empty when it changed nothing.
    pub diff: String,
    /// Exit code of the program that it ran, if one did.
    pub exit_code: Option<i32>,
    /// Where its result comes from.
    pub source: v1::ResultSource,
}

/// Where a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolCallState {
    /// The model has asked for it.
    #[default]
    Requested,
    /// It runs.
    Running,
    /// It has ended.
    Finished(v1::ToolStatus),
}

/// A turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnMarker {
    /// ULID.
    pub turn_id: String,
    /// `seq` of its start.
    pub seq: u64,
    /// Unix time in milliseconds of its start.
    pub started_at_ms: i64,
    /// Messages that it answers.
    pub item_ids: Vec<String>,
    /// Provider that answers.
    pub provider: String,
    /// Model that answers.
    pub model: String,
    /// Effort that was asked for; unspecified where none was.
    pub effort_requested: v1::Effort,
    /// Effort that the model was given.
    pub effort_effective: v1::Effort,
    /// What its requests cost, as far as they were read.
    pub cost: v1::Cost,
    /// Where it stands.
    pub state: TurnState,
}

/// Where a turn stands.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnState {
    /// It runs.
    Running,
    /// It stands still.
    Suspended(v1::SuspendReason),
    /// It ended by itself.
    Completed {
        /// Why.
        end: v1::TurnEnd,
        /// Model rounds.
        rounds: u32,
        /// Its tokens.
        usage: v1::Usage,
        /// Milliseconds without suspended time.
        elapsed_ms: u64,
    },
    /// It ended with an error.
    Failed {
        /// What went wrong.
        error: v1::ErrorReport,
        /// Its tokens.
        usage: v1::Usage,
    },
    /// It was cut off.
    Interrupted {
        /// Why.
        reason: v1::InterruptReason,
        /// By whom.
        by: Option<v1::Author>,
        /// Its tokens.
        usage: v1::Usage,
    },
}

impl TurnState {
    /// Tells whether the turn is over.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Running | Self::Suspended(_) => false,
            Self::Completed { .. } | Self::Failed { .. } | Self::Interrupted { .. } => true,
        }
    }
}

/// A question to the users.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// ULID.
    pub question_id: String,
    /// ULID of the turn that waits.
    pub turn_id: String,
    /// `seq` of the question.
    pub seq: u64,
    /// What it is about.
    pub kind: v1::QuestionKind,
    /// What to show.
    pub prompt: String,
    /// Answers to choose from; the first is the default, unless a call asks.
    pub choices: Vec<String>,
    /// Any text is an answer.
    pub free_text: bool,
    /// The answer that counts.
    pub answer: Option<Answer>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// One of the choices, or a text; empty when the question became void.
    pub choice: String,
    /// Who answered.
    pub by: Option<v1::Author>,
}
