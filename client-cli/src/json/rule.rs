//! Views of permission rules.

use agentd_proto::v1;
use agentd_proto::v1::permission_rule::Scope;
use serde::Serialize;

use super::approval::MatcherView;
use super::event::{AuthorView, view};

/// A rule and where it comes from.
#[derive(Debug, Serialize)]
pub(crate) struct RuleView<'a> {
    rule_id: &'a str,
    effect: String,
    about: Option<MatcherView<'a>>,
    session_id: &'a str,
    workspace: &'a str,
    by: Option<AuthorView<'a>>,
    at_ms: i64,
}

impl<'a> From<&'a v1::PermissionRule> for RuleView<'a> {
    fn from(rule: &'a v1::PermissionRule) -> Self {
        let v1::PermissionRule { rule_id, effect, matcher, by, at_ms, scope } = rule;
        let (session_id, workspace) = match scope {
            None => ("", ""),
            Some(Scope::SessionId(id)) => (id.as_str(), ""),
            Some(Scope::Workspace(root)) => ("", root.as_str()),
        };
        Self {
            rule_id,
            effect: super::rule_effect(*effect),
            about: matcher.as_ref().and_then(|m| m.matcher.as_ref()).map(MatcherView::from),
            session_id,
            workspace,
            by: view(by.as_ref()),
            at_ms: *at_ms,
        }
    }
}
