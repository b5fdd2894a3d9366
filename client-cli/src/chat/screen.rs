//! Writes what is due, where and when it may be written.

use std::time::Duration;

use agentd_shared::format::Role;
use tokio::time::Instant;
use unicode_width::UnicodeWidthStr as _;

use super::canvas::Mode;
use super::conversation::Conversation;
use super::editor::{EditorHandle, PROMPT};
use super::terminal::Size;
use crate::exit::Failure;

/// Pause between two writes above the prompt: more than the eye can follow only makes it flicker.
const FRAME: Duration = Duration::from_millis(15);

/// The terminal of a live chat.
#[derive(Debug)]
pub(super) struct Live {
    /// Its editor.
    pub(super) editor: EditorHandle,
    /// The prompt is on the screen.
    pub(super) ready: bool,
    /// Rows are on their way to the screen.
    pub(super) printing: bool,
    /// When rows may be written again.
    pub(super) next_frame: Instant,
}

impl Conversation<'_> {
    /// Takes a line that was entered off the screen and makes it a finished row, above the text that
    /// is being written. So the rows above the prompt are again what we believe they are, even if
    /// some are still on their way.
    pub(super) fn adopt_echo(&mut self, line: &str) -> Result<(), Failure> {
        self.take_echo(line, true)
    }

    /// Takes a line that was broken off away from the screen, so that nothing stands below the text
    /// that is being written.
    pub(super) fn erase_echo(&mut self, line: &str) -> Result<(), Failure> {
        self.take_echo(line, false)
    }

    fn take_echo(&mut self, line: &str, entered: bool) -> Result<(), Failure> {
        let Some(live) = &mut self.live else { return Ok(()) };
        live.ready = false;
        let size = Size::detect();
        let below = rows_taken(&format!("{PROMPT}{line}"), size.columns);
        let output = &self.app.output;
        self.view.draw_open();
        let canvas = &mut self.view.canvas;
        if below > size.reach() {
            canvas.disturbed();
            return Ok(());
        }
        let prompt = output.paint(Role::Accent, PROMPT);
        let entered = if entered { Some(line) } else { None };
        for (index, part) in entered.iter().flat_map(|line| line.split('\n')).enumerate() {
            let prompt = if index == 0 { prompt.as_str() } else { "" };
            canvas.row(format!("{prompt}{}", output.clean(part)));
        }
        // The editor has let go of the terminal, so it is ours; but rows on their way come first.
        let rows = if live.printing { String::new() } else { canvas.take_rows(size.reach()) };
        output.raw(&format!("\u{1b}[{below}A\r\u{1b}[J{rows}"))
    }

    /// Writes what is due, where and when it may be written.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let output = &self.app.output;
        match (&mut self.live, self.view.canvas.mode()) {
            (Some(live), _) => {
                let now = Instant::now();
                if !live.ready || live.printing || now < live.next_frame || !self.view.is_due() {
                    return Ok(());
                }
                let size = Size::detect();
                self.view.resize(size);
                self.view.draw_open();
                let canvas = &mut self.view.canvas;
                if live.editor.take_listed() {
                    canvas.disturbed();
                }
                let rows = canvas.take_rows(size.reach());
                if !rows.is_empty() {
                    live.editor.print(rows);
                    live.printing = true;
                    live.next_frame = now + FRAME;
                }
                Ok(())
            }
            (None, Mode::Raw) => {
                let (raw, notes) = self.view.canvas.take_raw();
                if !raw.is_empty() {
                    output.raw(&output.clean(&raw))?;
                }
                for note in notes {
                    output.note(&note);
                }
                Ok(())
            }
            (None, Mode::Live | Mode::Append) => {
                if self.view.canvas.is_due() {
                    output.raw(&self.view.canvas.take_rows(0))
                } else {
                    Ok(())
                }
            }
        }
    }
}

/// Rows of the terminal that a text takes.
fn rows_taken(text: &str, columns: usize) -> usize {
    text.split('\n').map(|line| line.width().div_ceil(columns.max(1)).max(1)).sum()
}
