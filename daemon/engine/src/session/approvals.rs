//! Modes and approvals: what commands about them mean in a given state. Pure, as `decide.rs`.

use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{
    Action, ApprovalDecision, ApprovalId, ApprovalRequested, ApprovalResolved, ApprovalScope,
    Author, CallId, PermissionMode, PermissionModeChanged, PermissionRule, PermissionRuleRevoked,
    TimestampMs, WorkMode, WorkModeChanged,
};

use super::decide::Draft;
use super::state::SessionState;
use crate::error::CommandError;

/// Most bytes of the reason of an answer.
const MAX_REASON: usize = 2000;

/// What holds in a session at this moment for its calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    pub(crate) mode: PermissionMode,
    pub(crate) work_mode: WorkMode,
    /// Rules of the session.
    pub(crate) rules: Arc<[PermissionRule]>,
}

impl Standing {
    pub(crate) fn of(state: &SessionState) -> Self {
        Self {
            mode: state.record.permission_mode,
            work_mode: state.record.work_mode,
            rules: state.rules.as_slice().into(),
        }
    }
}

/// A call that has to be asked for.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) call_id: CallId,
    pub(crate) tool: String,
    pub(crate) action: Action,
    pub(crate) because: String,
}

/// What somebody says to an approval.
#[derive(Debug, Clone)]
pub struct ApprovalAnswer {
    /// Which.
    pub approval_id: ApprovalId,
    /// The call may run.
    pub allow: bool,
    /// What the answer holds for.
    pub scope: ApprovalScope,
    /// Why, for the model.
    pub reason: String,
    /// Who says so.
    pub by: Author,
}

/// Changes what agents may do from the next call on.
pub(crate) fn change_modes(
    state: &SessionState,
    permission: Option<PermissionMode>,
    work: Option<WorkMode>,
    by: Option<&Author>,
) -> Vec<Draft> {
    let permission = permission.filter(|mode| state.record.permission_mode != *mode);
    let work = work.filter(|mode| state.record.work_mode != *mode);
    let permission =
        permission.map(|mode| Draft::plain(PermissionModeChanged { mode, by: by.cloned() }));
    let work = work.map(|mode| Draft::plain(WorkModeChanged { mode, by: by.cloned() }));
    permission.into_iter().chain(work).collect()
}

/// Asks whether a call may run; none when there is no turn any more.
pub(crate) fn request(
    state: &SessionState,
    ask: Ask,
    approval_id: ApprovalId,
    now: TimestampMs,
    timeout: Duration,
) -> Option<Draft> {
    let Ask { call_id, tool, action, because } = ask;
    let rules = agentd_tools::rules_for(&action);
    let turn = state.turn.as_ref()?;
    let expires_at = now.plus(timeout);
    let requested =
        ApprovalRequested { approval_id, call_id, tool, action, because, expires_at, rules };
    Some(Draft::of(turn.turn_id, requested))
}

/// True when a script began the turn and nobody else is there to be asked.
pub(crate) fn is_unattended<'a>(
    state: &SessionState,
    mut attached: impl Iterator<Item = &'a Author>,
) -> bool {
    state.turn.as_ref().and_then(|turn| turn.script.as_ref()).is_some_and(|script| {
        // The script itself watches its turn and answers nothing.
        !attached.any(|author| author.client_id != script.client_id)
    })
}

/// Answers an approval.
pub(crate) fn answer(
    state: &SessionState,
    answer: ApprovalAnswer,
) -> Result<Vec<Draft>, CommandError> {
    let ApprovalAnswer { approval_id, allow, scope, reason, by } = answer;
    if let Some((_, who)) = state.resolved.iter().find(|(id, _)| *id == approval_id) {
        let by = who.as_ref().map(|author| author.name.clone()).unwrap_or_default();
        return Err(CommandError::ApprovalResolved { approval_id, by });
    }
    let open = state.turn.as_ref().and_then(|turn| {
        let request = turn.approvals.iter().find(|open| open.approval_id == approval_id)?;
        Some((turn.turn_id, request))
    });
    let (turn_id, request) = open.ok_or(CommandError::NoApproval(approval_id))?;
    if reason.len() > MAX_REASON {
        return Err(CommandError::ReasonTooLong { bytes: reason.len(), max: MAX_REASON });
    }
    let rules = match scope {
        ApprovalScope::Once => Vec::new(),
        ApprovalScope::Session | ApprovalScope::Workspace if !allow => {
            return Err(CommandError::DenialScope);
        }
        ApprovalScope::Session | ApprovalScope::Workspace if request.rules.is_empty() => {
            return Err(CommandError::NoRuleFor(approval_id));
        }
        ApprovalScope::Session | ApprovalScope::Workspace => request.rules.clone(),
    };
    let decision = if allow { ApprovalDecision::Allow } else { ApprovalDecision::Deny };
    let resolved = ApprovalResolved { approval_id, decision, scope, reason, by: Some(by), rules };
    Ok(vec![Draft::of(turn_id, resolved)])
}

/// Takes a rule of the session back.
pub(crate) fn revoke(
    state: &SessionState,
    rule_id: String,
    by: Author,
) -> Result<Vec<Draft>, CommandError> {
    if state.rules.iter().any(|rule| rule.rule_id == rule_id) {
        Ok(vec![Draft::plain(PermissionRuleRevoked { rule_id, by })])
    } else {
        Err(CommandError::NoRule(rule_id))
    }
}

/// Denies what nobody has answered in time.
pub(crate) fn expired(state: &SessionState, now: TimestampMs) -> Vec<Draft> {
    unanswered(state, ApprovalDecision::Expired, |open| open.expires_at <= now)
}

/// Voids what waits, because its turn is cut off.
pub(crate) fn void(state: &SessionState) -> Vec<Draft> {
    unanswered(state, ApprovalDecision::Void, |_| true)
}

fn unanswered(
    state: &SessionState,
    decision: ApprovalDecision,
    which: impl Fn(&ApprovalRequested) -> bool,
) -> Vec<Draft> {
    let Some(turn) = &state.turn else { return Vec::new() };
    let open = turn.approvals.iter().filter(|open| which(open));
    open.map(|open| {
        Draft::of(turn.turn_id, ApprovalResolved::unanswered(open.approval_id, decision))
    })
    .collect()
}
