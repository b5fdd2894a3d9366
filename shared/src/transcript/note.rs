//! What users should see that is no message, no call and no turn.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;

/// Something else that users should see.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// `seq` of the event.
    pub seq: u64,
    /// Unix time in milliseconds.
    pub at_ms: i64,
    /// What it is.
    pub kind: NoteKind,
}

/// What a note is about.
#[derive(Debug, Clone, PartialEq)]
pub enum NoteKind {
    /// A notice of the daemon.
    Notice {
        /// How grave.
        level: v1::NoticeLevel,
        /// One or two sentences.
        text: String,
    },
    /// A user renamed the session.
    Renamed {
        /// The new title.
        title: String,
        /// Who.
        by: v1::Author,
    },
    /// Another model answers from the next turn on.
    ModelChanged {
        /// Empty means the daemon's default.
        model: String,
        /// Who changed it.
        by: Option<v1::Author>,
    },
    /// Another reasoning effort from the next turn on.
    EffortChanged {
        /// Unspecified means the model's default.
        effort: v1::Effort,
        /// Who changed it.
        by: Option<v1::Author>,
    },
    /// What the session has set out to do is this from now on.
    TodoListChanged {
        /// The whole list.
        list: v1::TodoList,
    },
    /// The session's plan is this from now on.
    PlanChanged {
        /// The whole plan.
        plan: v1::Plan,
    },
    /// The conversation was looked through for what is to be remembered.
    MemoriesExtracted {
        /// What was found.
        extracted: v1::MemoriesExtracted,
    },
    /// The model was told of memories.
    MemoriesTold {
        /// Which.
        told: v1::MemoriesTold,
    },
    /// Another permission mode from the next call on.
    PermissionModeChanged {
        /// The mode.
        mode: v1::PermissionMode,
        /// Who changed it.
        by: Option<v1::Author>,
    },
    /// Another work mode from the next call on.
    WorkModeChanged {
        /// The mode.
        mode: v1::WorkMode,
        /// Who changed it.
        by: Option<v1::Author>,
    },
    /// A rule of the session holds no longer.
    PermissionRuleRevoked {
        /// The rule.
        rule_id: String,
        /// Who took it back.
        by: Option<v1::Author>,
    },
    /// A model request is tried again; what it had written is void.
    AttemptRestarted {
        /// Number of the attempt, from 2.
        attempt: u32,
        /// Why the earlier one broke off.
        error: v1::ErrorReport,
    },
    /// Older turns are left out of requests, or parts of them.
    ContextTrimmed {
        /// How much, and what.
        trimmed: v1::ContextTrimmed,
    },
    /// The oldest turns were folded into a summary.
    ContextCompacted {
        /// Which, and the summary.
        compacted: v1::ContextCompacted,
    },
    /// The model read earlier turns again.
    TurnsRecalled {
        /// Which, and what it read.
        recalled: v1::TurnsRecalled,
    },
    /// What the model keeps to whatever is folded is this from now on.
    PinsChanged {
        /// All of it.
        pins: Vec<String>,
        /// Who changed it.
        by: Option<v1::Author>,
    },
    /// Requests hold a document of the workspace from now on, or no longer.
    ProjectDocumentChanged {
        /// Which.
        changed: v1::ProjectDocumentChanged,
    },
    /// An event that this client does not know.
    Unknown {
        /// Its kind; empty when even that is not known.
        kind: String,
    },
}

impl NoteKind {
    /// What a durable event is a note about; nothing for events that show in another way.
    pub fn of(body: &Body) -> Option<Self> {
        Some(match body {
            Body::Notice(notice) => {
                Self::Notice { level: notice.level(), text: notice.text.clone() }
            }
            // A title that the daemon finds by itself is no news.
            Body::SessionRenamed(renamed) => {
                Self::Renamed { title: renamed.title.clone(), by: renamed.by.clone()? }
            }
            Body::ModelChanged(changed) => {
                Self::ModelChanged { model: changed.model.clone(), by: changed.by.clone() }
            }
            Body::EffortChanged(changed) => {
                Self::EffortChanged { effort: changed.effort(), by: changed.by.clone() }
            }
            Body::TodoListChanged(changed) => {
                Self::TodoListChanged { list: changed.list.clone().unwrap_or_default() }
            }
            Body::PlanChanged(changed) => {
                Self::PlanChanged { plan: changed.plan.clone().unwrap_or_default() }
            }
            Body::MemoriesExtracted(extracted) => {
                Self::MemoriesExtracted { extracted: extracted.clone() }
            }
            Body::MemoriesTold(told) => Self::MemoriesTold { told: told.clone() },
            Body::PermissionModeChanged(changed) => {
                Self::PermissionModeChanged { mode: changed.mode(), by: changed.by.clone() }
            }
            Body::WorkModeChanged(changed) => {
                Self::WorkModeChanged { mode: changed.mode(), by: changed.by.clone() }
            }
            Body::PermissionRuleRevoked(revoked) => Self::PermissionRuleRevoked {
                rule_id: revoked.rule_id.clone(),
                by: revoked.by.clone(),
            },
            Body::AttemptRestarted(restarted) => Self::AttemptRestarted {
                attempt: restarted.attempt,
                error: restarted.error.clone().unwrap_or_default(),
            },
            Body::ContextTrimmed(trimmed) => Self::ContextTrimmed { trimmed: trimmed.clone() },
            Body::ContextCompacted(compacted) => {
                Self::ContextCompacted { compacted: compacted.clone() }
            }
            Body::TurnsRecalled(recalled) => Self::TurnsRecalled { recalled: recalled.clone() },
            Body::PinsChanged(changed) => {
                Self::PinsChanged { pins: changed.pins.clone(), by: changed.by.clone() }
            }
            Body::ProjectDocumentChanged(changed) => {
                Self::ProjectDocumentChanged { changed: changed.clone() }
            }
            Body::Unknown(unknown) => Self::Unknown { kind: unknown.kind.clone() },
            Body::SessionCreated(_)
            | Body::MessageAccepted(_)
            | Body::MessageWithdrawn(_)
            | Body::MessagesDelivered(_)
            | Body::MessageExpired(_)
            | Body::TurnStarted(_)
            | Body::TurnSuspended(_)
            | Body::TurnResumed(_)
            | Body::TurnCompleted(_)
            | Body::TurnFailed(_)
            | Body::TurnInterrupted(_)
            | Body::AssistantMessage(_)
            | Body::ToolCallStarted(_)
            | Body::ToolCallFinished(_)
            | Body::QuestionAsked(_)
            | Body::QuestionAnswered(_)
            | Body::UsageRecorded(_)
            | Body::ApprovalRequested(_)
            | Body::ApprovalResolved(_)
            | Body::ItemDelta(_)
            | Body::Presence(_) => return None,
        })
    }
}
