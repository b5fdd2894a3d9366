//! What is copied: the text of a block as it was written, or rows without their decoration.

use agentd_shared::Transcript;
use agentd_shared::transcript::Item;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::entry::{Entry, count, entry_at};
use super::layout::{self, Kind};
use super::place::{Place, Spot};
use super::{Document, Target};
use agentd_shared::text::floor_boundary;

/// Bytes that are copied at most: terminals refuse longer sequences.
const MOST: usize = 74_000;

/// A text for the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The text.
    pub text: String,
    /// It was longer.
    pub is_cut: bool,
}

impl Copied {
    fn new(text: &str) -> Option<Self> {
        let held = text.get(..floor_boundary(text, MOST)).unwrap_or_default();
        (!held.is_empty()).then(|| Self { text: held.to_owned(), is_cut: held.len() < text.len() })
    }
}

/// The text of a line.
pub(super) fn text_of(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}

/// The byte at which the decoration of so many columns ends.
pub(super) fn end_of_lead(text: &str, lead: usize) -> usize {
    let mut columns = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        if columns >= lead {
            return at;
        }
        columns += grapheme.width();
    }
    text.len()
}

impl Document {
    /// The text of a target as it was written: Markdown, or what a tool gave back.
    pub fn source(&self, transcript: &Transcript, target: &Target) -> Option<Copied> {
        let key = super::entry::holder(transcript, target)?;
        let index = super::entry::index_of(transcript, &key, count(transcript))?;
        let entry = entry_at(transcript, index)?;
        let kind = match target {
            Target::Reasoning(_) => Kind::Reasoning,
            Target::Call(call_id) => {
                let message = layout::message(&entry)?;
                let call = message.tool_calls.iter().position(|call| call.call_id == *call_id)?;
                let found = message.tool_calls.get(call)?;
                if !found.output.is_empty() {
                    Kind::Output(call)
                } else if !found.diff.is_empty() {
                    Kind::Diff(call)
                } else {
                    Kind::Arguments(call)
                }
            }
            Target::Entry(_) => match entry {
                Entry::Live(_) | Entry::Item(Item::Assistant(_)) => Kind::Text,
                Entry::Item(Item::User(_)) => Kind::User,
                Entry::Item(Item::Turn(_)) => Kind::Foot,
                Entry::Item(Item::Question(_)) => Kind::Question,
                Entry::Item(Item::Note(_)) => Kind::Note,
            },
        };
        Copied::new(&layout::text(&entry, kind, &self.me))
    }

    /// The last answer of the model.
    pub fn last_answer(&self, transcript: &Transcript) -> Option<Copied> {
        (0..count(transcript)).rev().find_map(|index| {
            let entry = entry_at(transcript, index)?;
            Copied::new(&layout::message(&entry)?.text)
        })
    }

    /// What a row of the window belongs to.
    pub fn target_of_row(&mut self, transcript: &Transcript, row: usize) -> Option<Target> {
        let spot = *self.on_screen.get(row)?;
        self.target_at(transcript, spot)
    }

    /// Begins to choose rows at a row of the window, which stands still from now on.
    pub fn drag_from(&mut self, transcript: &Transcript, row: usize) {
        let Some(spot) = self.on_screen.get(row).copied() else { return };
        if self.place == Place::Latest
            && let Some(top) = self.on_screen.first().copied()
        {
            self.stand(transcript, top, self.window_height);
        }
        self.dragged = Some((spot, spot));
    }

    /// Chooses as far as a row of the window.
    pub fn drag_to(&mut self, row: usize) {
        let last = self.on_screen.len().saturating_sub(1);
        let spot = self.on_screen.get(row.min(last)).copied();
        if let (Some((_, to)), Some(spot)) = (&mut self.dragged, spot) {
            *to = spot;
        }
    }

    /// Whether more than nothing is being chosen.
    pub fn is_dragged(&self) -> bool {
        self.dragged.is_some()
    }

    /// Ends choosing rows, and returns their text without decoration.
    pub fn drag_end(&mut self, transcript: &Transcript) -> Option<Copied> {
        let (from, to) = self.dragged.take()?;
        let (from, to) = (from.min(to), from.max(to));
        let mut text = String::new();
        let mut next = Some(Spot { row: 0, ..from });
        while let Some(part) = next.filter(|part| *part <= to && text.len() <= MOST) {
            for (row, shown) in self.rows(transcript, part).iter().enumerate() {
                let spot = Spot { row, ..part };
                if spot >= from && spot <= to {
                    let line = text_of(&shown.line);
                    let lead = end_of_lead(&line, shown.lead);
                    text.push_str(line.get(lead..).unwrap_or_default().trim_end());
                    text.push('\n');
                }
            }
            next = self.next(transcript, part);
        }
        Copied::new(text.trim_end_matches('\n'))
    }
}
