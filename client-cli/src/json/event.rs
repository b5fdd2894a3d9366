//! Views of events: one variant per kind.

use agentd_proto::v1;
use agentd_proto::v1::event::Body as Wire;
use serde::Serialize;

use super::approval::{RequestedView, ResolvedView};
use super::context::{CompactedView, DocumentView, PinsView, RecalledView, TrimmedView};
use super::plan::PlanView;
use super::todo::TodoView;
use super::tool::{CallFinishedView, CallStartedView};

/// One event.
#[derive(Debug, Serialize)]
pub(crate) struct EventView<'a> {
    seq: u64,
    at_ms: i64,
    turn_id: &'a str,
    #[serde(flatten)]
    body: Body<'a>,
}

impl<'a> EventView<'a> {
    /// A view of an event; `None` when it has a kind that this version cannot decode at all.
    pub(crate) fn new(event: &'a v1::Event) -> Option<Self> {
        let v1::Event { seq, at_ms, turn_id, body } = event;
        let body = Body::from(body.as_ref()?);
        Some(Self { seq: *seq, at_ms: *at_ms, turn_id, body })
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
enum Body<'a> {
    SessionCreated {
        workspace: &'a str,
        title: &'a str,
        model: &'a str,
        origin: Option<OriginView<'a>>,
        effort: String,
        permission_mode: String,
        work_mode: String,
        further_roots: &'a [String],
    },
    SessionRenamed {
        title: &'a str,
        source: String,
        by: Option<AuthorView<'a>>,
    },
    ModelChanged {
        model: &'a str,
        by: Option<AuthorView<'a>>,
    },
    EffortChanged {
        effort: String,
        by: Option<AuthorView<'a>>,
    },
    PermissionModeChanged {
        mode: String,
        by: Option<AuthorView<'a>>,
    },
    WorkModeChanged {
        mode: String,
        by: Option<AuthorView<'a>>,
    },
    PermissionRuleRevoked {
        rule_id: &'a str,
        by: Option<AuthorView<'a>>,
    },
    ApprovalRequested(RequestedView<'a>),
    ApprovalResolved(ResolvedView<'a>),
    MessageExpired {
        item_id: &'a str,
    },
    MessageAccepted {
        item_id: &'a str,
        client_message_id: &'a str,
        text: &'a str,
        delivery: String,
        author: Option<AuthorView<'a>>,
        priority: String,
        expires_at_ms: i64,
        unattended: bool,
    },
    MessageWithdrawn {
        item_id: &'a str,
        by: Option<AuthorView<'a>>,
    },
    MessagesDelivered {
        item_ids: &'a [String],
    },
    TurnStarted {
        item_ids: &'a [String],
        provider: &'a str,
        model: &'a str,
        effort_requested: String,
        effort_effective: String,
        reminder: &'a str,
    },
    TodoListChanged(Option<TodoView<'a>>),
    PlanChanged(Option<PlanView<'a>>),
    MemoriesExtracted {
        through_seq: u64,
        added: &'a [String],
        waiting: &'a [String],
    },
    MemoriesTold {
        memory_ids: Vec<&'a str>,
        withdrawn: &'a [String],
        known: u64,
        text: &'a str,
    },
    TurnSuspended {
        reason: String,
    },
    TurnResumed {
        by: Option<AuthorView<'a>>,
    },
    TurnCompleted {
        end: String,
        rounds: u32,
        usage: Option<UsageView>,
        elapsed_ms: u64,
    },
    TurnFailed {
        error: Option<ErrorView<'a>>,
        usage: Option<UsageView>,
    },
    TurnInterrupted {
        reason: String,
        by: Option<AuthorView<'a>>,
        usage: Option<UsageView>,
    },
    AssistantMessage {
        item_id: &'a str,
        reasoning: &'a str,
        text: &'a str,
        tool_calls: Vec<ToolCallView<'a>>,
        completeness: String,
    },
    AttemptRestarted {
        discarded_item_id: &'a str,
        attempt: u32,
        error: Option<ErrorView<'a>>,
    },
    ToolCallStarted(CallStartedView<'a>),
    ToolCallFinished(CallFinishedView<'a>),
    QuestionAsked(QuestionView<'a>),
    QuestionAnswered {
        question_id: &'a str,
        choice: &'a str,
        by: Option<AuthorView<'a>>,
    },
    UsageRecorded {
        purpose: String,
        provider: &'a str,
        model: &'a str,
        usage: Option<UsageView>,
        first_byte_ms: u64,
        elapsed_ms: u64,
        cost: Option<CostView>,
    },
    ContextTrimmed(TrimmedView),
    ContextCompacted(CompactedView<'a>),
    TurnsRecalled(RecalledView<'a>),
    PinsChanged(PinsView<'a>),
    ProjectDocumentChanged(DocumentView<'a>),
    Notice {
        level: String,
        text: &'a str,
    },
    Unknown {
        kind: &'a str,
        record_json: &'a str,
    },
    ItemDelta {
        item_id: &'a str,
        channel: String,
        offset: u64,
        text: &'a str,
    },
    Presence {
        participants: Vec<ParticipantView<'a>>,
    },
}

impl<'a> From<&'a Wire> for Body<'a> {
    fn from(body: &'a Wire) -> Self {
        match body {
            Wire::SessionCreated(v1::SessionCreated {
                workspace,
                title,
                model,
                origin,
                effort,
                permission_mode,
                work_mode,
                further_roots,
            }) => Self::SessionCreated {
                workspace,
                title,
                model,
                origin: view(origin.as_ref()),
                effort: super::effort(*effort),
                permission_mode: super::permission_mode(*permission_mode),
                work_mode: super::work_mode(*work_mode),
                further_roots,
            },
            Wire::SessionRenamed(v1::SessionRenamed { title, source, by }) => {
                Self::SessionRenamed {
                    title,
                    source: super::title_source(*source),
                    by: view(by.as_ref()),
                }
            }
            Wire::ModelChanged(v1::ModelChanged { model, by }) => {
                Self::ModelChanged { model, by: view(by.as_ref()) }
            }
            Wire::EffortChanged(v1::EffortChanged { effort, by }) => {
                Self::EffortChanged { effort: super::effort(*effort), by: view(by.as_ref()) }
            }
            Wire::PermissionModeChanged(v1::PermissionModeChanged { mode, by }) => {
                Self::PermissionModeChanged {
                    mode: super::permission_mode(*mode),
                    by: view(by.as_ref()),
                }
            }
            Wire::WorkModeChanged(v1::WorkModeChanged { mode, by }) => {
                Self::WorkModeChanged { mode: super::work_mode(*mode), by: view(by.as_ref()) }
            }
            Wire::PermissionRuleRevoked(v1::PermissionRuleRevoked { rule_id, by }) => {
                Self::PermissionRuleRevoked { rule_id, by: view(by.as_ref()) }
            }
            Wire::ApprovalRequested(requested) => {
                Self::ApprovalRequested(RequestedView::from(requested))
            }
            Wire::ApprovalResolved(resolved) => {
                Self::ApprovalResolved(ResolvedView::from(resolved))
            }
            Wire::MessageExpired(v1::MessageExpired { item_id }) => {
                Self::MessageExpired { item_id }
            }
            Wire::MessageAccepted(v1::MessageAccepted {
                item_id,
                client_message_id,
                text,
                delivery,
                author,
                priority,
                expires_at_ms,
                unattended,
            }) => Self::MessageAccepted {
                unattended: *unattended,
                item_id,
                client_message_id,
                text,
                delivery: super::delivery(*delivery),
                author: view(author.as_ref()),
                priority: super::priority(*priority),
                expires_at_ms: *expires_at_ms,
            },
            Wire::MessageWithdrawn(v1::MessageWithdrawn { item_id, by }) => {
                Self::MessageWithdrawn { item_id, by: view(by.as_ref()) }
            }
            Wire::MessagesDelivered(v1::MessagesDelivered { item_ids }) => {
                Self::MessagesDelivered { item_ids }
            }
            Wire::TurnStarted(v1::TurnStarted {
                item_ids,
                provider,
                model,
                effort_requested,
                effort_effective,
                reminder,
            }) => Self::TurnStarted {
                reminder,
                item_ids,
                provider,
                model,
                effort_requested: super::effort(*effort_requested),
                effort_effective: super::effort(*effort_effective),
            },
            Wire::TodoListChanged(v1::TodoListChanged { list }) => {
                Self::TodoListChanged(view(list.as_ref()))
            }
            Wire::PlanChanged(v1::PlanChanged { plan }) => Self::PlanChanged(view(plan.as_ref())),
            Wire::MemoriesExtracted(v1::MemoriesExtracted { through_seq, added, waiting }) => {
                Self::MemoriesExtracted { through_seq: *through_seq, added, waiting }
            }
            Wire::MemoriesTold(v1::MemoriesTold { told, withdrawn, known, text }) => {
                Self::MemoriesTold {
                    memory_ids: told.iter().map(|told| told.memory_id.as_str()).collect(),
                    withdrawn,
                    known: *known,
                    text,
                }
            }
            Wire::TurnSuspended(v1::TurnSuspended { reason }) => {
                Self::TurnSuspended { reason: super::suspend_reason(*reason) }
            }
            Wire::TurnResumed(v1::TurnResumed { by }) => {
                Self::TurnResumed { by: view(by.as_ref()) }
            }
            Wire::TurnCompleted(v1::TurnCompleted { end, rounds, usage, elapsed_ms }) => {
                Self::TurnCompleted {
                    end: super::turn_end(*end),
                    rounds: *rounds,
                    usage: usage.as_ref().map(UsageView::from),
                    elapsed_ms: *elapsed_ms,
                }
            }
            Wire::TurnFailed(v1::TurnFailed { error, usage }) => Self::TurnFailed {
                error: view(error.as_ref()),
                usage: usage.as_ref().map(UsageView::from),
            },
            Wire::TurnInterrupted(v1::TurnInterrupted { reason, by, usage }) => {
                Self::TurnInterrupted {
                    reason: super::interrupt_reason(*reason),
                    by: view(by.as_ref()),
                    usage: usage.as_ref().map(UsageView::from),
                }
            }
            Wire::AssistantMessage(v1::AssistantMessage {
                item_id,
                reasoning,
                text,
                tool_calls,
                completeness,
            }) => Self::AssistantMessage {
                item_id,
                reasoning,
                text,
                tool_calls: tool_calls.iter().map(ToolCallView::from).collect(),
                completeness: super::completeness(*completeness),
            },
            Wire::AttemptRestarted(v1::AttemptRestarted { discarded_item_id, attempt, error }) => {
                Self::AttemptRestarted {
                    discarded_item_id,
                    attempt: *attempt,
                    error: view(error.as_ref()),
                }
            }
            Wire::ToolCallStarted(started) => Self::ToolCallStarted(CallStartedView::from(started)),
            Wire::ToolCallFinished(finished) => {
                Self::ToolCallFinished(CallFinishedView::from(finished))
            }
            Wire::QuestionAsked(asked) => Self::QuestionAsked(QuestionView::from(asked)),
            Wire::QuestionAnswered(v1::QuestionAnswered { question_id, choice, by }) => {
                Self::QuestionAnswered { question_id, choice, by: view(by.as_ref()) }
            }
            Wire::UsageRecorded(v1::UsageRecorded {
                purpose,
                provider,
                model,
                usage,
                first_byte_ms,
                elapsed_ms,
                cost,
            }) => Self::UsageRecorded {
                purpose: super::usage_purpose(*purpose),
                provider,
                model,
                usage: usage.as_ref().map(UsageView::from),
                first_byte_ms: *first_byte_ms,
                elapsed_ms: *elapsed_ms,
                cost: cost.as_ref().map(CostView::from),
            },
            Wire::ContextTrimmed(trimmed) => Self::ContextTrimmed(TrimmedView::from(trimmed)),
            Wire::ContextCompacted(compacted) => {
                Self::ContextCompacted(CompactedView::from(compacted))
            }
            Wire::TurnsRecalled(recalled) => Self::TurnsRecalled(RecalledView::from(recalled)),
            Wire::PinsChanged(changed) => Self::PinsChanged(PinsView::from(changed)),
            Wire::ProjectDocumentChanged(changed) => {
                Self::ProjectDocumentChanged(DocumentView::from(changed))
            }
            Wire::Notice(v1::Notice { level, text }) => {
                Self::Notice { level: super::notice_level(*level), text }
            }
            Wire::Unknown(v1::UnknownEvent { kind, record_json }) => {
                Self::Unknown { kind, record_json }
            }
            Wire::ItemDelta(v1::ItemDelta { item_id, channel, offset, text }) => Self::ItemDelta {
                item_id,
                channel: super::delta_channel(*channel),
                offset: *offset,
                text,
            },
            Wire::Presence(v1::Presence { participants }) => Self::Presence {
                participants: participants.iter().map(ParticipantView::from).collect(),
            },
        }
    }
}

pub(super) fn view<'a, Message, View: From<&'a Message>>(
    message: Option<&'a Message>,
) -> Option<View> {
    message.map(View::from)
}

/// Who did something.
#[derive(Debug, Serialize)]
pub(crate) struct AuthorView<'a> {
    client_id: &'a str,
    name: &'a str,
}

impl<'a> From<&'a v1::Author> for AuthorView<'a> {
    fn from(author: &'a v1::Author) -> Self {
        let v1::Author { client_id, name } = author;
        Self { client_id, name }
    }
}

/// What requests cost, in billionths of a US dollar.
#[derive(Debug, Serialize)]
pub(crate) struct CostView {
    nano_usd: u64,
    estimated_nano_usd: u64,
    unpriced_requests: u64,
}

impl From<&v1::Cost> for CostView {
    fn from(cost: &v1::Cost) -> Self {
        let v1::Cost { nano_usd, estimated_nano_usd, unpriced_requests } = *cost;
        Self { nano_usd, estimated_nano_usd, unpriced_requests }
    }
}

/// Who is attached.
#[derive(Debug, Serialize)]
pub(crate) struct ParticipantView<'a> {
    author: Option<AuthorView<'a>>,
    attached_at_ms: i64,
}

impl<'a> From<&'a v1::Participant> for ParticipantView<'a> {
    fn from(participant: &'a v1::Participant) -> Self {
        let v1::Participant { author, attached_at_ms } = participant;
        Self { author: view(author.as_ref()), attached_at_ms: *attached_at_ms }
    }
}

/// What a session was copied from.
#[derive(Debug, Serialize)]
pub(crate) struct OriginView<'a> {
    session_id: &'a str,
    seq: u64,
}

impl<'a> From<&'a v1::ForkOrigin> for OriginView<'a> {
    fn from(origin: &'a v1::ForkOrigin) -> Self {
        let v1::ForkOrigin { session_id, seq } = origin;
        Self { session_id, seq: *seq }
    }
}

/// Token counts.
#[derive(Debug, Serialize)]
pub(crate) struct UsageView {
    prompt_tokens: u64,
    completion_tokens: u64,
    reasoning_tokens: u64,
    cached_prompt_tokens: u64,
    cache_write_tokens: u64,
    estimated: bool,
}

impl From<&v1::Usage> for UsageView {
    fn from(usage: &v1::Usage) -> Self {
        let v1::Usage {
            prompt_tokens,
            completion_tokens,
            reasoning_tokens,
            cached_prompt_tokens,
            cache_write_tokens,
            estimated,
        } = *usage;
        Self {
            prompt_tokens,
            completion_tokens,
            reasoning_tokens,
            cached_prompt_tokens,
            cache_write_tokens,
            estimated,
        }
    }
}

#[derive(Debug, Serialize)]
struct ErrorView<'a> {
    code: &'a str,
    message: &'a str,
    hint: &'a str,
    retryable: bool,
}

impl<'a> From<&'a v1::ErrorReport> for ErrorView<'a> {
    fn from(error: &'a v1::ErrorReport) -> Self {
        let v1::ErrorReport { code, message, hint, retryable } = error;
        Self { code, message, hint, retryable: *retryable }
    }
}

#[derive(Debug, Serialize)]
struct ToolCallView<'a> {
    call_id: &'a str,
    name: &'a str,
    arguments_json: &'a str,
}

impl<'a> From<&'a v1::ToolCall> for ToolCallView<'a> {
    fn from(call: &'a v1::ToolCall) -> Self {
        let v1::ToolCall { call_id, name, arguments_json } = call;
        Self { call_id, name, arguments_json }
    }
}

/// An open question.
#[derive(Debug, Serialize)]
pub(crate) struct QuestionView<'a> {
    question_id: &'a str,
    #[serde(rename = "kind")]
    about: String,
    prompt: &'a str,
    choices: &'a [String],
    free_text: bool,
    default_choice: &'a str,
    expires_at_ms: i64,
}

impl<'a> From<&'a v1::QuestionAsked> for QuestionView<'a> {
    fn from(asked: &'a v1::QuestionAsked) -> Self {
        let v1::QuestionAsked {
            question_id,
            kind,
            prompt,
            choices,
            free_text,
            default_choice,
            expires_at_ms,
        } = asked;
        Self {
            question_id,
            about: super::question_kind(*kind),
            prompt,
            choices,
            free_text: *free_text,
            default_choice,
            expires_at_ms: *expires_at_ms,
        }
    }
}
