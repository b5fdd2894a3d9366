//! Where the chat draws: rows above a prompt, rows that are only appended, or raw text for a pipe.

use agentd_shared::format::Tone;
use agentd_shared::format::{Role, Row, hanging_rows, prefixed_rows};

use super::rows::Rows;
use crate::look::Look;

/// How text leaves us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Rows; the open end is replaced in place.
    Live,
    /// Rows, each written when it is finished.
    Append,
    /// The answer as the model wrote it; everything else apart from it.
    Raw,
}

/// What stands before rows that only go on.
const HANGING: &str = "  │ ";

/// Collects what is to be shown.
#[derive(Debug)]
pub(crate) struct Canvas {
    mode: Mode,
    look: Look,
    rows: Rows,
    raw: String,
    in_raw_line: bool,
    notes: Vec<String>,
}

impl Canvas {
    /// An empty canvas.
    pub(crate) fn new(mode: Mode, look: Look) -> Self {
        Self {
            mode,
            look,
            rows: Rows::default(),
            raw: String::new(),
            in_raw_line: false,
            notes: Vec::new(),
        }
    }

    /// How text leaves us.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Width and colour.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// The same for remarks: what stdout may carry says nothing of stderr.
    pub(crate) fn remark_look(&self) -> Look {
        Look { colored: self.look.colored && self.mode != Mode::Raw, ..self.look }
    }

    /// Takes a new width.
    pub(crate) fn set_width(&mut self, width: usize) {
        self.look.width = width;
    }

    /// Tells whether the terminal may have broken rows of the open end anew, so that they cannot be
    /// replaced any more.
    pub(crate) fn outgrows(&self, columns: usize) -> bool {
        self.rows.outgrows(columns)
    }

    /// The open end stays on the screen as it is.
    pub(crate) fn keep_drawn(&mut self) {
        self.rows.keep_drawn();
    }

    /// Something else was written above or below the prompt.
    pub(crate) fn disturbed(&mut self) {
        self.rows.disturbed();
    }

    /// Adds a finished row of the answer.
    pub(crate) fn row(&mut self, painted: String) {
        self.rows.finish(painted);
    }

    /// Adds finished rows that are painted already and no part of the answer.
    pub(crate) fn remarks(&mut self, painted: Vec<String>) {
        if self.mode == Mode::Raw {
            self.notes.extend(painted);
        } else {
            for row in painted {
                self.rows.finish(row);
            }
        }
    }

    /// Replaces the open end.
    pub(crate) fn open(&mut self, rows: Vec<String>) {
        if self.mode == Mode::Live {
            self.rows.set_open(rows);
        }
    }

    /// Adds text of the answer as it is.
    pub(crate) fn raw(&mut self, text: &str) {
        self.raw.push_str(text);
        self.in_raw_line = !text.ends_with('\n');
    }

    /// Ends the line of raw text that is open.
    pub(crate) fn end_raw(&mut self) {
        if std::mem::take(&mut self.in_raw_line) {
            self.raw.push('\n');
        }
    }

    /// Adds a remark; foreign text is cleaned.
    pub(crate) fn note(&mut self, tone: Tone, text: &str) {
        self.prefixed(Row::default(), text, tone.role());
    }

    /// Adds a remark behind a prefix, whose later rows say that they only go on: whatever it holds,
    /// none of them looks like another remark. Foreign text is cleaned.
    pub(crate) fn hanging(&mut self, tone: Tone, prefix: &str, text: &str) {
        if self.mode == Mode::Raw {
            self.notes.push(format!("{prefix}{}", text.replace('\n', &format!("\n{HANGING}"))));
            return;
        }
        let hanging = Row::from(HANGING);
        let mut prefix = Row::from(prefix);
        for line in text.split('\n') {
            let rows = hanging_rows(line, tone.role(), (&prefix, &hanging), self.look.width);
            self.finish(&rows);
            prefix.clone_from(&hanging);
        }
    }

    /// Adds a line without a style, not broken into rows: columns stay columns. It is cleaned.
    pub(crate) fn plain(&mut self, text: &str) {
        let clean = agentd_shared::text::sanitize(text);
        if self.mode == Mode::Raw {
            self.notes.push(clean.into_owned());
        } else {
            self.rows.finish(clean.replace('\n', " "));
        }
    }

    /// Adds text behind a name, line by line; both are cleaned.
    pub(crate) fn named(&mut self, name: &str, text: &str) {
        self.prefixed(Row::new(name, Role::Name).with(" ❯ ", Role::Plain), text, Role::Plain);
    }

    /// Adds an empty row between turns.
    pub(crate) fn gap(&mut self) {
        if self.mode != Mode::Raw {
            self.rows.finish(String::new());
        }
    }

    fn prefixed(&mut self, mut prefix: Row, text: &str, role: Role) {
        if self.mode == Mode::Raw {
            self.notes.push(format!("{}{text}", prefix.text()));
            return;
        }
        for line in text.lines() {
            self.finish(&prefixed_rows(line, role, &prefix, self.look.width));
            prefix = Row::from("  ");
        }
    }

    fn finish(&mut self, rows: &[Row]) {
        for row in rows {
            self.rows.finish(self.look.paint(row));
        }
    }

    /// Tells whether rows are due.
    pub(crate) fn is_due(&self) -> bool {
        self.rows.is_due()
    }

    /// Takes what is due as text to write where the prompt begins.
    pub(crate) fn take_rows(&mut self, height: usize) -> String {
        self.rows.take(height)
    }

    /// Takes raw text for stdout and remarks for stderr.
    pub(crate) fn take_raw(&mut self) -> (String, Vec<String>) {
        (std::mem::take(&mut self.raw), std::mem::take(&mut self.notes))
    }
}
