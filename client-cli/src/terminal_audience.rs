//! Who makes a call on the command line: asked on the terminal, told there or as JSON.

use std::io::{BufRead as _, IsTerminal as _};

use agentd_proto::v1;

use crate::app::App;
use crate::approval_text::Extent;
use crate::by_hand::{self, Audience};
use crate::chat::card;
use crate::chat::terminal::Size;
use crate::exit::{Exit, Failure};
use crate::json::StepView;
use crate::markdown::Look;

/// The user of a command.
#[derive(Debug)]
pub(crate) struct TerminalAudience<'a> {
    app: &'a App,
    /// Whatever has to be asked for is approved.
    yes: bool,
    /// Steps are printed as JSON Lines.
    json: bool,
    planned: Option<v1::PlannedCall>,
    /// The tool has shown something, and with that its result.
    has_shown: bool,
    in_line: bool,
}

impl<'a> TerminalAudience<'a> {
    /// Nothing told yet.
    pub(crate) fn new(app: &'a App, yes: bool, json: bool) -> Self {
        Self { app, yes, json, planned: None, has_shown: false, in_line: false }
    }
}

impl Audience for TerminalAudience<'_> {
    fn planned(&mut self, planned: &v1::PlannedCall) -> Result<(), Failure> {
        self.planned = Some(planned.clone());
        if self.json { self.app.output.json_line(&StepView::from(planned)) } else { Ok(()) }
    }

    fn approve(&mut self, planned: &v1::PlannedCall) -> Result<bool, Failure> {
        if self.yes {
            return Ok(true);
        }
        for line in by_hand::plan_lines(planned, Extent::Whole) {
            self.app.output.note(&line);
        }
        if !std::io::stdin().is_terminal() {
            return Err(Failure::new(Exit::Usage, "this call needs a yes")
                .because("stdin is not a terminal, so nobody can be asked")
                .hint("add --yes"));
        }
        self.app.output.ask("Run it? [y/N]");
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        read.map_err(|error| Failure::new(Exit::Failed, "cannot read the answer").because(error))?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    fn shown(&mut self, text: &str) -> Result<(), Failure> {
        if self.json {
            return self.app.output.json_line(&StepView::Output { text });
        }
        if text.is_empty() {
            return Ok(());
        }
        self.has_shown = true;
        self.in_line = !text.ends_with('\n');
        self.app.output.raw(&self.app.output.clean(text))
    }

    fn finished(&mut self, finished: &v1::ToolCallFinished) -> Result<(), Failure> {
        let output = &self.app.output;
        if self.json {
            return output.json_line(&StepView::from(finished));
        }
        if std::mem::take(&mut self.in_line) {
            output.raw("\n")?;
        }
        let width = Size::detect().text_width();
        if !finished.diff.is_empty() {
            let look = Look { width, colored: output.colored() };
            for row in card::diff::rows(&finished.diff, card::diff::Names::Shown, look) {
                output.line(&row)?;
            }
        } else if !self.has_shown && by_hand::exit_of(finished) == Exit::Ok {
            output.foreign_line(finished.output.trim_end())?;
        }
        let item = by_hand::item(self.planned.as_ref(), finished);
        let look = Look { width, colored: false };
        let mut rows = card::finished(&item, look).into_iter();
        // What it gave back stands on stdout already.
        output.dim_note(&rows.next().unwrap_or_default());
        if by_hand::exit_of(finished) != Exit::Ok && !self.has_shown {
            for line in finished.output.lines() {
                output.note(line);
            }
        }
        Ok(())
    }
}
