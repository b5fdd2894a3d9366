//! What the line editor asks for: completions, hints, colours, and whether a line is complete.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agentd_shared::format::Role;
use agentd_shared::input::slash::{self, Completes, Surface};
use agentd_shared::text::one_line;
use agentd_shared::{EffortArg, ModeArg, WorkArg};
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use clap::ValueEnum;

use super::gate::Gate;
use crate::look::colors;

/// What can be completed now. The conversation writes it, the editor reads it.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    /// Ids and titles of sessions, the most recently used first.
    pub(super) sessions: Vec<(String, String)>,
    /// Names of models.
    pub(super) models: Vec<String>,
    /// Ids and previews of queued messages.
    pub(super) queue: Vec<(String, String)>,
    /// Choices of the open question.
    pub(super) choices: Vec<String>,
    /// Names and descriptions of tools.
    pub(super) tools: Vec<(String, String)>,
}

/// A vocabulary that both sides hold.
pub(super) type SharedVocabulary = Arc<Mutex<Vocabulary>>;

/// Reads the vocabulary. It is never locked while anything waits.
pub(super) fn with_vocabulary<T>(
    shared: &SharedVocabulary,
    read: impl FnOnce(&mut Vocabulary) -> T,
) -> T {
    read(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

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
    pub(super) vocabulary: SharedVocabulary,
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
        let found = with_vocabulary(&self.vocabulary, |vocabulary| complete(typed, vocabulary));
        if found.1.len() > 1 {
            // The editor may list them where our open rows stand.
            self.listed.store(true, Ordering::Relaxed);
        }
        Ok(found)
    }
}

/// Candidates for what was typed, and where they begin.
fn complete(typed: &str, vocabulary: &Vocabulary) -> (usize, Vec<Pair>) {
    let Some(command) = typed.strip_prefix('/') else { return choices(typed, vocabulary) };
    let Some((name, argument)) = command.split_once(' ') else {
        let names = slash::offered(Surface::Chat).flat_map(|entry| entry.names);
        let fits = names.filter(|name| name.starts_with(command));
        return (0, fits.map(|name| pair(&format!("/{name}"), &format!("/{name} "))).collect());
    };
    let start = typed.len() - argument.len();
    let begins = |text: &str| {
        text.get(..argument.len()).is_some_and(|head| head.eq_ignore_ascii_case(argument))
    };
    let described = |known: &[(String, String)]| {
        let fits = known.iter().filter(|(id, _)| begins(id));
        fits.map(|(id, about)| pair(&format!("{id}  {}", one_line(about, 40)), id)).collect()
    };
    let plain = |known: &[String]| {
        let fits = known.iter().filter(|word| begins(word));
        fits.map(|word| pair(&one_line(word, 60), &one_line(word, 200))).collect()
    };
    let completes = slash::find(name).map_or(Completes::Nothing, |entry| entry.completes);
    let candidates: Vec<Pair> = match completes {
        Completes::Nothing | Completes::Themes => Vec::new(),
        Completes::Sessions => described(&vocabulary.sessions),
        Completes::Models => plain(&vocabulary.models),
        Completes::Efforts => plain(&value_names::<EffortArg>()),
        Completes::Modes => plain(&value_names::<ModeArg>()),
        Completes::Works => plain(&value_names::<WorkArg>()),
        Completes::OnOff => plain(&["on".to_owned(), "off".to_owned()]),
        Completes::Queue => described(&vocabulary.queue),
        Completes::Tools => described(&vocabulary.tools),
        Completes::Choices => plain(&vocabulary.choices),
    };
    (start, candidates)
}

/// The values that can be asked for.
fn value_names<V: ValueEnum>() -> Vec<String> {
    let values = V::value_variants().iter().filter_map(V::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

fn choices(typed: &str, vocabulary: &Vocabulary) -> (usize, Vec<Pair>) {
    let fits = vocabulary.choices.iter().filter(|choice| choice.starts_with(typed));
    (0, fits.map(|choice| pair(&one_line(choice, 60), &one_line(choice, 200))).collect())
}

fn pair(display: &str, replacement: &str) -> Pair {
    Pair { display: display.to_owned(), replacement: replacement.to_owned() }
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
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary {
            sessions: vec![
                ("01JZA".into(), "tax \u{1b}[2J".into()),
                ("01KB".into(), "trip".into()),
            ],
            models: vec!["small".into(), "large".into()],
            queue: vec![("01Q".into(), "later".into())],
            choices: vec!["continue".into(), "stop".into()],
            tools: vec![("grep_files".into(), "Searches.".into())],
        }
    }

    #[test]
    fn commands_and_their_arguments_are_completed() {
        let check = |typed: &str, start: usize, expect: &[&str]| {
            let (at, pairs) = complete(typed, &vocabulary());
            let got: Vec<&str> = pairs.iter().map(|pair| pair.replacement.as_str()).collect();
            assert_eq!((at, got.as_slice()), (start, expect), "{typed:?}");
        };
        check("/he", 0, &["/help "]);
        check("/st", 0, &["/status ", "/stats ", "/steer ", "/stop "]);
        check("/switch 01jz", 8, &["01JZA"]);
        check("/switch ", 8, &["01JZA", "01KB"]);
        check("/model s", 7, &["small"]);
        check("/effort m", 8, &["minimal", "medium", "max"]);
        check("/reasoning o", 11, &["on", "off"]);
        check("/withdraw ", 10, &["01Q"]);
        check("/tools gr", 7, &["grep_files"]);
        check("/und", 0, &["/undo "]);
        check("/title x", 7, &[]);
        check("con", 0, &["continue"]);
        check("/switch 世", 8, &[]);
        let (_, pairs) = complete("/switch 01J", &vocabulary());
        assert_eq!(pairs[0].display, "01JZA  tax \\u{1b}[2J");
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
