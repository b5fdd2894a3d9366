//! What a session has set out to do.

use agentd_domain::{TodoItem, TodoList, TodoStatus};
use agentd_proto::v1;

pub(crate) fn list(list: &TodoList) -> v1::TodoList {
    let TodoList { title, items, revision } = list;
    v1::TodoList {
        title: title.clone(),
        items: items.iter().map(item).collect(),
        revision: *revision,
    }
}

fn item(item: &TodoItem) -> v1::TodoItem {
    let TodoItem { label, status } = item;
    let status = match status {
        TodoStatus::Pending => v1::TodoStatus::Pending,
        TodoStatus::Running => v1::TodoStatus::Running,
        TodoStatus::Completed => v1::TodoStatus::Completed,
    };
    v1::TodoItem { label: label.clone(), status: status.into() }
}
