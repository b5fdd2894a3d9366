//! Goals.

use agentd_domain::{Goal, GoalAuthor, GoalScope};
use agentd_proto::v1;
use agentd_proto::v1::goal_author::Who;

use super::item;

pub(crate) fn goal(goal: &Goal) -> v1::Goal {
    let Goal { goal_id, content, priority, scope, by, at, done } = goal;
    v1::Goal {
        goal_id: goal_id.clone(),
        content: content.as_str().to_owned(),
        priority: (*priority).into(),
        workspace: match scope {
            GoalScope::User => String::new(),
            GoalScope::Workspace { root } => root.clone(),
        },
        by: Some(author(by)),
        at_ms: at.0,
        done_by: done.as_ref().map(|done| author(&done.by)),
        done_at_ms: done.as_ref().map_or(0, |done| done.at.0),
    }
}

fn author(author: &GoalAuthor) -> v1::GoalAuthor {
    let who = match author {
        GoalAuthor::Model { session_id } => Who::SessionId(session_id.to_string()),
        GoalAuthor::Person { author } => Who::Person(item::author(author)),
    };
    v1::GoalAuthor { who: Some(who) }
}
