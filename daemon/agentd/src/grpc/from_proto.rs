//! Reading requests. What is wrong becomes INVALID_ARGUMENT on its field.

use std::str::FromStr;

use agentd_domain::{
    ApprovalScope, Author, Delivery, Effort, IdError, PathAccess, PermissionMode, Priority,
    RuleEffect, RuleMatcher, Title, WorkMode,
};
use agentd_proto::v1;
use agentd_proto::v1::rule_matcher::Matcher;
use tonic::Status;

use super::caller::tagged;
use super::status::bad_field;

/// Reads an id.
pub(super) fn id<T: FromStr<Err = IdError>>(field: &str, text: &str) -> Result<T, Status> {
    text.parse().map_err(|error: IdError| {
        let hint = match error {
            IdError::NotUlid { .. } => "give the whole id, as lists with --json show it",
            IdError::Empty => "fill it in",
            IdError::TooLong { .. } => "make it shorter",
            IdError::ControlCharacter => "use printable characters",
        };
        bad_field(field, &error.to_string(), hint)
    })
}

/// Reads an id that may be left out.
pub(super) fn optional_id<T: FromStr<Err = IdError>>(
    field: &str,
    text: &str,
) -> Result<Option<T>, Status> {
    if text.is_empty() { Ok(None) } else { id(field, text).map(Some) }
}

/// Reads how many rows a page may have; 0 leaves it to `default`.
pub(super) fn page_size(asked: u32, default: u32, max: u32) -> Result<usize, Status> {
    limit("page_size", asked, default, max)
}

/// Reads how many are asked for at most; zero means the default.
pub(super) fn limit(field: &str, asked: u32, default: u32, max: u32) -> Result<usize, Status> {
    if asked > max {
        let problem = format!("{asked} is more than {max}");
        return Err(bad_field(field, &problem, "ask for fewer"));
    }
    let rows = if asked == 0 { default } else { asked };
    Ok(usize::try_from(rows).unwrap_or(usize::MAX))
}

/// Reads a title that may be left out.
pub(super) fn optional_title(field: &str, text: &str) -> Result<Option<Title>, Status> {
    if text.is_empty() { Ok(None) } else { title(field, text).map(Some) }
}

/// Reads a title.
pub(super) fn title(field: &str, text: &str) -> Result<Title, Status> {
    text.parse().map_err(|error: agentd_domain::TitleError| {
        bad_field(field, &error.to_string(), "give one line of 1 to 200 characters")
    })
}

/// Reads who did something.
pub(super) fn author(field: &str, author: Option<&v1::Author>) -> Result<Author, Status> {
    let v1::Author { client_id, name } =
        author.ok_or_else(|| bad_field(field, "it is missing", "say who you are"))?;
    Author::new(client_id, name)
        .map(tagged)
        .map_err(|error| bad_field(field, &error.to_string(), "give a short printable id and name"))
}

/// Reads who did something; a client that does not say is "unknown".
pub(super) fn author_or_unknown(field: &str, given: Option<&v1::Author>) -> Result<Author, Status> {
    match given {
        Some(given) => author(field, Some(given)),
        None => Ok(tagged(Author { client_id: "unknown".to_owned(), name: "unknown".to_owned() })),
    }
}

/// Reads how a message is to be delivered.
pub(super) fn delivery(field: &str, number: i32) -> Result<Delivery, Status> {
    match v1::Delivery::try_from(number) {
        Ok(v1::Delivery::Unspecified | v1::Delivery::Queue) => Ok(Delivery::Queue),
        Ok(v1::Delivery::Steer) => Ok(Delivery::Steer),
        Ok(v1::Delivery::Interrupt) => Ok(Delivery::Interrupt),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not a delivery"),
            "use DELIVERY_QUEUE, DELIVERY_STEER or DELIVERY_INTERRUPT",
        )),
    }
}

/// Reads an effort; none means the model's default.
pub(super) fn effort(field: &str, number: i32) -> Result<Option<Effort>, Status> {
    match v1::Effort::try_from(number) {
        Ok(v1::Effort::Unspecified) => Ok(None),
        Ok(v1::Effort::Off) => Ok(Some(Effort::Off)),
        Ok(v1::Effort::Minimal) => Ok(Some(Effort::Minimal)),
        Ok(v1::Effort::Low) => Ok(Some(Effort::Low)),
        Ok(v1::Effort::Medium) => Ok(Some(Effort::Medium)),
        Ok(v1::Effort::High) => Ok(Some(Effort::High)),
        Ok(v1::Effort::Max) => Ok(Some(Effort::Max)),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not an effort"),
            "use EFFORT_OFF, EFFORT_MINIMAL, EFFORT_LOW, EFFORT_MEDIUM, EFFORT_HIGH or EFFORT_MAX",
        )),
    }
}

/// Reads a permission mode; none means the daemon's default.
pub(super) fn permission_mode(field: &str, number: i32) -> Result<Option<PermissionMode>, Status> {
    match v1::PermissionMode::try_from(number) {
        Ok(v1::PermissionMode::Unspecified) => Ok(None),
        Ok(v1::PermissionMode::Plan) => Ok(Some(PermissionMode::Plan)),
        Ok(v1::PermissionMode::Ask) => Ok(Some(PermissionMode::Ask)),
        Ok(v1::PermissionMode::AutoEdit) => Ok(Some(PermissionMode::AutoEdit)),
        Ok(v1::PermissionMode::Full) => Ok(Some(PermissionMode::Full)),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not a permission mode"),
            "use PERMISSION_MODE_PLAN, PERMISSION_MODE_ASK, PERMISSION_MODE_AUTO_EDIT or \
             PERMISSION_MODE_FULL",
        )),
    }
}

/// Reads a work mode.
pub(super) fn work_mode(field: &str, number: i32) -> Result<WorkMode, Status> {
    match v1::WorkMode::try_from(number) {
        Ok(v1::WorkMode::Unspecified | v1::WorkMode::Develop) => Ok(WorkMode::Develop),
        Ok(v1::WorkMode::Design) => Ok(WorkMode::Design),
        Ok(v1::WorkMode::Test) => Ok(WorkMode::Test),
        Ok(v1::WorkMode::Review) => Ok(WorkMode::Review),
        Ok(v1::WorkMode::Docs) => Ok(WorkMode::Docs),
        Ok(v1::WorkMode::Devops) => Ok(WorkMode::Devops),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not a work mode"),
            "use WORK_MODE_DESIGN, WORK_MODE_DEVELOP, WORK_MODE_TEST, WORK_MODE_REVIEW, \
             WORK_MODE_DOCS or WORK_MODE_DEVOPS",
        )),
    }
}

/// Reads an answer to an approval: true allows.
pub(super) fn approval_decision(field: &str, number: i32) -> Result<bool, Status> {
    match v1::ApprovalDecision::try_from(number) {
        Ok(v1::ApprovalDecision::Allow) => Ok(true),
        Ok(v1::ApprovalDecision::Deny) => Ok(false),
        Ok(
            v1::ApprovalDecision::Unspecified
            | v1::ApprovalDecision::Expired
            | v1::ApprovalDecision::Void,
        )
        | Err(_) => Err(bad_field(
            field,
            &format!("{number} is not an answer"),
            "use APPROVAL_DECISION_ALLOW or APPROVAL_DECISION_DENY",
        )),
    }
}

/// Reads what an answer holds for.
pub(super) fn approval_scope(field: &str, number: i32) -> Result<ApprovalScope, Status> {
    match v1::ApprovalScope::try_from(number) {
        Ok(v1::ApprovalScope::Unspecified | v1::ApprovalScope::Once) => Ok(ApprovalScope::Once),
        Ok(v1::ApprovalScope::Session) => Ok(ApprovalScope::Session),
        Ok(v1::ApprovalScope::Workspace) => Ok(ApprovalScope::Workspace),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not a scope"),
            "use APPROVAL_SCOPE_ONCE, APPROVAL_SCOPE_SESSION or APPROVAL_SCOPE_WORKSPACE",
        )),
    }
}

/// Reads what a rule says.
pub(super) fn rule_effect(field: &str, number: i32) -> Result<RuleEffect, Status> {
    match v1::RuleEffect::try_from(number) {
        Ok(v1::RuleEffect::Allow) => Ok(RuleEffect::Allow),
        Ok(v1::RuleEffect::Ask) => Ok(RuleEffect::Ask),
        Ok(v1::RuleEffect::Deny) => Ok(RuleEffect::Deny),
        Ok(v1::RuleEffect::Unspecified) | Err(_) => Err(bad_field(
            field,
            &format!("{number} is not what a rule says"),
            "use RULE_EFFECT_ALLOW, RULE_EFFECT_ASK or RULE_EFFECT_DENY",
        )),
    }
}

/// Reads what a rule is about.
pub(super) fn rule_matcher(
    field: &str,
    matcher: Option<v1::RuleMatcher>,
) -> Result<RuleMatcher, Status> {
    let path = |glob, access| RuleMatcher::Path { glob, access };
    let matcher = match matcher.and_then(|matcher| matcher.matcher) {
        Some(Matcher::Tool(name)) => RuleMatcher::Tool { name },
        Some(Matcher::ReadGlob(glob)) => path(glob, PathAccess::Read),
        Some(Matcher::WriteGlob(glob)) => path(glob, PathAccess::Write),
        Some(Matcher::Command(v1::CommandMatcher { argv, more })) => {
            RuleMatcher::Command { argv, more }
        }
        Some(Matcher::Host(host)) => RuleMatcher::Host { host },
        Some(Matcher::McpServer(server)) => RuleMatcher::McpServer { server },
        None => {
            return Err(bad_field(
                field,
                "it does not say what the rule is about",
                "name a tool, files, a command, a host or an MCP server",
            ));
        }
    };
    agentd_tools::check_rule(&matcher)
        .map_err(|problem| bad_field(field, &problem, "correct the rule"))?;
    Ok(matcher)
}

/// Reads how important a message is.
pub(super) fn priority(field: &str, number: i32) -> Result<Priority, Status> {
    match v1::Priority::try_from(number) {
        Ok(v1::Priority::Unspecified | v1::Priority::Normal) => Ok(Priority::Normal),
        Ok(v1::Priority::Low) => Ok(Priority::Low),
        Ok(v1::Priority::High) => Ok(Priority::High),
        Ok(v1::Priority::Urgent) => Ok(Priority::Urgent),
        Ok(v1::Priority::Critical) => Ok(Priority::Critical),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not a priority"),
            "use PRIORITY_LOW, PRIORITY_NORMAL, PRIORITY_HIGH, PRIORITY_URGENT or PRIORITY_CRITICAL",
        )),
    }
}
