//! A view of what a session has set out to do.

use agentd_proto::v1;
use serde::Serialize;

/// The whole list.
#[derive(Debug, Serialize)]
pub(super) struct TodoView<'a> {
    title: &'a str,
    items: Vec<ItemView<'a>>,
    revision: u64,
}

#[derive(Debug, Serialize)]
struct ItemView<'a> {
    label: &'a str,
    status: String,
}

impl<'a> From<&'a v1::TodoList> for TodoView<'a> {
    fn from(list: &'a v1::TodoList) -> Self {
        let v1::TodoList { title, items, revision } = list;
        Self { title, items: items.iter().map(ItemView::from).collect(), revision: *revision }
    }
}

impl<'a> From<&'a v1::TodoItem> for ItemView<'a> {
    fn from(item: &'a v1::TodoItem) -> Self {
        let v1::TodoItem { label, status } = item;
        Self { label, status: super::todo_status(*status) }
    }
}
