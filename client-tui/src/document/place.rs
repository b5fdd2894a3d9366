//! Where the reader is, and how a window is moved.

use agentd_shared::Transcript;

use super::entry::{count, entry_at, index_of};
use super::{Document, EntryKey, Target, Window};

/// Where the window stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// At the end, and new text moves it on.
    #[default]
    Latest,
    /// With this row of this entry at its top, whatever comes at the end.
    At(Top),
}

/// The top row of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Top {
    key: EntryKey,
    /// Row in the entry.
    row: usize,
    /// Where the entry stood last.
    near: usize,
}

/// A row by number of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    index: usize,
    row: usize,
}

impl Document {
    /// Returns what a window of `height` rows shows.
    pub fn window(&mut self, transcript: &Transcript, height: usize) -> Window {
        self.shown += 1;
        self.forget();
        let top = self.settle(transcript, height);
        let mut window = Window {
            follows: self.place == Place::Latest,
            at_top: top == Spot { index: 0, row: 0 },
            ..Window::default()
        };
        let (count, mut skip) = (count(transcript), top.row);
        for index in top.index..count {
            if window.rows.len() >= height {
                break;
            }
            let room = height - window.rows.len();
            let rendered = self.entry(transcript, index);
            for (row, line) in rendered.rows.iter().enumerate().skip(skip).take(room) {
                window.rows.push(line.clone());
                let target = rendered.targets.iter().rev().find(|(first, _)| *first <= row);
                window.targets.push(target.map(|(_, target)| target.clone()));
            }
            skip = 0;
        }
        window
    }

    /// Moves the window up or, if negative, down.
    pub fn scroll(&mut self, transcript: &Transcript, height: usize, up: isize) {
        let top = self.settle(transcript, height);
        let rows = up.unsigned_abs();
        let moved = if up >= 0 {
            self.above(transcript, top, rows)
        } else {
            self.below(transcript, top, rows)
        };
        // Standing still is a choice too: the first turn of the wheel stops the text.
        self.stand(transcript, moved);
        if up < 0 && self.rows_from(transcript, moved, height) <= height {
            self.place = Place::Latest;
        }
    }

    /// Goes to the end and stays there.
    pub fn to_latest(&mut self) {
        self.place = Place::Latest;
    }

    /// Goes to the beginning of what is known.
    pub fn to_top(&mut self, transcript: &Transcript) {
        self.stand(transcript, Spot { index: 0, row: 0 });
    }

    /// Puts the entry that holds a target at the top, or as near as the end allows.
    pub fn go_to(&mut self, transcript: &Transcript, target: &Target, height: usize) {
        let Some(key) = super::entry::holder(transcript, target) else { return };
        let Some(index) = index_of(transcript, &key, count(transcript)) else { return };
        let rendered = self.entry(transcript, index);
        let row = rendered.targets.iter().find(|(_, found)| found == target);
        let spot = Spot { index, row: row.map_or(0, |(row, _)| *row) };
        self.stand(transcript, spot);
        self.settle(transcript, height);
    }

    /// Whether new text moves the window on.
    pub fn follows(&self) -> bool {
        self.place == Place::Latest
    }

    /// Rows below the window, counted as far as `enough`.
    pub fn rows_below(&mut self, transcript: &Transcript, height: usize, enough: usize) -> usize {
        let top = self.settle(transcript, height);
        self.rows_from(transcript, top, height + enough).saturating_sub(height).min(enough)
    }

    fn stand(&mut self, transcript: &Transcript, spot: Spot) {
        self.place = match entry_at(transcript, spot.index) {
            Some(entry) => Place::At(Top { key: entry.key(), row: spot.row, near: spot.index }),
            None => Place::Latest,
        };
    }

    /// The top row that the place means now. A place that is gone becomes the end.
    fn settle(&mut self, transcript: &Transcript, height: usize) -> Spot {
        let last = self.last_top(transcript, height);
        let Place::At(top) = self.place.clone() else { return last };
        let Some(index) = index_of(transcript, &top.key, top.near) else {
            self.place = Place::Latest;
            return last;
        };
        let row = top.row.min(self.height(transcript, index).saturating_sub(1));
        let spot = Spot { index, row };
        if (spot.index, spot.row) > (last.index, last.row) { last } else { spot }
    }

    /// The top row of the last full window.
    fn last_top(&mut self, transcript: &Transcript, height: usize) -> Spot {
        let end = Spot { index: count(transcript), row: 0 };
        self.above(transcript, end, height)
    }

    fn above(&mut self, transcript: &Transcript, from: Spot, rows: usize) -> Spot {
        let (mut spot, mut left) = (from, rows);
        while left > spot.row {
            let Some(before) = spot.index.checked_sub(1) else { return Spot { index: 0, row: 0 } };
            left -= spot.row;
            spot = Spot { index: before, row: self.height(transcript, before) };
        }
        Spot { row: spot.row - left, ..spot }
    }

    fn below(&mut self, transcript: &Transcript, from: Spot, rows: usize) -> Spot {
        let (mut spot, mut left) = (from, rows);
        loop {
            let height = self.height(transcript, spot.index);
            if spot.row + left < height || spot.index + 1 >= count(transcript) {
                let row = (spot.row + left).min(height.saturating_sub(1));
                return Spot { row, ..spot };
            }
            left -= height - spot.row;
            spot = Spot { index: spot.index + 1, row: 0 };
        }
    }

    /// Rows from a spot to the end, counted no further than one above `enough`.
    fn rows_from(&mut self, transcript: &Transcript, from: Spot, enough: usize) -> usize {
        let mut rows = 0;
        for index in from.index..count(transcript) {
            rows += self.height(transcript, index);
            if rows - from.row > enough {
                break;
            }
        }
        rows.saturating_sub(from.row)
    }
}
