//! Where the reader is, and how a window is moved.

use agentd_shared::Transcript;

use super::entry::{count, entry_at, index_of};
use super::layout::Kind;
use super::{Document, EntryKey, Target, Window};

/// Places that are tried when the entry at the top is gone.
const FALLBACKS: usize = 4;

/// Where the window stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// At the end, and new text moves it on.
    #[default]
    Latest,
    /// With a row at its top, whatever comes at the end.
    At(Top),
}

/// The top row of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Top {
    mark: Mark,
    /// The entry stands elsewhere now.
    pub(super) moved: bool,
    /// What is shown below, and how many rows below.
    below: Vec<(Mark, usize)>,
}

/// A row, however much comes before or after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) key: EntryKey,
    kind: Kind,
    part: usize,
    row: usize,
    /// Rows that the part had, and in how many columns: in others the row is another.
    of: (usize, u16),
    /// Where the entry stood last.
    near: usize,
}

impl Mark {
    fn shift(&mut self, by: isize) {
        self.near = self.near.saturating_add_signed(by);
    }
}

impl Top {
    pub(super) fn is_of(&self, key: &EntryKey) -> bool {
        self.mark.key == *key
    }
}

/// A row by numbers, as the transcript is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Spot {
    pub(super) index: usize,
    pub(super) block: usize,
    pub(super) part: usize,
    pub(super) row: usize,
}

impl Document {
    /// Returns what a window of `height` rows shows.
    pub fn window(&mut self, transcript: &Transcript, height: usize) -> Window {
        self.shown += 1;
        self.window_height = height;
        self.forget();
        let top = self.settle(transcript, height);
        let mut window = Window {
            follows: self.place == Place::Latest,
            at_top: self.previous(transcript, Spot { row: 0, ..top }).is_none() && top.row == 0,
            ..Window::default()
        };
        let mut next = Some(top);
        while let Some(spot) = next {
            let room = height.saturating_sub(window.rows.len());
            if room == 0 {
                break;
            }
            let target = self.target_at(transcript, spot);
            let selected = target.is_some() && target == self.selected;
            let rows = self.rows(transcript, spot);
            let rows: Vec<_> = rows.iter().skip(spot.row).take(room).cloned().collect();
            for (row, shown) in rows.iter().enumerate() {
                let spot = Spot { row: spot.row + row, ..spot };
                window.rows.push(self.painted(shown, spot, selected));
                window.targets.push(target.clone());
                self.on_screen.push(spot);
            }
            next = self.next(transcript, spot);
        }
        window
    }

    /// Moves the window up or, if negative, down.
    pub fn scroll(&mut self, transcript: &Transcript, height: usize, up: isize) {
        let top = self.settle(transcript, height);
        let rows = up.unsigned_abs();
        if up > 0 {
            self.hidden = None;
        }
        let moved = if up >= 0 {
            self.above(transcript, top, rows)
        } else {
            self.below(transcript, top, rows)
        };
        // Standing still is a choice too: the first turn of the wheel stops the text.
        self.stand(transcript, moved, height);
        if up < 0 && moved >= self.last_top(transcript, height) {
            self.place = Place::Latest;
        }
    }

    /// Goes to the end and stays there.
    pub fn to_latest(&mut self) {
        self.place = Place::Latest;
    }

    /// Goes to the beginning of what is known.
    pub fn to_top(&mut self, transcript: &Transcript) {
        self.hidden = None;
        let first = Spot::default();
        let first = if self.has_rows(transcript, first) {
            Some(first)
        } else {
            self.next(transcript, first)
        };
        if let Some(first) = first {
            self.stand(transcript, first, self.window_height);
        }
    }

    /// Hides all that is there now. Going up brings it back.
    pub fn clear(&mut self, transcript: &Transcript) {
        let end = Spot { index: count(transcript), ..Spot::default() };
        if let Some(last) = self.previous(transcript, end) {
            let row = self.rows(transcript, last).len();
            self.hidden = self.mark(transcript, Spot { row, ..last });
        }
        self.place = Place::Latest;
    }

    /// Puts a target at the top, or as near as the end allows.
    pub fn go_to(&mut self, transcript: &Transcript, target: &Target, height: usize) {
        if let Some(spot) = self.spot_of(transcript, target) {
            self.hidden = None;
            self.stand(transcript, spot, height);
        }
    }

    /// Moves no further than is needed to show the beginning of a target.
    pub fn reveal(&mut self, transcript: &Transcript, target: &Target, height: usize) {
        let Some(spot) = self.spot_of(transcript, target) else { return };
        let top = self.settle(transcript, height);
        let last = self.below(transcript, top, height.saturating_sub(1));
        if spot < top || spot > last {
            self.hidden = None;
            let middle = self.above(transcript, spot, height / 3);
            self.stand(transcript, middle, height);
        } else {
            self.stand(transcript, top, height);
        }
    }

    /// Whether new text moves the window on.
    pub fn follows(&self) -> bool {
        self.place == Place::Latest
    }

    /// Rows below the window, counted as far as `enough`.
    pub fn rows_below(&mut self, transcript: &Transcript, height: usize, enough: usize) -> usize {
        let top = self.settle(transcript, height);
        let mut rows = 0;
        let mut next = Some(top);
        while let Some(spot) = next.filter(|_| rows < height + enough) {
            rows += self.rows(transcript, spot).len().saturating_sub(spot.row);
            next = self.next(transcript, spot);
        }
        rows.saturating_sub(height).min(enough)
    }

    /// Stands still where the window is.
    pub(super) fn stand(&mut self, transcript: &Transcript, spot: Spot, height: usize) {
        let Some(mark) = self.mark(transcript, spot) else {
            self.place = Place::Latest;
            return;
        };
        let (mut below, mut at, mut away) = (Vec::new(), spot, 0);
        while below.len() < FALLBACKS && away < height {
            away += self.rows(transcript, at).len().saturating_sub(at.row);
            let Some(next) = self.next(transcript, at) else { break };
            if next.index != at.index
                && let Some(mark) = self.mark(transcript, next)
            {
                below.push((mark, away));
            }
            at = next;
        }
        self.place = Place::At(Top { mark, moved: false, below });
    }

    fn mark(&self, transcript: &Transcript, spot: Spot) -> Option<Mark> {
        let key = entry_at(transcript, spot.index)?.key();
        let block = self.layouts.get(&key)?.blocks.get(spot.block)?;
        let rows = block.parts.get(spot.part)?.rows.as_ref().map_or(0, Vec::len);
        let (kind, of) = (block.kind, (rows, self.look.width));
        Some(Mark { key, kind, part: spot.part, row: spot.row, of, near: spot.index })
    }

    /// Where a mark is now. Its row may be one behind the last.
    fn find(&mut self, transcript: &Transcript, mark: &Mark) -> Option<Spot> {
        let index = index_of(transcript, &mark.key, mark.near)?;
        let layout = self.layout(transcript, index)?;
        let block = layout.blocks.iter().position(|block| block.kind == mark.kind);
        let block = block.or_else(|| layout.blocks.len().checked_sub(1))?;
        let parts = layout.blocks.get(block).map_or(0, |block| block.parts.len());
        let part = mark.part.min(parts.checked_sub(1)?);
        let spot = Spot { index, block, part, row: 0 };
        let rows = self.rows(transcript, spot).len();
        let (before, width) = mark.of;
        let is_other = width != self.look.width && before > 0;
        let row = if is_other { mark.row * rows / before } else { mark.row };
        Some(Spot { row: row.min(rows), ..spot })
    }

    /// The top row that the place means now. A place that is gone becomes the one below it.
    pub(super) fn settle(&mut self, transcript: &Transcript, height: usize) -> Spot {
        let last = self.last_top(transcript, height);
        let Place::At(top) = self.place.clone() else {
            let hidden = self.hidden.clone().and_then(|mark| self.find(transcript, &mark));
            return hidden.map_or(last, |hidden| hidden.max(last));
        };
        let found = if top.moved { None } else { self.find(transcript, &top.mark) };
        let spot = found.or_else(|| {
            top.below.iter().find_map(|(mark, away)| {
                let spot = self.find(transcript, mark)?;
                Some(self.above(transcript, spot, *away))
            })
        });
        let spot = spot.or_else(|| self.find(transcript, &top.mark));
        let Some(spot) = spot else {
            self.place = Place::Latest;
            return last;
        };
        if found.is_none() {
            self.stand(transcript, spot, height);
        }
        let rows = self.rows(transcript, spot).len();
        let spot = Spot { row: spot.row.min(rows.saturating_sub(1)), ..spot };
        spot.min(last)
    }

    /// Follows entries to other numbers: so many came before all others.
    pub(super) fn renumber(&mut self, by: isize) {
        if let Place::At(top) = &mut self.place {
            top.mark.shift(by);
            top.below.iter_mut().for_each(|(mark, _)| mark.shift(by));
        }
        if let Some(hidden) = &mut self.hidden {
            hidden.shift(by);
        }
    }

    /// The top row of the last full window.
    pub(super) fn last_top(&mut self, transcript: &Transcript, height: usize) -> Spot {
        let end = Spot { index: count(transcript), ..Spot::default() };
        self.above(transcript, end, height)
    }

    pub(super) fn above(&mut self, transcript: &Transcript, from: Spot, rows: usize) -> Spot {
        let (mut spot, mut left) = (from, rows);
        while left > spot.row {
            let Some(before) = self.previous(transcript, spot) else {
                return Spot { row: 0, ..spot };
            };
            left -= spot.row;
            spot = Spot { row: self.rows(transcript, before).len(), ..before };
        }
        Spot { row: spot.row - left, ..spot }
    }

    pub(super) fn below(&mut self, transcript: &Transcript, from: Spot, rows: usize) -> Spot {
        let (mut spot, mut left) = (from, rows);
        loop {
            let height = self.rows(transcript, spot).len();
            if spot.row + left < height {
                return Spot { row: spot.row + left, ..spot };
            }
            let Some(next) = self.next(transcript, spot) else {
                return Spot { row: height.saturating_sub(1), ..spot };
            };
            left -= height.saturating_sub(spot.row);
            spot = next;
        }
    }
}
