//! Ways from one thing to the next: turns, errors, changes, matches of a search.

use agentd_proto::v1;
use agentd_shared::Transcript;
use agentd_shared::transcript::{Item, NoteKind, ToolCallState, TurnState};
use regex::Regex;

use super::entry::{Entry, count, entry_at, index_of};
use super::layout::{self, Kind};
use super::place::Spot;
use super::{Document, EntryKey, Target, is_message};

/// Matches that are counted.
const MATCHES: usize = 10_000;

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To what came before.
    Back,
    /// To what came after.
    Forward,
}

/// Where a jump can lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landmark {
    /// A message of a user.
    Turn,
    /// Something that went wrong.
    Error,
    /// A change of files.
    Diff,
    /// Anything that can be chosen.
    Block,
}

/// Where something that is looked for stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    key: EntryKey,
    near: usize,
    kind: Kind,
    /// Bytes in the text of its block.
    at: usize,
}

impl Match {
    /// Whether it is the same, wherever its entry stands.
    pub fn is(&self, other: &Self) -> bool {
        self.key == other.key && self.kind == other.kind && self.at == other.at
    }
}

impl Document {
    /// Chooses the next landmark that way and shows it. `None` when there is none.
    pub fn jump(
        &mut self,
        transcript: &Transcript,
        landmark: Landmark,
        direction: Direction,
        height: usize,
    ) -> Option<Target> {
        let from = self.jump_from(transcript, height);
        let numbers: Box<dyn Iterator<Item = usize>> = match direction {
            Direction::Back => Box::new((0..=from.0.min(count(transcript))).rev()),
            Direction::Forward => Box::new(from.0..count(transcript)),
        };
        for index in numbers {
            let found = self.landmarks(transcript, index, landmark);
            let mut found = found.into_iter().filter(|(block, _)| match direction {
                Direction::Back => (index, *block) < from,
                Direction::Forward => (index, *block) > from,
            });
            let found = match direction {
                Direction::Back => found.next_back(),
                Direction::Forward => found.next(),
            };
            if let Some((_, target)) = found {
                self.selected = Some(target.clone());
                match landmark {
                    Landmark::Block => self.reveal(transcript, &target, height),
                    _ => self.go_to(transcript, &target, height),
                }
                return Some(target);
            }
        }
        None
    }

    /// The entry and block from which the way begins: what is chosen, else an end of the window.
    fn jump_from(&mut self, transcript: &Transcript, height: usize) -> (usize, usize) {
        let selected = self.selected.clone();
        if let Some(spot) = selected.and_then(|target| self.spot_of(transcript, &target)) {
            return (spot.index, spot.block);
        }
        if self.follows() {
            return (count(transcript), 0);
        }
        let top = self.settle(transcript, height);
        (top.index, top.block)
    }

    /// The landmarks in an entry, each with the first of its blocks.
    fn landmarks(
        &mut self,
        transcript: &Transcript,
        index: usize,
        landmark: Landmark,
    ) -> Vec<(usize, Target)> {
        let Some(entry) = entry_at(transcript, index) else { return Vec::new() };
        let holds = match (landmark, entry) {
            (Landmark::Block, _) => true,
            (Landmark::Turn, Entry::Item(item)) => is_message(item),
            (Landmark::Turn, Entry::Live(_)) => false,
            (Landmark::Error, _) => has_error(&entry),
            (Landmark::Diff, _) => layout::message(&entry)
                .is_some_and(|message| message.tool_calls.iter().any(|call| !call.diff.is_empty())),
        };
        if !holds {
            return Vec::new();
        }
        let Some(layout) = self.layout(transcript, index) else { return Vec::new() };
        let mut found: Vec<(usize, Target)> = Vec::new();
        for (number, block) in layout.blocks.iter().enumerate() {
            let fits = match (landmark, block.kind) {
                (Landmark::Diff, Kind::Card(call)) => {
                    layout::call(&entry, call).is_some_and(|call| !call.diff.is_empty())
                }
                (Landmark::Error, Kind::Card(call)) => {
                    layout::call(&entry, call).is_some_and(|call| is_error(call.state))
                }
                (Landmark::Diff, _) => false,
                (Landmark::Error, kind) => matches!(kind, Kind::Foot | Kind::Note),
                (Landmark::Turn | Landmark::Block, _) => true,
            };
            let is_new = found.last().is_none_or(|(_, last)| *last != block.target);
            if fits && is_new {
                found.push((number, block.target.clone()));
            }
        }
        found
    }

    /// All places where something stands, in order; no more than a bound.
    pub fn matches(&self, transcript: &Transcript, wanted: &Regex) -> Vec<Match> {
        let mut found = Vec::new();
        for index in 0..count(transcript) {
            let Some(entry) = entry_at(transcript, index) else { break };
            for kind in kinds(&entry, self.look.verbose) {
                let text = layout::text(&entry, kind, &self.me);
                for place in wanted.find_iter(&text) {
                    if found.len() >= MATCHES {
                        return found;
                    }
                    found.push(Match { key: entry.key(), near: index, kind, at: place.start() });
                }
            }
        }
        found
    }

    /// Whether a match stands before the window's first row.
    pub fn is_above(&mut self, transcript: &Transcript, found: &Match, height: usize) -> bool {
        let top = self.settle(transcript, height);
        let index = index_of(transcript, &found.key, found.near);
        index.is_some_and(|index| index < top.index)
    }

    /// Shows a match; what is folded around it is opened.
    pub fn show_match(
        &mut self,
        transcript: &Transcript,
        found: &Match,
        wanted: &Regex,
        height: usize,
    ) {
        let Some(index) = index_of(transcript, &found.key, found.near) else { return };
        self.unfold(transcript, index, found.kind);
        let Some(entry) = entry_at(transcript, index) else { return };
        let text = layout::text(&entry, found.kind, &self.me);
        let Some(layout) = self.layout(transcript, index) else { return };
        let Some(block) = layout.blocks.iter().position(|block| block.kind == found.kind) else {
            return;
        };
        let part = layout.blocks.get(block).and_then(|block| {
            block.parts.iter().rposition(|part| {
                part.section.as_ref().is_none_or(|section| section.range.start <= found.at)
            })
        });
        let part = part.unwrap_or_default();
        let start = layout
            .blocks
            .get(block)
            .and_then(|block| block.parts.get(part)?.section.as_ref())
            .map_or(0, |section| section.range.start);
        // The rows tell the same words in the same order, so the n-th there is the n-th here.
        let held = text.get(start..found.at).unwrap_or_default();
        let nth = wanted.find_iter(held).count();
        let spot = Spot { index, block, part, row: 0 };
        let in_rows = self.rows(transcript, spot).iter().enumerate().flat_map(|(number, row)| {
            let text = super::copy::text_of(&row.line);
            std::iter::repeat_n(number, wanted.find_iter(&text).count())
        });
        let row = in_rows.take(nth + 1).last().unwrap_or_default();
        let spot = Spot { row, ..spot };
        self.hidden = None;
        let top = self.above(transcript, spot, height / 3);
        self.stand(transcript, top, height);
    }

    fn unfold(&mut self, transcript: &Transcript, index: usize, kind: Kind) {
        let Some(entry) = entry_at(transcript, index) else { return };
        let target = match kind {
            Kind::Reasoning => {
                layout::message(&entry).map(|message| Target::Reasoning(message.item_id.clone()))
            }
            Kind::Diff(call) | Kind::Output(call) | Kind::Arguments(call) => {
                layout::call(&entry, call).map(|call| Target::Call(call.call_id.clone()))
            }
            _ => None,
        };
        let Some(target) = target else { return };
        let folded = match &target {
            Target::Reasoning(_) => self.look.reasoning == self.turned.contains(&target),
            _ => !self.turned.contains(&target),
        };
        if folded {
            self.turn(transcript, &target);
        }
    }
}

/// The texts of an entry that are looked through.
fn kinds(entry: &Entry<'_>, verbose: bool) -> Vec<Kind> {
    match *entry {
        Entry::Live(message) | Entry::Item(Item::Assistant(message)) => {
            let mut kinds = vec![Kind::Reasoning, Kind::Text];
            for (index, call) in message.tool_calls.iter().enumerate() {
                kinds.push(if call.diff.is_empty() {
                    Kind::Arguments(index)
                } else {
                    Kind::Diff(index)
                });
                kinds.push(Kind::Output(index));
            }
            kinds
        }
        Entry::Item(Item::User(_)) => vec![Kind::User],
        Entry::Item(Item::Turn(_)) => vec![Kind::Foot],
        Entry::Item(Item::Question(_)) => vec![Kind::Question],
        Entry::Item(Item::Note(note)) => {
            if super::render::is_shown(note, verbose) {
                vec![Kind::Note]
            } else {
                Vec::new()
            }
        }
    }
}

fn is_error(state: ToolCallState) -> bool {
    matches!(
        state,
        ToolCallState::Finished(
            v1::ToolStatus::RetryableError | v1::ToolStatus::FatalError | v1::ToolStatus::Partial
        )
    )
}

fn has_error(entry: &Entry<'_>) -> bool {
    match *entry {
        Entry::Item(Item::Turn(turn)) => matches!(turn.state, TurnState::Failed { .. }),
        Entry::Item(Item::Note(note)) => matches!(note.kind, NoteKind::AttemptRestarted { .. }),
        _ => layout::message(entry)
            .is_some_and(|message| message.tool_calls.iter().any(|call| is_error(call.state))),
    }
}

impl Document {
    /// A document without rows that stands where this one does.
    #[must_use]
    pub fn bookmark(&self) -> Self {
        Self {
            place: self.place.clone(),
            hidden: self.hidden.clone(),
            turned: self.turned.clone(),
            selected: self.selected.clone(),
            ..Self::new(self.look, &self.me)
        }
    }

    /// Goes back to where a bookmark stands; what was opened since is folded again.
    pub fn return_to(&mut self, bookmark: Self) {
        let Self { place, hidden, turned, selected, .. } = bookmark;
        if self.turned != turned {
            self.turned = turned;
            self.layouts.values_mut().for_each(layout::Layout::restart);
        }
        (self.place, self.hidden, self.selected) = (place, hidden, selected);
    }
}
