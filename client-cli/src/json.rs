//! What `--json` prints: serde views of the wire messages.
//!
//! The form is part of the interface. Names are those of the proto fields; enums are their names in
//! lower case without the prefix (`"queue"`); an absent message is `null`; every key is always there.
//! Matches are exhaustive and destructure all fields, so that a new field does not compile until it
//! has a place here.

mod approval;
mod by_hand;
mod context;
mod diagnostics;
mod done;
mod event;
mod goal;
mod memory;
mod memory_consolidation;
mod model;
mod plan;
mod rule;
mod sandbox;
mod search;
mod session;
mod status;
mod todo;
mod tool;
mod usage;
mod watch;

use agentd_proto::v1;

pub(crate) use approval::OpenApprovalView;
pub(crate) use by_hand::{ChangesView, StepView, ToolView};
pub(crate) use context::{CompactView, CompactedView, ContextView, ExpandedView};
pub(crate) use diagnostics::{CheckView, LogRecordView};
pub(crate) use done::{
    ApprovalAnswerView, BackupView, DeletedView, DroppedGoalView, ForgottenView, InterruptedView,
    QuestionAnswerView, ReadView, ReloadView, RemovedRuleView, ShutdownView, UpgradeView,
    WithdrawnView,
};
pub(crate) use event::{EventView, QuestionView};
pub(crate) use goal::GoalView;
pub(crate) use memory::{
    FoundMemoryView, MemoryChangeView, MemoryDetailView, MemoryStatsView, MemoryView, SweepView,
};
pub(crate) use memory_consolidation::ConsolidateView;
pub(crate) use model::ModelsView;
pub(crate) use rule::RuleView;
pub(crate) use sandbox::{PromiseView, SandboxView};
pub(crate) use search::SearchView;
pub(crate) use session::{DetailView, SessionView};
pub(crate) use status::{ProviderView, StatusView, VersionView};
pub(crate) use usage::{UsageReportView, UsageRowView};
pub(crate) use watch::WatchView;

/// Turns `DELIVERY_QUEUE` into `queue`.
fn short_name(full: &'static str, prefix: &str) -> String {
    full.strip_prefix(prefix).unwrap_or(full).to_ascii_lowercase()
}

/// Names an enum value; one that this version does not know is given as its number.
macro_rules! enum_name {
    ($function:ident, $kind:ident, $prefix:literal) => {
        pub(crate) fn $function(value: i32) -> String {
            match v1::$kind::try_from(value) {
                Ok(known) => short_name(known.as_str_name(), $prefix),
                Err(_) => value.to_string(),
            }
        }
    };
}

enum_name!(title_source, TitleSource, "TITLE_SOURCE_");
enum_name!(speaker, Speaker, "SPEAKER_");
enum_name!(delivery, Delivery, "DELIVERY_");
enum_name!(priority, Priority, "PRIORITY_");
enum_name!(effort, Effort, "EFFORT_");
enum_name!(permission_mode, PermissionMode, "PERMISSION_MODE_");
enum_name!(work_mode, WorkMode, "WORK_MODE_");
enum_name!(approval_decision, ApprovalDecision, "APPROVAL_DECISION_");
enum_name!(approval_scope, ApprovalScope, "APPROVAL_SCOPE_");
enum_name!(rule_effect, RuleEffect, "RULE_EFFECT_");
enum_name!(suspend_reason, SuspendReason, "SUSPEND_REASON_");
enum_name!(turn_end, TurnEnd, "TURN_END_");
enum_name!(interrupt_reason, InterruptReason, "INTERRUPT_REASON_");
enum_name!(completeness, MessageCompleteness, "MESSAGE_COMPLETENESS_");
enum_name!(tool_effect, ToolEffect, "TOOL_EFFECT_");
enum_name!(call_permission, CallPermission, "CALL_PERMISSION_");
enum_name!(tool_status, ToolStatus, "TOOL_STATUS_");
enum_name!(todo_status, TodoStatus, "TODO_STATUS_");
enum_name!(plan_step_status, PlanStepStatus, "PLAN_STEP_STATUS_");
enum_name!(result_source, ResultSource, "RESULT_SOURCE_");
enum_name!(question_kind, QuestionKind, "QUESTION_KIND_");
enum_name!(usage_purpose, UsagePurpose, "USAGE_PURPOSE_");
enum_name!(notice_level, NoticeLevel, "NOTICE_LEVEL_");
enum_name!(delta_channel, DeltaChannel, "DELTA_CHANNEL_");
enum_name!(sandbox_state, SandboxState, "SANDBOX_STATE_");
enum_name!(sandbox_verdict, SandboxVerdict, "SANDBOX_VERDICT_");
enum_name!(circuit_state, CircuitState, "CIRCUIT_STATE_");
enum_name!(log_level, LogLevel, "LOG_LEVEL_");
enum_name!(check_outcome, CheckOutcome, "CHECK_OUTCOME_");
enum_name!(token_scope, TokenScope, "TOKEN_SCOPE_");
enum_name!(budget_scope, BudgetScope, "BUDGET_SCOPE_");
enum_name!(memory_priority, MemoryPriority, "MEMORY_PRIORITY_");
enum_name!(memory_category, MemoryCategory, "MEMORY_CATEGORY_");
enum_name!(memory_status, MemoryStatus, "MEMORY_STATUS_");
enum_name!(context_layer_kind, ContextLayerKind, "CONTEXT_LAYER_KIND_");
enum_name!(trim_kind, TrimKind, "TRIM_KIND_");
enum_name!(compaction_reason, CompactionReason, "COMPACTION_REASON_");
enum_name!(summary_method, SummaryMethod, "SUMMARY_METHOD_");
enum_name!(summary_section, SummarySection, "SUMMARY_SECTION_");
enum_name!(memory_change_kind, MemoryChangeKind, "MEMORY_CHANGE_KIND_");
enum_name!(session_status, SessionStatus, "SESSION_STATUS_");

#[cfg(test)]
mod tests;
