//! What the line editor asks for: completions, hints, colours, and whether a line is complete.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agentd_shared::format::Role;
use agentd_shared::input::completion::{Candidate, Completion};
use agentd_shared::input::slash::{self, Surface};
use agentd_shared::text::one_line;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use super::gate::Gate;
use super::sources::Sources;
use crate::look::colors;

/// Columns of what is said beside a candidate.
const ABOUT: usize = 60;

/// What stands in the line: the editor forgets it when the line is broken off.
pub(super) type Typed = Arc<Mutex<String>>;

/// Keeps what stands in the line.
pub(super) fn remember(typed: &Typed, line: &str) {
    line.clone_into(&mut typed.lock().unwrap_or_else(PoisonError::into_inner));
}

/// What stands in the line.
pub(super) fn recall(typed: &Typed) -> String {
    typed.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The editor's helper.
pub(super) struct EditorHelper {
    /// What can be completed.
    pub(super) sources: Arc<Sources>,
    pub(super) colored: bool,
    /// Called when the prompt is drawn for the first time in a line.
    pub(super) on_ready: Box<dyn Fn() + Send + Sync>,
    /// Closed when the line is about to end.
    pub(super) gate: Arc<Gate>,
    /// What stands in the line.
    pub(super) typed: Typed,
    /// The prompt of this line has not been drawn yet.
    pub(super) fresh: AtomicBool,
    /// Something was listed below the prompt.
    pub(super) listed: Arc<AtomicBool>,
    pub(super) history: HistoryHinter,
}

impl Helper for EditorHelper {}

impl Completer for EditorHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..pos).unwrap_or(line);
        let Some(found) = self.sources.complete(typed) else { return Ok((pos, Vec::new())) };
        let found = pairs(typed, found);
        if found.1.len() > 1 {
            // The editor may list them where our open rows stand.
            self.listed.store(true, Ordering::Relaxed);
        }
        Ok(found)
    }
}

/// Candidates as the editor takes them. It writes what all of them begin with and lists them.
fn pairs(typed: &str, found: Completion) -> (usize, Vec<Pair>) {
    let Completion { start, mut candidates, .. } = found;
    let word = typed.get(start..).unwrap_or_default();
    if candidates.iter().any(|candidate| candidate.begins) {
        candidates.retain(|candidate| candidate.begins);
    }
    let is_only = candidates.len() == 1;
    let pair = |candidate: Candidate| {
        let Candidate { text, label, about, begins, completes: _ } = candidate;
        let display =
            if about.is_empty() { label } else { format!("{label}  {}", one_line(&about, ABOUT)) };
        // What several begin with would take the place of the word by which they were found.
        let replacement = if begins || is_only { text } else { word.to_owned() };
        Pair { display, replacement }
    };
    (start, candidates.into_iter().map(pair).collect())
}

impl Hinter for EditorHelper {
    type Hint = String;

    fn hint(&self, line: &str, pos: usize, ctx: &Context<'_>) -> Option<String> {
        // A key that could have ended the line did not: the editor draws the line again.
        self.gate.open();
        remember(&self.typed, line);
        if pos < line.len() {
            return None;
        }
        match line.strip_prefix('/') {
            Some(command) => command_hint(command),
            None => self.history.hint(line, pos, ctx),
        }
    }
}

/// The rest of the only command that fits.
fn command_hint(typed: &str) -> Option<String> {
    if typed.is_empty() {
        return None;
    }
    let mut fits = slash::offered(Surface::Chat)
        .filter_map(|entry| entry.names.first())
        .filter(|name| name.starts_with(typed));
    let only = fits.next().filter(|_| fits.next().is_none())?;
    only.get(typed.len()..).filter(|rest| !rest.is_empty()).map(str::to_owned)
}

impl Highlighter for EditorHelper {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        // The editor asks for it each time it draws; the first time tells that it is in charge.
        if self.fresh.swap(false, Ordering::Relaxed) {
            self.gate.open();
            (self.on_ready)();
        }
        Cow::Owned(colors(self.colored).paint(Role::Accent, prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(colors(self.colored).paint(Role::Dim, hint))
    }
}

impl Validator for EditorHelper {
    fn validate(&self, ctx: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        if is_continued(ctx.input()) {
            return Ok(ValidationResult::Incomplete);
        }
        self.gate.close();
        Ok(ValidationResult::Valid(None))
    }
}

/// An odd number of backslashes at the end asks for another line.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Takes out the backslashes that only asked for another line.
pub(super) fn joined(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut lines = line.split('\n').peekable();
    while let Some(part) = lines.next() {
        let more = lines.peek().is_some();
        match part.strip_suffix('\\') {
            Some(kept) if more && is_continued(part) => text.push_str(kept),
            _ => text.push_str(part),
        }
        if more {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use agentd_shared::input::completion::{self, Vocabulary};

    use super::*;

    fn completed(typed: &str) -> (usize, Vec<(String, String)>) {
        let pair = |word: &str, about: &str| (word.to_owned(), about.to_owned());
        let known = Vocabulary {
            sessions: vec![pair("01JZA", "tax \u{1b}[2J"), pair("01KB", "trip")],
            files: vec!["src/state/a.rs".into(), "src/state/b.rs".into(), "src/main.rs".into()],
            choices: vec!["continue".into(), "stop".into()],
            ..Vocabulary::default()
        };
        let found = completion::complete(typed, true, Surface::Chat, &known).unwrap();
        let (start, pairs) = pairs(typed, found);
        (start, pairs.into_iter().map(|pair| (pair.display, pair.replacement)).collect())
    }

    #[test]
    fn what_begins_with_the_word_is_written_and_what_only_has_it_is_listed() {
        let check = |typed: &str, start: usize, expect: &[&str]| {
            let (at, pairs) = completed(typed);
            let got: Vec<&str> = pairs.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!((at, got.as_slice()), (start, expect), "{typed:?}");
        };
        check("/he", 0, &["/help"]);
        check("/st", 0, &["/status", "/stats", "/steer ", "/stop"]);
        check("/switch 01jz", 8, &["01JZA"]);
        check("/switch ", 8, &["01JZA", "01KB"]);
        check("/switch trip", 8, &["01KB"]);
        check("con", 0, &["continue"]);
        check("see @src/state", 4, &["@src/state/a.rs ", "@src/state/b.rs "]);
        check("see @state", 4, &["@state", "@state"]);
        check("see @main", 4, &["@src/main.rs "]);
    }

    #[test]
    fn what_is_listed_says_what_it_is_and_is_inert() {
        let (_, pairs) = completed("/switch 01J");
        assert_eq!(pairs[0].0, "01JZA  tax \\u{1b}[2J");
        let (_, pairs) = completed("/titl");
        assert_eq!(pairs[0].0, "/title [TEXT]  show or set the title");
    }

    #[test]
    fn a_hint_is_the_rest_of_the_only_command() {
        let check = |typed: &str, expect: Option<&str>| {
            assert_eq!(command_hint(typed).as_deref(), expect, "{typed:?}");
        };
        check("he", Some("lp"));
        check("st", None);
        check("help", None);
        check("", None);
        check("世", None);
    }

    #[test]
    fn a_backslash_at_the_end_asks_for_another_line_and_is_not_sent() {
        assert!(is_continued("a\\"));
        assert!(!is_continued("a\\\\"));
        assert!(!is_continued("a"));
        assert_eq!(joined("a\\\nb\\\nc"), "a\nb\nc");
        assert_eq!(joined("a\\\\\nb"), "a\\\\\nb");
        assert_eq!(joined("path\\"), "path\\");
    }
}
