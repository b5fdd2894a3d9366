//! The list of what an agent has set out to do (spec h.6).

use serde::{Deserialize, Serialize};

use crate::cut_line;

/// How far an item is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    Running,
    /// Done.
    Completed,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What to do, one line.
    pub label: String,
    /// How far it is.
    #[serde(default)]
    pub status: TodoStatus,
}

/// Everything that a session has set out to do. Each change gives the whole list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoList {
    /// What it is about, one line; may be empty.
    #[serde(default)]
    pub title: String,
    /// In order. None: the list is cleared.
    pub items: Vec<TodoItem>,
    /// How often the session's list has changed; 0 before the session has counted it.
    #[serde(default)]
    pub revision: u64,
}

impl TodoList {
    /// Longest title in characters (spec h.6: 255).
    pub const MAX_TITLE: usize = 255;
    /// Longest label in characters (spec h.6: 500).
    pub const MAX_LABEL: usize = 500;
    /// Most items.
    pub const MAX_ITEMS: usize = 100;

    /// A list as it may be kept: lines without breaks, within the limits, and at most one item that
    /// is being done - the first; others go back to pending.
    pub fn new(title: &str, items: impl IntoIterator<Item = TodoItem>) -> Self {
        let mut is_running = false;
        let items = items.into_iter().take(Self::MAX_ITEMS).map(|item| {
            let label = one_line(&item.label, Self::MAX_LABEL);
            let status = match item.status {
                TodoStatus::Running if is_running => TodoStatus::Pending,
                status => status,
            };
            is_running |= status == TodoStatus::Running;
            TodoItem { label, status }
        });
        let items = items.collect();
        Self { title: one_line(title, Self::MAX_TITLE), items, revision: 0 }
    }

    /// Items that are done.
    pub fn completed(&self) -> usize {
        self.items.iter().filter(|item| item.status == TodoStatus::Completed).count()
    }

    /// Items that are not done, in order.
    pub fn unfinished(&self) -> impl Iterator<Item = &TodoItem> {
        self.items.iter().filter(|item| item.status != TodoStatus::Completed)
    }
}

fn one_line(text: &str, max: usize) -> String {
    cut_line(&text.split_whitespace().collect::<Vec<_>>().join(" "), max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(label: &str, status: TodoStatus) -> TodoItem {
        TodoItem { label: label.to_owned(), status }
    }

    #[test]
    fn at_most_one_item_is_being_done() {
        let list = TodoList::new(
            "",
            [TodoStatus::Completed, TodoStatus::Running, TodoStatus::Running, TodoStatus::Pending]
                .map(|status| item("x", status)),
        );
        let statuses: Vec<_> = list.items.iter().map(|item| item.status).collect();
        let expect =
            [TodoStatus::Completed, TodoStatus::Running, TodoStatus::Pending, TodoStatus::Pending];
        assert_eq!(statuses, expect);
        assert_eq!((list.completed(), list.unfinished().count()), (1, 3));
    }

    #[test]
    fn en_01_labels_are_lines_within_limits() {
        let long = "世".repeat(TodoList::MAX_LABEL + 1);
        let list = TodoList::new(" a\n b ", [item(&long, TodoStatus::Pending)]);
        assert_eq!(list.title, "a b");
        assert!(list.items[0].label.chars().count() <= TodoList::MAX_LABEL);
        let many = (0..200).map(|_| item("x", TodoStatus::Pending));
        assert_eq!(TodoList::new("", many).items.len(), TodoList::MAX_ITEMS);
    }
}
