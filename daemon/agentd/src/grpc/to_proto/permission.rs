//! Modes, rules and approvals.

use agentd_domain::{
    ApprovalDecision, ApprovalRequested, ApprovalResolved, ApprovalScope, PathAccess,
    PermissionMode, PermissionRule, RuleEffect, RuleMatcher, RuleScope, WorkMode,
};
use agentd_proto::v1;
use agentd_proto::v1::permission_rule::Scope;
use agentd_proto::v1::rule_matcher::Matcher;

use super::{item, tool};

pub(super) fn mode(mode: PermissionMode) -> v1::PermissionMode {
    match mode {
        PermissionMode::Plan => v1::PermissionMode::Plan,
        PermissionMode::Ask => v1::PermissionMode::Ask,
        PermissionMode::AutoEdit => v1::PermissionMode::AutoEdit,
        PermissionMode::Full => v1::PermissionMode::Full,
    }
}

pub(super) fn work_mode(mode: WorkMode) -> v1::WorkMode {
    match mode {
        WorkMode::Design => v1::WorkMode::Design,
        WorkMode::Develop => v1::WorkMode::Develop,
        WorkMode::Test => v1::WorkMode::Test,
        WorkMode::Review => v1::WorkMode::Review,
        WorkMode::Docs => v1::WorkMode::Docs,
        WorkMode::Devops => v1::WorkMode::Devops,
    }
}

pub(crate) fn requested(requested: &ApprovalRequested) -> v1::ApprovalRequested {
    let ApprovalRequested { approval_id, call_id, tool, action, because, expires_at, rules } =
        requested;
    v1::ApprovalRequested {
        approval_id: approval_id.to_string(),
        call_id: call_id.to_string(),
        tool: tool.clone(),
        action: Some(tool::action(action)),
        because: because.clone(),
        expires_at_ms: expires_at.0,
        rules: rules.iter().map(matcher).collect(),
    }
}

pub(super) fn resolved(resolved: &ApprovalResolved) -> v1::ApprovalResolved {
    let ApprovalResolved { approval_id, decision, scope, reason, by, rules } = resolved;
    let decision = match decision {
        ApprovalDecision::Allow => v1::ApprovalDecision::Allow,
        ApprovalDecision::Deny => v1::ApprovalDecision::Deny,
        ApprovalDecision::Expired => v1::ApprovalDecision::Expired,
        ApprovalDecision::Void => v1::ApprovalDecision::Void,
    };
    let scope = match scope {
        ApprovalScope::Once => v1::ApprovalScope::Once,
        ApprovalScope::Session => v1::ApprovalScope::Session,
        ApprovalScope::Workspace => v1::ApprovalScope::Workspace,
    };
    v1::ApprovalResolved {
        approval_id: approval_id.to_string(),
        decision: decision.into(),
        scope: scope.into(),
        reason: reason.clone(),
        by: by.as_ref().map(item::author),
        rules: rules.iter().map(matcher).collect(),
    }
}

pub(crate) fn rule(rule: &PermissionRule) -> v1::PermissionRule {
    let PermissionRule { rule_id, effect, matcher, scope, by, at } = rule;
    let effect = match effect {
        RuleEffect::Allow => v1::RuleEffect::Allow,
        RuleEffect::Ask => v1::RuleEffect::Ask,
        RuleEffect::Deny => v1::RuleEffect::Deny,
    };
    v1::PermissionRule {
        rule_id: rule_id.clone(),
        effect: effect.into(),
        matcher: Some(self::matcher(matcher)),
        scope: match scope {
            RuleScope::User => None,
            RuleScope::Workspace { root } => Some(Scope::Workspace(root.clone())),
            RuleScope::Session { session_id } => Some(Scope::SessionId(session_id.to_string())),
        },
        by: by.as_ref().map(item::author),
        at_ms: at.0,
    }
}

fn matcher(matcher: &RuleMatcher) -> v1::RuleMatcher {
    let matcher = match matcher.clone() {
        RuleMatcher::Tool { name } => Matcher::Tool(name),
        RuleMatcher::Path { glob, access: PathAccess::Read } => Matcher::ReadGlob(glob),
        RuleMatcher::Path { glob, access: PathAccess::Write } => Matcher::WriteGlob(glob),
        RuleMatcher::Command { argv, more } => Matcher::Command(v1::CommandMatcher { argv, more }),
        RuleMatcher::Host { host } => Matcher::Host(host),
        RuleMatcher::McpServer { server } => Matcher::McpServer(server),
    };
    v1::RuleMatcher { matcher: Some(matcher) }
}
