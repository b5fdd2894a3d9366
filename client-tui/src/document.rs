//! A transcript as rows, made only where somebody looks.
//!
//! A session may have a hundred thousand entries, and an entry a hundred thousand lines. So an entry is
//! laid out in blocks, a block in parts of few lines, and rows are made of the parts that the window
//! shows, kept while they are likely to be shown again, and made anew when their text or the window's
//! width changes. Nothing here knows how long the whole is: a place is a part of an entry and a row in
//! it, never a row number.

mod copy;
mod entry;
mod jump;
mod layout;
mod place;
mod render;
mod section;

use std::collections::{HashMap, HashSet};
use std::slice::from_ref;

use agentd_shared::Change;
use agentd_shared::Transcript;
use agentd_shared::transcript::Item;
use ratatui::text::Line;
use regex::Regex;

pub use copy::Copied;
pub use entry::{EntryKey, Target};
use entry::{Touch, count, entry_at};
pub use jump::{Direction, Landmark, Match};
use layout::{DocumentRow, Kind, Layout};
use place::{Mark, Place, Spot};
pub use render::Look;
use render::Source;

/// Rows that are kept. A window shows far fewer.
const KEPT_ROWS: usize = 20_000;
/// Entries whose layout is kept.
const KEPT_ENTRIES: usize = 4_096;

/// The rows of one transcript, and where in it the reader is.
#[derive(Debug)]
pub struct Document {
    look: Look,
    /// The id of the client that shows it.
    me: String,
    layouts: HashMap<EntryKey, Layout>,
    /// Rows that are kept now.
    kept: usize,
    /// Parts that were ever rendered.
    rendered: usize,
    /// Counts windows, so that what was shown longest ago goes first.
    shown: u64,
    place: Place,
    /// The end of what was cleared from the display.
    hidden: Option<Mark>,
    /// What the reader opened or closed against the default.
    turned: HashSet<Target>,
    selected: Option<Target>,
    /// What is looked for, wherever it is shown.
    wanted: Option<Regex>,
    /// Rows that are being chosen with the mouse.
    dragged: Option<(Spot, Spot)>,
    /// The rows of the window that was made last.
    on_screen: Vec<Spot>,
    window_height: usize,
    /// Unix time in milliseconds, as far as events tell.
    now_ms: i64,
}

/// What the window shows.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// From top to bottom; fewer than asked for when the session is short.
    pub rows: Vec<Line<'static>>,
    /// What a click on a row reaches.
    pub targets: Vec<Option<Target>>,
    /// New text moves the window on.
    pub follows: bool,
    /// The first row is the first of the transcript.
    pub at_top: bool,
}

impl Document {
    /// Rows of a look, as the client with the id `me` shows them.
    pub fn new(look: Look, me: &str) -> Self {
        Self {
            look,
            me: me.to_owned(),
            layouts: HashMap::new(),
            kept: 0,
            rendered: 0,
            shown: 0,
            place: Place::default(),
            hidden: None,
            turned: HashSet::new(),
            selected: None,
            wanted: None,
            dragged: None,
            on_screen: Vec::new(),
            window_height: 0,
            now_ms: 0,
        }
    }

    /// Takes another width, theme or choice of what is shown. The reader stays at the same text.
    pub fn set_look(&mut self, look: Look) {
        if self.look != look {
            self.look = look;
            self.drop_layouts();
        }
    }

    /// How rows look.
    pub fn look(&self) -> Look {
        self.look
    }

    /// Forgets all rows: the transcript is another reading of the same session, in which so many
    /// entries come before those of the other.
    pub fn forget_all(&mut self, more: isize) {
        self.drop_layouts();
        self.renumber(more);
    }

    /// Follows the time, which is told by events.
    pub fn set_now(&mut self, now_ms: i64) {
        self.now_ms = self.now_ms.max(now_ms);
    }

    /// Lets time pass.
    pub fn pass(&mut self, ms: i64) {
        self.now_ms = self.now_ms.saturating_add(ms);
    }

    /// Forgets the rows that a change makes stale.
    pub fn on_change(&mut self, transcript: &Transcript, change: &Change) {
        for (key, touch) in entry::touched(transcript, change) {
            if touch == Touch::Moved
                && let Place::At(top) = &mut self.place
                && top.is_of(&key)
            {
                top.moved = true;
            }
            if let Some(layout) = self.layouts.get_mut(&key) {
                match touch {
                    Touch::Grew => layout.stale = true,
                    Touch::Changed | Touch::Moved => layout.restart(),
                }
            }
        }
    }

    /// Opens what is folded, or folds it.
    pub fn turn(&mut self, transcript: &Transcript, target: &Target) {
        if matches!(target, Target::Entry(_)) {
            return;
        }
        if !self.turned.remove(target) {
            self.turned.insert(target.clone());
        }
        let key = entry::holder(transcript, target);
        if let Some(layout) = key.and_then(|key| self.layouts.get_mut(&key)) {
            layout.restart();
        }
    }

    /// What is chosen.
    pub fn selected(&self) -> Option<&Target> {
        self.selected.as_ref()
    }

    /// Chooses a target, or nothing.
    pub fn select(&mut self, target: Option<Target>) {
        self.selected = target;
    }

    /// Marks all that matches, wherever it is shown.
    pub fn set_wanted(&mut self, wanted: Option<Regex>) {
        self.wanted = wanted;
    }

    /// Parts that were rendered so far, for tests of how little is.
    pub fn rendered(&self) -> usize {
        self.rendered
    }

    /// The blocks of the entry with this number.
    fn layout(&mut self, transcript: &Transcript, index: usize) -> Option<&Layout> {
        let entry = entry_at(transcript, index)?;
        let layout = self
            .layouts
            .entry(entry.key())
            .or_insert_with(|| Layout { stale: true, ..Layout::default() });
        layout.shown = self.shown;
        if layout.stale {
            let before = kept(layout);
            layout.follow(&entry, self.look, &self.turned, &self.me);
            self.kept = (self.kept + kept(layout)).saturating_sub(before);
        }
        Some(layout)
    }

    /// The rows of the part at a spot, made if they are not there.
    fn rows(&mut self, transcript: &Transcript, spot: Spot) -> &[DocumentRow] {
        let (look, now_ms, shown) = (self.look, self.now_ms, self.shown);
        let Some(entry) = entry_at(transcript, spot.index) else { return &[] };
        if self.layout(transcript, spot.index).is_none() {
            return &[];
        }
        let part = self.layouts.get_mut(&entry.key()).and_then(|layout| {
            let block = layout.blocks.get_mut(spot.block)?;
            let (kind, open) = (block.kind, block.open);
            Some((kind, open, block.parts.get_mut(spot.part)?))
        });
        let Some((kind, open, part)) = part else { return &[] };
        // What runs or waits looks different in every frame.
        let moves = match kind {
            Kind::Card(index) => {
                layout::call(&entry, index).is_some_and(|call| !render::is_settled(call))
            }
            _ => false,
        };
        if part.rows.is_none() || (moves && part.shown != shown) {
            let source = Source { transcript, entry, look, me: &self.me, now_ms };
            let rows = render::render(source, kind, open, part, spot.part == 0);
            self.kept =
                (self.kept + rows.len()).saturating_sub(part.rows.as_ref().map_or(0, Vec::len));
            self.rendered += 1;
            part.rows = Some(rows);
        }
        part.shown = shown;
        part.rows.as_deref().unwrap_or_default()
    }

    fn has_rows(&mut self, transcript: &Transcript, spot: Spot) -> bool {
        let layout = self.layout(transcript, spot.index);
        layout.and_then(|layout| layout.blocks.get(spot.block)).is_some()
    }

    /// The beginning of the part after that of a spot.
    fn next(&mut self, transcript: &Transcript, spot: Spot) -> Option<Spot> {
        let Spot { index, block, part, .. } = spot;
        let layout = self.layout(transcript, index)?;
        if layout.blocks.get(block).is_some_and(|block| part + 1 < block.parts.len()) {
            return Some(Spot { part: part + 1, row: 0, ..spot });
        }
        if block + 1 < layout.blocks.len() {
            return Some(Spot { index, block: block + 1, part: 0, row: 0 });
        }
        (index + 1..count(transcript)).find_map(|index| {
            let spot = Spot { index, ..Spot::default() };
            self.has_rows(transcript, spot).then_some(spot)
        })
    }

    /// The beginning of the part before that of a spot.
    fn previous(&mut self, transcript: &Transcript, spot: Spot) -> Option<Spot> {
        let Spot { index, block, part, .. } = spot;
        if let Some(part) = part.checked_sub(1) {
            return Some(Spot { part, row: 0, ..spot });
        }
        let last = |layout: &Layout, index: usize, blocks: usize| {
            let block = blocks.checked_sub(1)?;
            let part = layout.blocks.get(block)?.parts.len().checked_sub(1)?;
            Some(Spot { index, block, part, row: 0 })
        };
        if block > 0 {
            return last(self.layout(transcript, index)?, index, block);
        }
        (0..index).rev().find_map(|index| {
            let layout = self.layout(transcript, index)?;
            last(layout, index, layout.blocks.len())
        })
    }

    fn target_at(&mut self, transcript: &Transcript, spot: Spot) -> Option<Target> {
        let layout = self.layout(transcript, spot.index)?;
        layout.blocks.get(spot.block).map(|block| block.target.clone())
    }

    /// The first row of a target.
    fn spot_of(&mut self, transcript: &Transcript, target: &Target) -> Option<Spot> {
        let key = entry::holder(transcript, target)?;
        let index = entry::index_of(transcript, &key, count(transcript))?;
        let layout = self.layout(transcript, index)?;
        if let Some(block) = layout.blocks.iter().position(|block| block.target == *target) {
            return Some(Spot { index, block, ..Spot::default() });
        }
        // What has no rows, such as a message that waits, stands where the next has some.
        let nowhere = Spot { index, ..Spot::default() };
        self.next(transcript, nowhere).or_else(|| self.previous(transcript, nowhere))
    }

    /// A row as the window shows it.
    fn painted(&self, row: &DocumentRow, spot: Spot, selected: bool) -> Line<'static> {
        let theme = self.look.theme;
        let text = copy::text_of(&row.line);
        let lead = copy::end_of_lead(&text, row.lead);
        let mut line = row.line.clone();
        if let Some(wanted) = &self.wanted {
            let found = wanted.find_iter(&text).map(|found| found.range());
            let found: Vec<_> = found.filter(|found| found.start >= lead).collect();
            line = render::styled(&line, &found, theme.selected);
        }
        if self.dragged.is_some_and(|(from, to)| spot >= from.min(to) && spot <= from.max(to)) {
            line = render::styled(&line, from_ref(&(lead..text.len())), theme.selected);
        }
        if selected {
            if lead == 0 {
                return line;
            }
            line = render::styled(&line, from_ref(&(0..lead)), theme.selected);
        }
        line
    }

    fn drop_layouts(&mut self) {
        self.layouts.clear();
        self.on_screen.clear();
        self.dragged = None;
        self.kept = 0;
    }

    /// Lets go of rows and layouts that were not shown for long.
    fn forget(&mut self) {
        self.on_screen.clear();
        if self.kept <= KEPT_ROWS && self.layouts.len() <= KEPT_ENTRIES {
            return;
        }
        let oldest = self.shown.saturating_sub(1);
        self.layouts.retain(|_, layout| layout.shown >= oldest);
        for layout in self.layouts.values_mut() {
            let parts = layout.blocks.iter_mut().flat_map(|block| &mut block.parts);
            parts.filter(|part| part.shown < oldest).for_each(|part| part.rows = None);
        }
        self.kept = self.layouts.values().map(kept).sum();
    }
}

fn kept(layout: &Layout) -> usize {
    let parts = layout.blocks.iter().flat_map(|block| &block.parts);
    parts.filter_map(|part| part.rows.as_ref()).map(Vec::len).sum()
}

/// Whether an item is a message that the model has.
fn is_message(item: &Item) -> bool {
    use agentd_shared::transcript::MessageState;
    matches!(item, Item::User(message) if message.state == MessageState::Delivered)
}

#[cfg(test)]
mod tests;
