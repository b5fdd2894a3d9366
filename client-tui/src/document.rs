//! A transcript as rows, made only where somebody looks.
//!
//! A session may have a hundred thousand lines. Rows are made of the entries that the window shows, kept
//! while they are likely to be shown again, and made anew when their entry or the window's width changes.
//! So nothing here knows how long the whole is: a place is an entry and a row in it, never a row number.

mod entry;
mod place;
mod render;

use std::collections::{HashMap, HashSet};

use agentd_shared::Change;
use agentd_shared::Transcript;
use ratatui::text::Line;

use entry::entry_at;
pub use entry::{EntryKey, Target};
use place::Place;
pub use render::Look;

/// Entries whose rows are kept. A window shows far fewer.
const KEPT: usize = 512;

/// The rows of one transcript, and where in it the reader is.
#[derive(Debug)]
pub struct Document {
    look: Look,
    rows: HashMap<EntryKey, Rendered>,
    /// Counts windows, so that what was shown longest ago goes first.
    shown: u64,
    place: Place,
    /// What the reader opened or closed against the default.
    turned: HashSet<Target>,
}

/// The rows of one entry.
#[derive(Debug, Clone, Default)]
struct Rendered {
    rows: Vec<Line<'static>>,
    /// What begins at which row.
    targets: Vec<(usize, Target)>,
    shown: u64,
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
    /// Rows of a look.
    pub fn new(look: Look) -> Self {
        Self {
            look,
            rows: HashMap::new(),
            shown: 0,
            place: Place::default(),
            turned: HashSet::new(),
        }
    }

    /// Takes another width, theme or choice of what is shown. The reader stays at the same entry.
    pub fn set_look(&mut self, look: Look) {
        if self.look != look {
            self.look = look;
            self.rows.clear();
        }
    }

    /// How rows look.
    pub fn look(&self) -> Look {
        self.look
    }

    /// Forgets all rows: the transcript is another reading of the same session.
    pub fn forget_all(&mut self) {
        self.rows.clear();
    }

    /// Forgets the rows that a change makes stale.
    pub fn on_change(&mut self, transcript: &Transcript, change: &Change) {
        for key in entry::touched(transcript, change) {
            self.rows.remove(&key);
        }
    }

    /// Opens what is folded, or folds it.
    pub fn turn(&mut self, transcript: &Transcript, target: &Target) {
        if !self.turned.remove(target) {
            self.turned.insert(target.clone());
        }
        if let Some(key) = entry::holder(transcript, target) {
            self.rows.remove(&key);
        }
    }

    /// Rows of the entry with this number, made if they are not there.
    fn entry(&mut self, transcript: &Transcript, index: usize) -> &Rendered {
        static NONE: Rendered = Rendered { rows: Vec::new(), targets: Vec::new(), shown: 0 };
        let Some(entry) = entry_at(transcript, index) else { return &NONE };
        let (look, turned, shown) = (self.look, &self.turned, self.shown);
        let rendered =
            self.rows.entry(entry.key()).or_insert_with(|| render::render(&entry, look, turned));
        rendered.shown = shown;
        rendered
    }

    fn height(&mut self, transcript: &Transcript, index: usize) -> usize {
        self.entry(transcript, index).rows.len()
    }

    /// Lets go of rows that were not shown for long.
    fn forget(&mut self) {
        if self.rows.len() <= KEPT {
            return;
        }
        let mut ages: Vec<u64> = self.rows.values().map(|rendered| rendered.shown).collect();
        ages.sort_unstable();
        let middle = ages.get(ages.len() / 2).copied().unwrap_or_default();
        self.rows.retain(|_, rendered| rendered.shown >= middle);
    }
}
