//! Views of goals.

use agentd_proto::v1;
use agentd_proto::v1::goal_author::Who;
use serde::Serialize;

use super::event::AuthorView;

/// A goal and where it comes from.
#[derive(Debug, Serialize)]
pub(crate) struct GoalView<'a> {
    goal_id: &'a str,
    content: &'a str,
    priority: u32,
    workspace: &'a str,
    by: Option<GoalAuthorView<'a>>,
    at_ms: i64,
    done_by: Option<GoalAuthorView<'a>>,
    done_at_ms: i64,
}

/// Who set a goal, or said that it is reached: one of both is there.
#[derive(Debug, Serialize)]
struct GoalAuthorView<'a> {
    session_id: &'a str,
    person: Option<AuthorView<'a>>,
}

impl<'a> From<&'a v1::Goal> for GoalView<'a> {
    fn from(goal: &'a v1::Goal) -> Self {
        let v1::Goal { goal_id, content, priority, workspace, by, at_ms, done_by, done_at_ms } =
            goal;
        Self {
            goal_id,
            content,
            priority: *priority,
            workspace,
            by: by.as_ref().map(GoalAuthorView::from),
            at_ms: *at_ms,
            done_by: done_by.as_ref().map(GoalAuthorView::from),
            done_at_ms: *done_at_ms,
        }
    }
}

impl<'a> From<&'a v1::GoalAuthor> for GoalAuthorView<'a> {
    fn from(author: &'a v1::GoalAuthor) -> Self {
        let v1::GoalAuthor { who } = author;
        match who {
            None => Self { session_id: "", person: None },
            Some(Who::SessionId(id)) => Self { session_id: id, person: None },
            Some(Who::Person(person)) => Self { session_id: "", person: Some(person.into()) },
        }
    }
}
