//! The items of an answer, and which of them an event is about.

use super::output_item::{ItemKind, OutputItem};

/// The items in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Output {
    items: Vec<OutputItem>,
}

impl Output {
    /// Adds an item and returns its place.
    pub(super) fn add(&mut self, item: OutputItem) -> usize {
        self.items.push(item);
        self.items.len() - 1
    }

    pub(super) fn get(&self, at: usize) -> Option<&OutputItem> {
        self.items.get(at)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut OutputItem> {
        self.items.get_mut(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OutputItem> {
        self.items.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OutputItem> {
        self.items.iter_mut()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Puts the items into the order of their indexes; what has none comes last.
    pub(super) fn sort(&mut self) {
        self.items.sort_by_key(|item| item.index.unwrap_or(u64::MAX));
    }

    /// The place of the item that more is said of: the newest with its index and id, else with its
    /// index, else, when no index is given, with its id or of its kind.
    pub(super) fn find(&self, kind: ItemKind, index: Option<u64>, id: &str) -> Option<usize> {
        let newest = |is_it: &dyn Fn(&OutputItem) -> bool| {
            self.items.iter().rposition(|item| item.kind == kind && is_it(item))
        };
        let has_id = |item: &OutputItem| !id.is_empty() && item.id == id;
        if index.is_none() {
            return newest(&has_id).or_else(|| newest(&|_| id.is_empty()));
        }
        newest(&|item| has_id(item) && item.index == index)
            .or_else(|| newest(&|item| item.index == index))
    }

    /// The place of the item that is said to be done now. Some servers give an item another id then.
    pub(super) fn find_done(&self, done: &OutputItem) -> Option<usize> {
        let could_be = |item: &OutputItem| {
            let is_placed = item.index.is_some() && done.index.is_some();
            item.kind == done.kind && !item.is_done && (!is_placed || item.index == done.index)
        };
        let has_id = |item: &OutputItem| could_be(item) && item.id == done.id;
        let items = &self.items;
        items.iter().rposition(has_id).or_else(|| items.iter().rposition(could_be))
    }
}
