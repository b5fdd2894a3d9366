//! The only place that writes to stdout and stderr.
//!
//! It decides about colour (`--color`, `NO_COLOR`, `TERM=dumb`, no terminal), cleans text that others
//! wrote before it reaches a terminal, and turns a closed pipe into a quiet end with exit code 0.
//! Piped output is left byte for byte as it is: nobody's terminal is at the other end of it yet.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use agentd_shared::format::Role;
use agentd_shared::setup::Voice;
use agentd_shared::text::sanitize;

use crate::exit::{Failure, Report};
use crate::look::colors;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is dumb.
    #[default]
    Auto,
    /// Always, also into a pipe.
    Always,
    /// Never.
    Never,
}

/// What is at the other end of our output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// Stdout is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// Stderr is a terminal.
    pub(crate) stderr_is_terminal: bool,
    /// `NO_COLOR` is set to something.
    pub(crate) no_color: bool,
    /// `CLICOLOR_FORCE` is set to something but 0: colour into a pipe, too.
    pub(crate) force_color: bool,
    /// `TERM` is "dumb" or empty: no escape sequences at all.
    pub(crate) dumb: bool,
}

impl Surroundings {
    fn detect() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            no_color: set("NO_COLOR"),
            force_color: set("CLICOLOR_FORCE")
                && std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            dumb: std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb"),
        }
    }

    fn colored(self, choice: ColorChoice, is_terminal: bool) -> bool {
        match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            // Who wants none is asked for none, whatever else is set.
            ColorChoice::Auto => {
                !self.no_color && (self.force_color || (is_terminal && !self.dumb))
            }
        }
    }
}

/// Writes for one command.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    around: Surroundings,
    stdout_color: bool,
    stderr_color: bool,
}

impl Output {
    /// Looks at the surroundings.
    pub(crate) fn new(choice: ColorChoice) -> Self {
        Self::in_surroundings(choice, Surroundings::detect())
    }

    fn in_surroundings(choice: ColorChoice, around: Surroundings) -> Self {
        Self {
            around,
            stdout_color: around.colored(choice, around.stdout_is_terminal),
            stderr_color: around.colored(choice, around.stderr_is_terminal),
        }
    }

    /// True when stdout is a terminal that understands cursor movement.
    pub(crate) fn can_draw(&self) -> bool {
        self.around.stdout_is_terminal && !self.around.dumb
    }

    /// True when stderr is a terminal that understands cursor movement.
    pub(crate) fn can_redraw_stderr(&self) -> bool {
        self.around.stderr_is_terminal && !self.around.dumb
    }

    /// True when nothing but plain characters is understood.
    pub(crate) fn is_dumb(&self) -> bool {
        self.around.dumb
    }

    /// True when stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.around.stdout_is_terminal
    }

    /// True when stdout may carry colour.
    pub(crate) fn colored(&self) -> bool {
        self.stdout_color
    }

    /// Styles text that is already safe, for stdout.
    pub(crate) fn paint(&self, role: Role, text: &str) -> String {
        colors(self.stdout_color).paint(role, text)
    }

    /// Styles text that is already safe, for stderr.
    pub(crate) fn paint_err(&self, role: Role, text: &str) -> String {
        colors(self.stderr_color).paint(role, text)
    }

    /// Cleans text that others wrote when stdout is a terminal; leaves it as it is in a pipe.
    pub(crate) fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.around.stdout_is_terminal { sanitize(text) } else { Cow::Borrowed(text) }
    }

    /// Writes bytes as they are and flushes.
    ///
    /// # Errors
    /// [`Failure::Closed`] when the reader went away, a report for other trouble.
    #[expect(clippy::unused_self, reason = "whoever writes has decided about the surroundings")]
    pub(crate) fn raw(&self, text: &str) -> Result<(), Failure> {
        write(text).map_err(|error| closed_or("write to stdout", &error))
    }

    /// Writes one line of safe text to stdout.
    ///
    /// # Errors
    /// As [`Output::raw`].
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.raw(&format!("{text}\n"))
    }

    /// Writes one line of foreign text to stdout, cleaned when it is a terminal.
    ///
    /// # Errors
    /// As [`Output::raw`].
    pub(crate) fn foreign_line(&self, text: &str) -> Result<(), Failure> {
        self.line(&self.clean(text))
    }

    /// Writes a value as pretty JSON to stdout. JSON escapes control characters itself.
    ///
    /// # Errors
    /// As [`Output::raw`].
    pub(crate) fn json(&self, value: &impl serde::Serialize) -> Result<(), Failure> {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(&text),
            Err(error) => {
                Err(Failure::new(crate::exit::Exit::Failed, "cannot write JSON").because(error))
            }
        }
    }

    /// Writes a value as one line of JSON to stdout.
    ///
    /// # Errors
    /// As [`Output::raw`].
    pub(crate) fn json_line(&self, value: &impl serde::Serialize) -> Result<(), Failure> {
        match serde_json::to_string(value) {
            Ok(text) => self.line(&text),
            Err(error) => {
                Err(Failure::new(crate::exit::Exit::Failed, "cannot write JSON").because(error))
            }
        }
    }

    /// Writes a line to stderr. Diagnostics that nobody can read any more are dropped.
    pub(crate) fn note(&self, text: &str) {
        let text =
            if self.around.stderr_is_terminal { sanitize(text) } else { Cow::Borrowed(text) };
        self.note_styled(Role::Plain, &text);
    }

    /// Writes a dim line to stderr.
    pub(crate) fn dim_note(&self, text: &str) {
        self.note_styled(Role::Dim, &sanitize(text));
    }

    /// Asks a question on stderr without ending the line.
    #[expect(clippy::unused_self, reason = "whoever writes has decided about the surroundings")]
    pub(crate) fn ask(&self, question: &str) {
        let mut stderr = io::stderr().lock();
        // A question that cannot be shown is answered with the default.
        drop(stderr.write_all(format!("{} ", sanitize(question)).as_bytes()));
        drop(stderr.flush());
    }

    fn note_styled(&self, role: Role, safe: &str) {
        let line = format!("{}\n", self.paint_err(role, safe));
        drop(io::stderr().lock().write_all(line.as_bytes()));
    }

    /// Tells what is wrong with the command line.
    pub(crate) fn usage(&self, error: &clap::Error) {
        let rendered = error.render();
        let text =
            if self.stderr_color { rendered.ansi().to_string() } else { rendered.to_string() };
        drop(io::stderr().lock().write_all(text.as_bytes()));
    }

    /// Tells what went wrong, why, and what to do.
    pub(crate) fn failure(&self, failure: &Failure) {
        if let Failure::Report(report) = failure {
            drop(io::stderr().lock().write_all(self.report_text(report).as_bytes()));
        }
    }

    /// The text of a failure, in colour when stderr has it.
    pub(crate) fn report_text(&self, report: &Report) -> String {
        let mut text =
            format!("{} {}\n", self.paint_err(Role::Error, "error:"), sanitize(&report.what));
        for (label, part) in [("  why:", &report.why), (" hint:", &report.hint)] {
            if !part.is_empty() {
                text.push_str(&self.paint_err(Role::Dim, label));
                text.push(' ');
                text.push_str(&sanitize(part));
                text.push('\n');
            }
        }
        text
    }
}

impl Voice for Output {
    fn line(&self, text: &str) -> io::Result<()> {
        write(&format!("{}\n", self.clean(text)))
    }

    fn note(&self, text: &str) {
        Self::note(self, text);
    }

    fn ask(&self, question: &str) {
        Self::ask(self, question);
    }
}

/// Writes to stdout and flushes.
fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn closed_or(action: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Failure::Closed
    } else {
        Failure::new(crate::exit::Exit::Failed, format!("cannot {action}")).because(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    const TERMINAL: Surroundings = Surroundings {
        stdout_is_terminal: true,
        stderr_is_terminal: true,
        no_color: false,
        force_color: false,
        dumb: false,
    };

    #[test]
    fn colour_follows_the_switch_then_the_variable_then_the_terminal() {
        let check = |choice: ColorChoice, around: Surroundings, expect: bool| {
            let output = Output::in_surroundings(choice, around);
            assert_eq!(output.colored(), expect, "{choice:?} {around:?}");
        };
        check(ColorChoice::Auto, TERMINAL, true);
        check(ColorChoice::Auto, Surroundings { no_color: true, ..TERMINAL }, false);
        check(ColorChoice::Auto, Surroundings { dumb: true, ..TERMINAL }, false);
        check(ColorChoice::Auto, Surroundings { stdout_is_terminal: false, ..TERMINAL }, false);
        check(ColorChoice::Always, Surroundings { no_color: true, ..TERMINAL }, true);
        check(ColorChoice::Never, TERMINAL, false);
        let piped = Surroundings { stdout_is_terminal: false, force_color: true, ..TERMINAL };
        check(ColorChoice::Auto, piped, true);
        check(ColorChoice::Auto, Surroundings { no_color: true, ..piped }, false);
        check(ColorChoice::Never, piped, false);
    }

    #[test]
    fn foreign_text_is_cleaned_for_a_terminal_and_untouched_in_a_pipe() {
        let hostile = "a\u{1b}]0;x\u{7}b";
        let terminal = Output::in_surroundings(ColorChoice::Auto, TERMINAL);
        assert!(!terminal.clean(hostile).contains('\u{1b}'));
        let pipe = Surroundings { stdout_is_terminal: false, ..TERMINAL };
        let piped = Output::in_surroundings(ColorChoice::Auto, pipe);
        assert_eq!(piped.clean(hostile), hostile);
    }

    #[test]
    fn a_failure_says_what_why_and_what_to_do_and_nothing_hostile() {
        let around = Surroundings { stderr_is_terminal: false, ..TERMINAL };
        let output = Output::in_surroundings(ColorChoice::Auto, around);
        let failure = Failure::new(Exit::NotFound, "no session \u{1b}[2Jx")
            .because("the list has none")
            .hint("see `agentctl sessions list`");
        let Failure::Report(report) = failure else { panic!("a report") };
        let text = output.report_text(&report);
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.starts_with("error: no session "), "{text}");
        assert!(text.contains("  why: the list has none\n"), "{text}");
        assert!(text.ends_with(" hint: see `agentctl sessions list`\n"), "{text}");
    }

    #[test]
    fn a_closed_pipe_is_not_a_failure_to_report() {
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(closed_or("write", &broken), Failure::Closed);
        let full = io::Error::other("no space left on device");
        assert_eq!(closed_or("write", &full).exit(), Exit::Failed);
    }
}
