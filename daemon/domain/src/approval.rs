//! Approvals: calls that wait until somebody says whether they may run.

use serde::{Deserialize, Serialize};

use crate::{
    Action, ApprovalId, Author, CallId, PermissionMode, RuleMatcher, TimestampMs, WorkMode,
};

/// Another permission mode, from the next call on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionModeChanged {
    /// The mode.
    pub mode: PermissionMode,
    /// Who changed it.
    #[serde(default)]
    pub by: Option<Author>,
}

/// Another work mode, from the next call on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkModeChanged {
    /// The mode.
    pub mode: WorkMode,
    /// Who changed it.
    #[serde(default)]
    pub by: Option<Author>,
}

/// A call waits until somebody says whether it may run. What runs is the action that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The approval.
    pub approval_id: ApprovalId,
    /// The call.
    pub call_id: CallId,
    /// Name of the tool.
    pub tool: String,
    /// What the call will do.
    pub action: Action,
    /// Why it is not run without asking.
    pub because: String,
    /// When it is denied if nobody answers.
    pub expires_at: TimestampMs,
    /// The rules that make such calls run without asking; none: no rule can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleMatcher>,
}

/// What came of an approval. The first durable one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalResolved {
    /// The approval.
    pub approval_id: ApprovalId,
    /// What came of it.
    pub decision: ApprovalDecision,
    /// What an answer holds for.
    #[serde(default)]
    pub scope: ApprovalScope,
    /// Why, in the words of who answered; the model reads it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Who answered; none when nobody did.
    #[serde(default)]
    pub by: Option<Author>,
    /// What runs without asking from now on, for as long as the scope says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleMatcher>,
}

impl ApprovalResolved {
    /// One that nobody answered.
    pub fn unanswered(approval_id: ApprovalId, decision: ApprovalDecision) -> Self {
        Self {
            approval_id,
            decision,
            scope: ApprovalScope::Once,
            reason: String::new(),
            by: None,
            rules: Vec::new(),
        }
    }
}

/// A rule of the session holds no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRuleRevoked {
    /// The rule.
    pub rule_id: String,
    /// Who took it back.
    pub by: Author,
}

/// What came of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// The call may run.
    Allow,
    /// It may not.
    Deny,
    /// Nobody answered in time, so it may not.
    Expired,
    /// Its turn was cut off.
    Void,
}

/// What the answer to an approval holds for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// This call.
    #[default]
    Once,
    /// Calls like this one in the session.
    Session,
    /// Calls like this one in all sessions of the workspace.
    Workspace,
}
