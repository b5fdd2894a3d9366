//! What a terminal shows at one moment.

use std::collections::BTreeSet;

use vt100::{Color, CursorStyle, MouseProtocolMode};

/// What a program has told the terminal besides text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) title: String,
    pub(super) clipboard: Option<String>,
    pub(super) bells: u64,
    /// Private modes that are not as at first and that the emulator itself does not know.
    private_modes: BTreeSet<u16>,
    pub(super) keyboard_pushes: u16,
}

/// Private modes that the emulator itself keeps.
const KNOWN_MODES: [u16; 12] = [1, 6, 9, 25, 47, 1000, 1002, 1003, 1005, 1006, 1049, 2004];
/// Private modes that are on at first: long lines are wrapped.
const ON_AT_FIRST: [u16; 1] = [7];

impl Told {
    /// Takes note of private modes that are set or reset.
    pub(super) fn set_private_modes(&mut self, modes: impl Iterator<Item = u16>, is_on: bool) {
        for mode in modes.filter(|mode| !KNOWN_MODES.contains(mode)) {
            if is_on == ON_AT_FIRST.contains(&mode) {
                self.private_modes.remove(&mode);
            } else {
                self.private_modes.insert(mode);
            }
        }
    }
}

/// What a program has asked of the terminal for as long as it runs. The default is a terminal that
/// nobody has asked anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes {
    /// The alternate screen is shown.
    pub alternate_screen: bool,
    /// Pastes come in brackets.
    pub bracketed_paste: bool,
    /// The mouse is told, in whatever way.
    pub mouse: bool,
    /// The cursor is shown.
    pub cursor_visible: bool,
    /// How the cursor looks.
    pub cursor_style: CursorStyle,
    /// Arrows are sent as in applications.
    pub application_cursor: bool,
    /// The keypad is sent as in applications.
    pub application_keypad: bool,
    /// Other private modes that are not as at first, by their numbers: 7 wraps long lines, 1004 tells of
    /// the focus, 2026 holds back drawing.
    pub others: BTreeSet<u16>,
    /// How often the enhanced keyboard was asked for and not given back.
    pub keyboard_pushes: u16,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            alternate_screen: false,
            bracketed_paste: false,
            mouse: false,
            cursor_visible: true,
            cursor_style: CursorStyle::Default,
            application_cursor: false,
            application_keypad: false,
            others: BTreeSet::new(),
            keyboard_pushes: 0,
        }
    }
}

/// One place of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The character with what belongs to it; empty where nothing was written, and for the right half of
    /// a wide one.
    pub text: String,
    /// Its colour.
    pub foreground: Color,
    /// The colour behind it.
    pub background: Color,
    /// Bold.
    pub bold: bool,
    /// Dim.
    pub dim: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// With both colours swapped.
    pub inverse: bool,
    /// It takes this place and the next one.
    pub is_wide: bool,
}

/// What a terminal shows at one moment. Rows and columns are counted from 0.
#[derive(Clone)]
pub struct Screen {
    shown: vt100::Screen,
    modes: Modes,
    told: Told,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen")
            .field("text", &self.text())
            .field("cursor", &self.cursor())
            .field("modes", &self.modes)
            .finish_non_exhaustive()
    }
}

impl Screen {
    pub(super) fn new(screen: vt100::Screen, told: &Told) -> Self {
        let modes = Modes {
            alternate_screen: screen.alternate_screen(),
            bracketed_paste: screen.bracketed_paste(),
            mouse: screen.mouse_protocol_mode() != MouseProtocolMode::None,
            cursor_visible: !screen.hide_cursor(),
            cursor_style: screen.cursor_style(),
            application_cursor: screen.application_cursor(),
            application_keypad: screen.application_keypad(),
            others: told.private_modes.clone(),
            keyboard_pushes: told.keyboard_pushes,
        };
        Self { shown: screen, modes, told: told.clone() }
    }

    /// All rows as text, without blanks at their ends and empty rows at the bottom.
    pub fn text(&self) -> String {
        self.shown.contents()
    }

    /// The rows as text, without blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        self.shown
            .rows(0, self.shown.size().1.into())
            .map(|row| row.trim_end().to_owned())
            .collect()
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, cols) = self.shown.size();
        (cols.into(), rows.into())
    }

    /// Tells whether a row has this text.
    pub fn contains(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Row and column of the first place that shows `text` within one row.
    pub fn find(&self, text: &str) -> Option<(u16, u16)> {
        let (cols, rows) = self.size();
        for row in 0..rows {
            let mut line = String::new();
            let mut starts = Vec::new();
            for col in 0..cols {
                let Some(cell) = self.shown.cell(row, col) else { break };
                if cell.is_wide_continuation() {
                    continue;
                }
                starts.push((line.len(), col));
                line.push_str(if cell.has_contents() { cell.contents() } else { " " });
            }
            if let Some(at) = line.find(text) {
                let col = starts.iter().rev().find(|(start, _)| *start <= at);
                return col.map(|(_, col)| (row, *col));
            }
        }
        None
    }

    /// One place; `None` outside of the screen.
    pub fn cell(&self, row: u16, col: u16) -> Option<Cell> {
        let cell = self.shown.cell(row, col)?;
        Some(Cell {
            text: cell.contents().to_owned(),
            foreground: cell.fgcolor(),
            background: cell.bgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
            is_wide: cell.is_wide(),
        })
    }

    /// The first cell of the first place that shows `text`, for its attributes.
    pub fn cell_of(&self, text: &str) -> Option<Cell> {
        let (row, col) = self.find(text)?;
        self.cell(row, col)
    }

    /// Row and column of the cursor.
    pub fn cursor(&self) -> (u16, u16) {
        self.shown.cursor_position()
    }

    /// What the program has asked of the terminal.
    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    /// The title of the window, as the program has set it last.
    pub fn title(&self) -> &str {
        &self.told.title
    }

    /// What the program has put into the clipboard last, in base64.
    pub fn clipboard(&self) -> Option<&str> {
        self.told.clipboard.as_deref()
    }

    /// How often the program has rung the bell.
    pub fn bells(&self) -> u64 {
        self.told.bells
    }

    /// Tells whether text that is written now would have a colour or another attribute.
    pub(super) fn has_attributes(&self) -> bool {
        let it = &self.shown;
        it.fgcolor() != Color::Default
            || it.bgcolor() != Color::Default
            || it.bold()
            || it.dim()
            || it.italic()
            || it.underline()
            || it.inverse()
    }
}
