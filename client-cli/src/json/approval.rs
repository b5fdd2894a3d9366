//! Views of approvals and rules.

use agentd_proto::v1;
use agentd_proto::v1::rule_matcher::Matcher;
use serde::Serialize;

use super::event::{AuthorView, view};
use super::tool::ActionView;

/// A call that waits, and its session.
#[derive(Debug, Serialize)]
pub(crate) struct OpenApprovalView<'a> {
    session_id: &'a str,
    title: &'a str,
    workspace: &'a str,
    request: Option<RequestedView<'a>>,
}

impl<'a> From<&'a v1::OpenApproval> for OpenApprovalView<'a> {
    fn from(open: &'a v1::OpenApproval) -> Self {
        let v1::OpenApproval { session_id, title, workspace, request } = open;
        Self { session_id, title, workspace, request: view(request.as_ref()) }
    }
}

/// A call waits.
#[derive(Debug, Serialize)]
pub(super) struct RequestedView<'a> {
    approval_id: &'a str,
    call_id: &'a str,
    tool: &'a str,
    action: Option<ActionView<'a>>,
    because: &'a str,
    expires_at_ms: i64,
    rules: Vec<MatcherView<'a>>,
}

impl<'a> From<&'a v1::ApprovalRequested> for RequestedView<'a> {
    fn from(requested: &'a v1::ApprovalRequested) -> Self {
        let v1::ApprovalRequested {
            approval_id,
            call_id,
            tool,
            action,
            because,
            expires_at_ms,
            rules,
        } = requested;
        Self {
            approval_id,
            call_id,
            tool,
            action: view(action.as_ref()),
            because,
            expires_at_ms: *expires_at_ms,
            rules: matchers(rules),
        }
    }
}

/// It waits no longer.
#[derive(Debug, Serialize)]
pub(super) struct ResolvedView<'a> {
    approval_id: &'a str,
    decision: String,
    scope: String,
    reason: &'a str,
    by: Option<AuthorView<'a>>,
    rules: Vec<MatcherView<'a>>,
}

impl<'a> From<&'a v1::ApprovalResolved> for ResolvedView<'a> {
    fn from(resolved: &'a v1::ApprovalResolved) -> Self {
        let v1::ApprovalResolved { approval_id, decision, scope, reason, by, rules } = resolved;
        Self {
            approval_id,
            decision: super::approval_decision(*decision),
            scope: super::approval_scope(*scope),
            reason,
            by: view(by.as_ref()),
            rules: matchers(rules),
        }
    }
}

fn matchers(rules: &[v1::RuleMatcher]) -> Vec<MatcherView<'_>> {
    rules.iter().filter_map(|rule| rule.matcher.as_ref()).map(MatcherView::from).collect()
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum MatcherView<'a> {
    Tool { name: &'a str },
    Read { glob: &'a str },
    Write { glob: &'a str },
    Command { argv: &'a [String], more: bool },
    Host { host: &'a str },
    Mcp { server: &'a str },
}

impl<'a> From<&'a Matcher> for MatcherView<'a> {
    fn from(matcher: &'a Matcher) -> Self {
        match matcher {
            Matcher::Tool(name) => Self::Tool { name },
            Matcher::ReadGlob(glob) => Self::Read { glob },
            Matcher::WriteGlob(glob) => Self::Write { glob },
            Matcher::Command(v1::CommandMatcher { argv, more }) => {
                Self::Command { argv, more: *more }
            }
            Matcher::Host(host) => Self::Host { host },
            Matcher::McpServer(server) => Self::Mcp { server },
        }
    }
}
