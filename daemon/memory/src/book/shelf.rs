//! Where the records lie: side by side, with what selection needs of each on a small card, because a
//! turn looks at all of them.

use std::collections::BTreeMap;
use std::ops::Bound;

use agentd_domain::{Memory, MemoryId, MemoryScope};

use crate::select::Card;

/// Records by their places. A place is never given to another record.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    places: BTreeMap<MemoryId, u32>,
    records: Vec<Option<Memory>>,
    /// Those of active records, by place.
    cards: Vec<Option<Carded>>,
    /// Scopes by their numbers. There are few.
    scopes: Vec<MemoryScope>,
    active: usize,
}

/// The card of an active record, and the number of its scope.
#[derive(Debug, Clone, Copy)]
struct Carded {
    card: Card,
    scope: usize,
}

impl Shelf {
    /// Records that are active.
    pub(super) fn active(&self) -> usize {
        self.active
    }

    pub(super) fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.at(*self.places.get(&id)?)
    }

    pub(super) fn at(&self, place: u32) -> Option<&Memory> {
        self.records.get(place as usize)?.as_ref()
    }

    pub(super) fn place(&self, id: MemoryId) -> Option<u32> {
        self.places.get(&id).copied()
    }

    /// Places that were ever given.
    pub(super) fn places(&self) -> usize {
        self.records.len()
    }

    /// By age.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = &Memory> {
        self.places.values().filter_map(|place| self.at(*place))
    }

    /// All of them after this one, by age.
    pub(super) fn after(&self, after: Option<MemoryId>) -> impl Iterator<Item = &Memory> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let places = self.places.range((from, Bound::Unbounded));
        places.filter_map(|(_id, place)| self.at(*place))
    }

    /// In no order.
    pub(super) fn records(&self) -> impl Iterator<Item = (usize, &Memory)> {
        let records = self.records.iter().enumerate();
        records.filter_map(|(place, record)| Some((place, record.as_ref()?)))
    }

    /// The cards of active records in these scopes, in no order.
    pub(super) fn cards<'a>(
        &'a self,
        scopes: &'a [MemoryScope],
    ) -> impl Iterator<Item = (usize, Card)> + 'a {
        let wanted: Vec<bool> = self.scopes.iter().map(|scope| scopes.contains(scope)).collect();
        let cards = self.cards.iter().enumerate();
        cards.filter_map(move |(place, carded)| {
            let Carded { card, scope } = (*carded)?;
            wanted.get(scope)?.then_some((place, card))
        })
    }

    /// Puts a record in its place; returns the place, none when there are too many.
    pub(super) fn put(&mut self, memory: Memory) -> Option<u32> {
        let place = if let Some(place) = self.place(memory.id) {
            place
        } else {
            let place = u32::try_from(self.records.len()).ok()?;
            self.places.insert(memory.id, place);
            self.records.push(None);
            self.cards.push(None);
            place
        };
        let carded = memory
            .is_active()
            .then(|| Carded { card: Card::of(&memory), scope: self.scope(&memory.scope) });
        self.active += usize::from(memory.is_active());
        if let Some(card) = self.cards.get_mut(place as usize) {
            *card = carded;
        }
        let old = self.records.get_mut(place as usize).and_then(|it| it.replace(memory));
        self.active -= usize::from(old.is_some_and(|old| old.is_active()));
        Some(place)
    }

    /// Takes a record out; returns its place.
    pub(super) fn remove(&mut self, id: MemoryId) -> Option<u32> {
        let place = self.places.remove(&id)?;
        let old = self.records.get_mut(place as usize).and_then(Option::take);
        self.active -= usize::from(old.is_some_and(|old| old.is_active()));
        if let Some(card) = self.cards.get_mut(place as usize) {
            *card = None;
        }
        Some(place)
    }

    fn scope(&mut self, scope: &MemoryScope) -> usize {
        self.scopes.iter().position(|known| known == scope).unwrap_or_else(|| {
            self.scopes.push(scope.clone());
            self.scopes.len() - 1
        })
    }
}
