//! What commands that change something print with `--json`: what they have done, by name.

use serde::Serialize;

use super::status::ProviderView;

/// A copy of the store.
#[derive(Debug, Serialize)]
pub(crate) struct BackupView<'a> {
    pub(crate) destination: &'a str,
    pub(crate) sessions: u64,
    pub(crate) events: u64,
}

/// The configuration in force.
#[derive(Debug, Serialize)]
pub(crate) struct ReloadView<'a> {
    pub(crate) config_file: &'a str,
    /// Keys that count after a restart only.
    pub(crate) needs_restart: &'a [String],
    pub(crate) provider: Option<ProviderView<'a>>,
}

/// A daemon that has stopped.
#[derive(Debug, Serialize)]
pub(crate) struct ShutdownView {
    /// `null` when none ran.
    pub(crate) pid: Option<u32>,
}

/// A binary that has taken over.
#[derive(Debug, Serialize)]
pub(crate) struct UpgradeView<'a> {
    pub(crate) from_version: &'a str,
    pub(crate) version: &'a str,
    pub(crate) pid: u32,
}

/// Sessions that are gone.
#[derive(Debug, Serialize)]
pub(crate) struct DeletedView<'a> {
    pub(crate) deleted_session_ids: &'a [String],
}

/// An approval that was answered.
#[derive(Debug, Serialize)]
pub(crate) struct ApprovalAnswerView<'a> {
    pub(crate) approval_id: &'a str,
    pub(crate) session_id: &'a str,
    pub(crate) decision: String,
    pub(crate) scope: String,
}

/// A rule that holds no longer.
#[derive(Debug, Serialize)]
pub(crate) struct RemovedRuleView<'a> {
    pub(crate) rule_id: &'a str,
}

/// A goal that is gone.
#[derive(Debug, Serialize)]
pub(crate) struct DroppedGoalView<'a> {
    pub(crate) goal_id: &'a str,
}

/// Memories that were taken back.
#[derive(Debug, Serialize)]
pub(crate) struct ForgottenView<'a> {
    pub(crate) memory_ids: Vec<&'a str>,
    /// For good.
    pub(crate) erased: bool,
}

/// A turn that was asked to end.
#[derive(Debug, Serialize)]
pub(crate) struct InterruptedView<'a> {
    pub(crate) session_id: &'a str,
    /// False: none ran.
    pub(crate) interrupted: bool,
}

/// A message that was taken back.
#[derive(Debug, Serialize)]
pub(crate) struct WithdrawnView<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) item_id: &'a str,
    pub(crate) seq: u64,
}

/// A question that was answered.
#[derive(Debug, Serialize)]
pub(crate) struct QuestionAnswerView<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) question_id: &'a str,
    pub(crate) choice: &'a str,
    pub(crate) seq: u64,
}

/// How far a session has been read.
#[derive(Debug, Serialize)]
pub(crate) struct ReadView {
    pub(crate) session_id: String,
    pub(crate) seq: u64,
}
