//! The durable events of a session, and how a stored one is written.
//!
//! A session is a log of these. They grow by addition only: new kinds, and new fields with
//! defaults. A record of a kind that this build does not know is kept as [`UnknownEvent`].

mod context;
mod record;

use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

pub use self::context::{
    CompactionReason, ContextCompacted, ContextTrimmed, PinsChanged, ProjectDocumentChanged,
    SeqRange, SummaryLine, SummaryMethod, SummarySection, TrimKind, TrimStep, TurnsRecalled,
};
use self::record::{BodyOfKind, Record};

use crate::{
    Action, ApprovalRequested, ApprovalResolved, Author, CallId, CallMetrics, ClientMessageId,
    Cost, Effort, EffortChoice, ErrorReport, Evidence, ForkOrigin, InterruptReason, ItemId,
    MemoryId, NativeBlocks, PermissionMode, PermissionModeChanged, PermissionRuleRevoked, Plan,
    Priority, QuestionId, QuestionKind, Seq, SuspendReason, TimestampMs, TodoList, ToolCall,
    ToolEffect, ToolImage, ToolResult, ToolStatus, TurnEnd, TurnId, Usage, UsagePurpose, WorkMode,
    WorkModeChanged,
};

/// One durable event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Position in the log.
    pub seq: Seq,
    /// When it happened.
    pub at: TimestampMs,
    /// The turn that it belongs to.
    pub turn_id: Option<TurnId>,
    /// What happened.
    pub body: EventBody,
}

/// Version of the record format that this build writes.
const RECORD_VERSION: u32 = 1;

/// Why a stored event cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeEventError {
    /// The envelope is not what any version writes.
    #[error("the event record is not readable")]
    Envelope(#[source] serde_json::Error),
    /// The body is damaged although the version is known.
    #[error("the body of the {kind} event at {seq} is not readable")]
    Body {
        /// The stored kind.
        kind: String,
        /// The stored position.
        seq: Seq,
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
}

#[derive(Serialize)]
struct EnvelopeOut<'a, B> {
    v: u32,
    seq: Seq,
    at: TimestampMs,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    kind: &'a str,
    body: B,
}

#[derive(Deserialize)]
struct EnvelopeIn<'a> {
    v: u32,
    seq: Seq,
    at: TimestampMs,
    #[serde(default)]
    turn: Option<TurnId>,
    #[serde(borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    body: &'a RawValue,
}

macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident => $kind:literal,)+) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq)]
        #[expect(missing_docs, reason = "each variant holds the documented type of the same name")]
        pub enum EventBody {
            $($name($name),)+
            Unknown(UnknownEvent),
        }

        impl EventBody {
            /// The stored name of the kind.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$name(_) => $kind,)+
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }
        }

        $(impl From<$name> for EventBody {
            fn from(body: $name) -> Self {
                Self::$name(body)
            }
        })+

        impl<'de> DeserializeSeed<'de> for BodyOfKind<'_> {
            type Value = EventBody;

            fn deserialize<D: Deserializer<'de>>(self, body: D) -> Result<EventBody, D::Error> {
                match self.0 {
                    $($kind => $name::deserialize(body).map(EventBody::$name),)+
                    _ => Err(serde::de::Error::custom("another kind")),
                }
            }
        }

        impl Event {
            /// Writes the record: one JSON object without line breaks.
            pub fn encode(&self) -> Vec<u8> {
                let Self { seq, at, turn_id, body } = self;
                match body {
                    $(EventBody::$name(body) => encode(&EnvelopeOut {
                        v: RECORD_VERSION, seq: *seq, at: *at, turn: *turn_id, kind: $kind, body,
                    }),)+
                    EventBody::Unknown(unknown) => unknown.record_json.clone().into_bytes(),
                }
            }

            /// Reads a record.
            ///
            /// # Errors
            /// When the envelope is damaged, or a body that this build should know is. Kinds and
            /// bodies of newer versions become [`EventBody::Unknown`].
            pub fn decode(record: &[u8]) -> Result<Self, DecodeEventError> {
                // One pass for what this build writes; what is unusual gets a closer look.
                if let Ok(Record(event)) = serde_json::from_slice(record) {
                    return Ok(event);
                }
                let envelope: EnvelopeIn<'_> =
                    serde_json::from_slice(record).map_err(DecodeEventError::Envelope)?;
                let EnvelopeIn { v, seq, at, turn, kind, body } = envelope;
                let unknown = || EventBody::Unknown(UnknownEvent {
                    kind: kind.clone().into_owned(),
                    record_json: String::from_utf8_lossy(record).into_owned(),
                });
                let body = match &*kind {
                    $($kind => match serde_json::from_str(body.get()) {
                        Ok(body) => EventBody::$name(body),
                        Err(_newer) if v > RECORD_VERSION => unknown(),
                        Err(source) => {
                            return Err(DecodeEventError::Body { kind: kind.into_owned(), seq, source });
                        }
                    },)+
                    _ => unknown(),
                };
                Ok(Self { seq, at, turn_id: turn, body })
            }
        }
    };
}

fn encode<T: Serialize>(envelope: &EnvelopeOut<'_, T>) -> Vec<u8> {
    #[expect(clippy::expect_used, reason = "no map keys, no fallible Serialize in the event types")]
    serde_json::to_vec(envelope).expect("events serialize")
}

bodies! {
    SessionCreated => "session_created",
    SessionRenamed => "session_renamed",
    ModelChanged => "model_changed",
    MessageAccepted => "message_accepted",
    MessageWithdrawn => "message_withdrawn",
    MessagesDelivered => "messages_delivered",
    TurnStarted => "turn_started",
    TurnSuspended => "turn_suspended",
    TurnResumed => "turn_resumed",
    TurnCompleted => "turn_completed",
    TurnFailed => "turn_failed",
    TurnInterrupted => "turn_interrupted",
    AssistantMessage => "assistant_message",
    AttemptRestarted => "attempt_restarted",
    ToolCallStarted => "tool_call_started",
    ToolCallFinished => "tool_call_finished",
    QuestionAsked => "question_asked",
    QuestionAnswered => "question_answered",
    UsageRecorded => "usage_recorded",
    ContextTrimmed => "context_trimmed",
    ContextCompacted => "context_compacted",
    TurnsRecalled => "turns_recalled",
    PinsChanged => "pins_changed",
    ProjectDocumentChanged => "project_document_changed",
    Notice => "notice",
    EffortChanged => "effort_changed",
    MessageExpired => "message_expired",
    TodoListChanged => "todo_list_changed",
    PlanChanged => "plan_changed",
    MemoriesTold => "memories_told",
    MemoriesExtracted => "memories_extracted",
    ApprovalRequested => "approval_requested",
    ApprovalResolved => "approval_resolved",
    PermissionModeChanged => "permission_mode_changed",
    WorkModeChanged => "work_mode_changed",
    PermissionRuleRevoked => "permission_rule_revoked",
}

/// An event of a kind that this build does not know, kept as it was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownEvent {
    /// The stored kind.
    pub kind: String,
    /// The whole stored record.
    pub record_json: String,
}

/// Where a title comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleSource {
    /// Cut from the first message.
    FirstMessage,
    /// Written by a model.
    Model,
    /// Written by a user; never replaced automatically.
    Manual,
}

/// What happens to a message that arrives while a turn runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It runs after the turn, in order of acceptance.
    #[default]
    Queue,
    /// It is shown to the model at the next tool boundary of the running turn.
    Steer,
    /// The running turn is cancelled, then it runs before other queued messages.
    Interrupt,
}

/// How whole an assistant message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// The provider finished it.
    Complete,
    /// The provider's output limit cut it.
    Cut,
    /// It was interrupted, or the stream or the daemon broke off.
    Incomplete,
}

/// How grave a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Somebody should look.
    Warn,
}

/// A session exists. Always the first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCreated {
    /// Absolute path of the directory that tools work in.
    pub workspace: String,
    /// Manual title, or empty.
    #[serde(default)]
    pub title: String,
    /// Model asked for; empty means the daemon's default.
    #[serde(default)]
    pub model: String,
    /// Set when it is a copy.
    #[serde(default)]
    pub origin: Option<ForkOrigin>,
    /// Effort asked for; none means the model's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// How much the agent may do without asking.
    #[serde(default, skip_serializing_if = "PermissionMode::is_default")]
    pub permission_mode: PermissionMode,
    /// What it works on.
    #[serde(default, skip_serializing_if = "WorkMode::is_default")]
    pub work_mode: WorkMode,
    /// Absolute paths of further directories that tools work in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_roots: Vec<String>,
}

/// The title changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRenamed {
    /// The new title.
    pub title: String,
    /// Where it comes from.
    pub source: TitleSource,
    /// Who renamed it; none for automatic titles.
    #[serde(default)]
    pub by: Option<Author>,
}

/// Another model answers from the next turn on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelChanged {
    /// Empty means the daemon's default.
    pub model: String,
    /// Who changed it.
    #[serde(default)]
    pub by: Option<Author>,
}

/// Another reasoning effort from the next turn on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffortChanged {
    /// None means the model's default.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// Who changed it.
    #[serde(default)]
    pub by: Option<Author>,
}

/// A user message is durable and will be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAccepted {
    /// The message.
    pub item_id: ItemId,
    /// The id that the client made for it.
    pub client_message_id: ClientMessageId,
    /// Its text.
    pub text: String,
    /// What happens when a turn is running.
    #[serde(default)]
    pub delivery: Delivery,
    /// Who sent it.
    pub author: Author,
    /// How important it is.
    #[serde(default, skip_serializing_if = "Priority::is_normal")]
    pub priority: Priority,
    /// From when on it is too late to begin; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimestampMs>,
    /// A script sent it: nobody is known to look at what comes of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
}

/// A queued message was not begun before it expired; it will not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageExpired {
    /// The message.
    pub item_id: ItemId,
}

/// A queued message was taken back before a turn used it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageWithdrawn {
    /// The message.
    pub item_id: ItemId,
    /// Who took it back.
    pub by: Author,
}

/// Steering messages were handed to the model inside the running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagesDelivered {
    /// The messages, in order.
    pub item_ids: Vec<ItemId>,
}

/// A turn began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The messages that it answers.
    pub item_ids: Vec<ItemId>,
    /// Provider that answers, such as "openai-compatible" or "offline".
    pub provider: String,
    /// Model that answers.
    pub model: String,
    /// Effort asked for and given; none when none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortChoice>,
    /// What the model is reminded of beside the messages, such as unfinished work; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reminder: String,
}

/// A turn stands still; a question or a policy decides how it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSuspended {
    /// Why.
    pub reason: SuspendReason,
}

/// A suspended turn goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnResumed {
    /// Who decided so; none when the policy did.
    #[serde(default)]
    pub by: Option<Author>,
}

/// A turn ended by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCompleted {
    /// Why.
    pub end: TurnEnd,
    /// Model rounds in the turn.
    pub rounds: u32,
    /// Tokens over all requests of the turn.
    #[serde(default)]
    pub usage: Usage,
    /// Milliseconds between start and end, without suspended time.
    #[serde(default)]
    pub elapsed_ms: u64,
}

/// A turn ended with an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailed {
    /// What went wrong and what to do.
    pub error: ErrorReport,
    /// Tokens over all requests of the turn.
    #[serde(default)]
    pub usage: Usage,
}

/// A turn was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnInterrupted {
    /// Why.
    pub reason: InterruptReason,
    /// Who; none when nobody in particular.
    #[serde(default)]
    pub by: Option<Author>,
    /// Tokens over all requests of the turn.
    #[serde(default)]
    pub usage: Usage,
}

/// One message of the model: an answer, or a request for tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The message; deltas sent before carry the same id.
    pub item_id: ItemId,
    /// The model's reasoning, as far as the provider shows it.
    #[serde(default)]
    pub reasoning: String,
    /// The text.
    #[serde(default)]
    pub text: String,
    /// Tools that it asks for, in order.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// How whole it is.
    pub completeness: Completeness,
    /// The answer in the provider's own form, where the provider wants it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeBlocks>,
}

/// An attempt at a model request broke off after text was shown; the text is void.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRestarted {
    /// The item to discard.
    pub discarded_item_id: ItemId,
    /// Number of the attempt that starts now, from 2.
    pub attempt: u32,
    /// Why the earlier one broke off.
    pub error: ErrorReport,
}

/// A tool is about to run. Durable before it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallStarted {
    /// The call.
    pub call_id: CallId,
    /// Name of the tool.
    pub name: String,
    /// Arguments after conversion to the tool's schema, as JSON text.
    pub arguments_json: String,
    /// What the tool may do.
    pub effect: ToolEffect,
    /// What the call will do, as it was looked at before.
    #[serde(default, skip_serializing_if = "Action::is_nothing")]
    pub action: Action,
}

/// The result of a tool call. Every call gets exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallFinished {
    /// The call.
    pub call_id: CallId,
    /// Name of the tool.
    pub name: String,
    /// Outcome.
    pub status: ToolStatus,
    /// What the model is shown: head and tail when it was longer than the limit.
    #[serde(default)]
    pub output: String,
    /// Machine-readable error; empty on success.
    #[serde(default)]
    pub error_code: String,
    /// Bytes of output before it was cut.
    #[serde(default)]
    pub output_bytes: u64,
    /// Milliseconds that it ran.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// A unified diff of what changed, for people; empty when nothing did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// Exit code of the program that ran, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the output rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// True when the workspace may have changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workspace_changed: bool,
    /// A picture that the model sees beside the output, if it sees pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Box<ToolImage>>,
    /// How it was run.
    #[serde(default, skip_serializing_if = "CallMetrics::is_plain")]
    pub metrics: CallMetrics,
}

impl ToolCallFinished {
    /// The result of a call that was not run.
    pub fn not_run(call: &ToolCall, result: ToolResult) -> Self {
        let output_bytes = u64::try_from(result.output.len()).unwrap_or(u64::MAX);
        Self::of(call.call_id.clone(), call.name.clone(), result, output_bytes, 0)
    }

    /// The result of a call whose output had `output_bytes` before it was cut.
    pub fn of(
        call_id: CallId,
        name: String,
        result: ToolResult,
        output_bytes: u64,
        elapsed_ms: u64,
    ) -> Self {
        let ToolResult {
            status,
            output,
            error_code,
            evidence,
            diff,
            exit_code,
            workspace_changed,
            request: _,
            image,
        } = result;
        Self {
            call_id,
            name,
            status,
            output,
            error_code,
            output_bytes,
            elapsed_ms,
            diff: diff.into(),
            exit_code,
            evidence,
            workspace_changed,
            image,
            metrics: CallMetrics::default(),
        }
    }
}

/// What the session has set out to do is this from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoListChanged {
    /// The whole list.
    pub list: TodoList,
}

/// The session's plan is this from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChanged {
    /// The whole plan; without steps when it was given up.
    pub plan: Plan,
}

/// The model was told of memories. They stay in the conversation as long as the turn does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoriesTold {
    /// Which, in the order in which they were told.
    pub told: Vec<ToldMemory>,
    /// Those told earlier of which the model was told that they hold no longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<MemoryId>,
    /// How many could have been told.
    pub known: u64,
    /// What the model read.
    pub text: String,
}

/// The conversation was looked through for what is to be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoriesExtracted {
    /// The last event that was looked at.
    pub through: Seq,
    /// Turns after it that were not.
    #[serde(default)]
    pub turns_left: u32,
    /// What is remembered now, or is part of another memory.
    pub added: Vec<MemoryId>,
    /// What waits until a user confirms it.
    pub waiting: Vec<MemoryId>,
}

/// A memory as it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldMemory {
    /// Which.
    pub id: MemoryId,
    /// In which revision.
    pub revision: u32,
}

/// The turn waits for an answer from any attached terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAsked {
    /// The question.
    pub question_id: QuestionId,
    /// What it is about.
    pub kind: QuestionKind,
    /// What to show.
    pub prompt: String,
    /// Answers to choose from; the first is the default, unless [`Self::kind`] is `AskUser`.
    pub choices: Vec<String>,
    /// Any text is an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free_text: bool,
    /// The answer that a call takes when nobody gives one; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub default_choice: String,
    /// When an answer is too late; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimestampMs>,
}

/// The first durable answer wins; all terminals see whose it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswered {
    /// The question.
    pub question_id: QuestionId,
    /// One of its choices, or a text where any is an answer; empty when a new message, an interrupt
    /// or the time made it void.
    pub choice: String,
    /// Who answered.
    #[serde(default)]
    pub by: Option<Author>,
}

/// One request to a provider ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRecorded {
    /// What it was for.
    pub purpose: UsagePurpose,
    /// Provider that answered.
    pub provider: String,
    /// Model that answered.
    pub model: String,
    /// Its tokens.
    pub usage: Usage,
    /// Milliseconds from the request to the first byte of the answer.
    #[serde(default)]
    pub first_byte_ms: u64,
    /// Milliseconds from the request to the end of the answer.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Cost::is_nothing")]
    pub cost: Cost,
}

/// Something that users should know and that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// How grave.
    pub level: NoticeLevel,
    /// One or two sentences.
    pub text: String,
}

#[cfg(test)]
mod tests;
