//! Who makes a call on the command line: asked on the terminal, told there or as JSON.

use agentd_proto::v1;
use agentd_shared::format::approval::Extent;
use agentd_shared::format::diff::{self, Names};
use agentd_shared::format::{Row, card};

use crate::app::App;
use crate::by_hand::{self, Audience};
use crate::chat::terminal::Size;
use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::json::StepView;
use crate::look::Look;
use crate::streamed::Streamed;

/// The user of a command.
#[derive(Debug)]
pub(crate) struct TerminalAudience<'a> {
    app: &'a App,
    /// Whatever has to be asked for is approved.
    yes: bool,
    /// Steps are printed as JSON Lines.
    json: bool,
    /// What will run is told also when nothing has to be asked for.
    tells_plan: bool,
    /// Fingerprint of what was told last.
    told: Option<String>,
    planned: Option<v1::PlannedCall>,
    /// What the tool has shown of its result.
    streamed: Streamed,
    in_line: bool,
}

impl<'a> TerminalAudience<'a> {
    /// Nothing told yet.
    pub(crate) fn new(app: &'a App, yes: bool, json: bool) -> Self {
        Self {
            app,
            yes,
            json,
            tells_plan: false,
            told: None,
            planned: None,
            streamed: Streamed::default(),
            in_line: false,
        }
    }

    /// The same for a user who does not know what the call will do.
    #[must_use]
    pub(crate) fn telling_plan(self) -> Self {
        Self { tells_plan: true, ..self }
    }

    /// Tells what will run, once.
    fn tell(&mut self, planned: &v1::PlannedCall) {
        let fingerprint = Some(planned.fingerprint.clone());
        if self.told != fingerprint {
            self.told = fingerprint;
            for line in by_hand::plan_lines(planned, Extent::Whole) {
                self.app.output.note(&line);
            }
        }
    }
}

impl Audience for TerminalAudience<'_> {
    fn planned(&mut self, planned: &v1::PlannedCall) -> Result<(), Failure> {
        self.planned = Some(planned.clone());
        if self.json {
            return self.app.output.json_line(&StepView::from(planned));
        }
        if self.tells_plan && planned.permission() != v1::CallPermission::Deny {
            self.tell(planned);
        }
        Ok(())
    }

    async fn approve(&mut self, planned: &v1::PlannedCall) -> Result<bool, Failure> {
        if self.yes {
            return Ok(true);
        }
        self.tell(planned);
        confirm(self.app, "this call", "Run it?").await
    }

    fn shown(&mut self, text: &str) -> Result<(), Failure> {
        if self.json {
            return self.app.output.json_line(&StepView::Output { text });
        }
        if text.is_empty() {
            return Ok(());
        }
        self.streamed.add(text);
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
            for row in diff::rows(&finished.diff, Names::Shown, width) {
                output.line(&look.paint(&row))?;
            }
        } else if self.streamed.is_empty() && by_hand::exit_of(finished) == Exit::Ok {
            output.foreign_line(finished.output.trim_end())?;
        }
        let item = by_hand::item(self.planned.as_ref(), finished);
        // What it gave back stands on stdout already.
        let head = card::finished(&item, width).first().map(Row::text);
        output.dim_note(&head.unwrap_or_default());
        if !self.streamed.is_empty() {
            for line in self.streamed.unseen(&finished.output) {
                output.note(line);
            }
        } else if by_hand::exit_of(finished) != Exit::Ok {
            for line in finished.output.lines() {
                output.note(line);
            }
        }
        Ok(())
    }
}
