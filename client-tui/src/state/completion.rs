//! What completes the word before the cursor: commands, their arguments, files.

use agentd_shared::format::names::{EFFORTS, PERMISSION_MODES, WORK_MODES};
use agentd_shared::input::slash::{self, Completes, Surface};
use agentd_shared::text::one_line;

use super::overlay::fit;
use crate::theme::Theme;

/// Lines that are offered at most.
const MOST: usize = 50;

/// What there is to choose from.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Ids and titles of sessions, the most recently used first.
    pub sessions: Vec<(String, String)>,
    /// Names of models.
    pub models: Vec<String>,
    /// Ids and beginnings of queued messages.
    pub queue: Vec<(String, String)>,
    /// Choices of the open question.
    pub choices: Vec<String>,
    /// Names of tools and what they do.
    pub tools: Vec<(String, String)>,
    /// Files of the workspace, relative to it.
    pub files: Vec<String>,
}

/// Something that can stand in place of the word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What is written.
    pub text: String,
    /// What is shown of it.
    pub label: String,
    /// What it is.
    pub about: String,
    /// With it the line is a whole command.
    pub completes: bool,
}

/// What is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    /// Column of the word's beginning, in characters.
    pub start: usize,
    /// What can stand in its place, the best first.
    pub candidates: Vec<Candidate>,
    /// Which is chosen; none when nothing was typed that points to one.
    pub chosen: Option<usize>,
}

/// What a word wants that may not be known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Names of models.
    Models,
    /// Names of tools.
    Tools,
    /// Files of the workspace.
    Files,
    /// Sessions.
    Sessions,
}

impl Popup {
    /// Moves the choice, around at the ends.
    pub fn step(&mut self, back: bool) {
        let count = self.candidates.len();
        self.chosen = match (self.chosen, back) {
            (None, false) => Some(0),
            (None, true) => count.checked_sub(1),
            (Some(at), false) => Some((at + 1) % count.max(1)),
            (Some(at), true) => Some((at + count - 1) % count.max(1)),
        };
    }

    /// What is chosen, if not the first.
    pub fn pick(&self) -> Option<&Candidate> {
        self.candidates.get(self.chosen.unwrap_or(0))
    }
}

/// The source that the word before the cursor wants.
pub(super) fn source(before: &str, is_first_line: bool) -> Option<Source> {
    if file_word(before).is_some() {
        return Some(Source::Files);
    }
    let (name, _) = before.strip_prefix('/').filter(|_| is_first_line)?.split_once(' ')?;
    match slash::find(name)?.completes {
        Completes::Models => Some(Source::Models),
        Completes::Tools => Some(Source::Tools),
        Completes::Sessions => Some(Source::Sessions),
        _ => None,
    }
}

/// What can stand for the word before the cursor; none when nothing fits, or it stands there already.
pub(super) fn complete(before: &str, is_first_line: bool, known: &Vocabulary) -> Option<Popup> {
    let (start, typed, candidates) = if let Some((start, typed)) = file_word(before) {
        (start, typed, files(typed, &known.files))
    } else {
        let command = before.strip_prefix('/').filter(|_| is_first_line)?;
        match command.split_once(' ') {
            None => (0, before, commands(command)),
            Some((name, argument)) => {
                let start = before.chars().count() - argument.chars().count();
                (start, argument, arguments(name, argument, known))
            }
        }
    };
    let is_there = candidates.iter().all(|candidate| candidate.text.trim_end() == typed);
    if is_there {
        return None;
    }
    let chosen = (!typed.is_empty()).then_some(0);
    Some(Popup { start, candidates, chosen })
}

/// A word that begins with `@`: its column and what follows.
fn file_word(before: &str) -> Option<(usize, &str)> {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    });
    let word = before.get(start..)?.strip_prefix('@')?;
    Some((before.get(..start)?.chars().count(), word))
}

fn commands(typed: &str) -> Vec<Candidate> {
    let mut begun = Vec::new();
    let mut near = Vec::new();
    for entry in slash::offered(Surface::FullScreen) {
        let Some(first) = entry.names.first() else { continue };
        // A name that was begun stays the one that is written.
        let name = entry.names.iter().find(|name| name.starts_with(typed));
        let score = fit(typed, first);
        let written = name.unwrap_or(first);
        let space = if entry.argument.is_empty() { "" } else { " " };
        let candidate = Candidate {
            text: format!("/{written}{space}"),
            label: format!("/{written} {}", entry.argument).trim_end().to_owned(),
            about: entry.about.to_owned(),
            completes: entry.argument.is_empty() || entry.argument.starts_with('['),
        };
        match (name, score) {
            (Some(_), _) => begun.push(candidate),
            (None, Some(score)) => near.push((score, candidate)),
            (None, None) => {}
        }
    }
    near.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    begun.into_iter().chain(near.into_iter().map(|(_, candidate)| candidate)).collect()
}

fn arguments(name: &str, typed: &str, known: &Vocabulary) -> Vec<Candidate> {
    let words = |words: &[&str]| -> Vec<(String, String)> {
        words.iter().map(|word| ((*word).to_owned(), String::new())).collect()
    };
    let plain = |words: &[String]| -> Vec<(String, String)> {
        words.iter().map(|word| (word.clone(), String::new())).collect()
    };
    let all = match slash::find(name).map_or(Completes::Nothing, |entry| entry.completes) {
        Completes::Nothing => Vec::new(),
        Completes::Sessions => known.sessions.clone(),
        Completes::Models => plain(&known.models),
        Completes::Efforts => words(&names_of(&EFFORTS)),
        Completes::Modes => words(&names_of(&PERMISSION_MODES)),
        Completes::Works => words(&names_of(&WORK_MODES)),
        Completes::OnOff => words(&["on", "off"]),
        Completes::Queue => known.queue.clone(),
        Completes::Choices => plain(&known.choices),
        Completes::Themes => words(&Theme::NAMES),
        Completes::Tools => known.tools.clone(),
    };
    let mut fits: Vec<(usize, (String, String))> = all
        .into_iter()
        .filter_map(|(word, about)| {
            let score = fit(typed, &word).map(|score| score + 1).or_else(|| fit(typed, &about))?;
            Some((score, (word, about)))
        })
        .collect();
    fits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let fits = fits.into_iter().take(MOST).map(|(_, (word, about))| Candidate {
        label: one_line(&word, 60),
        about: one_line(&about, 120),
        text: word,
        completes: true,
    });
    fits.collect()
}

/// The names of a table.
pub(super) fn names_of<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(name, _)| *name).collect()
}

fn files(typed: &str, known: &[String]) -> Vec<Candidate> {
    let mut fits: Vec<(usize, &String)> =
        known.iter().filter_map(|file| Some((fit(typed, file)?, file))).collect();
    fits.sort_by_key(|(score, file)| (std::cmp::Reverse(*score), file.len()));
    let fits = fits.into_iter().take(MOST).map(|(_, file)| Candidate {
        text: format!("@{file} "),
        label: one_line(file, 200),
        about: String::new(),
        completes: false,
    });
    fits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary {
            sessions: vec![
                ("01JZA".into(), "tax \u{1b}[2J".into()),
                ("01KB".into(), "trip to 世界".into()),
            ],
            models: vec!["small".into(), "large".into()],
            queue: vec![("01Q".into(), "later".into())],
            choices: vec!["continue".into(), "stop".into()],
            tools: vec![("grep_files".into(), "Searches.".into())],
            files: vec!["src/main.rs".into(), "README.md".into(), "src/state/main.rs".into()],
        }
    }

    fn texts(typed: &str) -> (usize, Vec<String>) {
        let popup = complete(typed, true, &vocabulary());
        let texts = popup.iter().flat_map(|it| &it.candidates).map(|it| it.text.clone());
        (popup.as_ref().map_or(0, |it| it.start), texts.collect())
    }

    #[test]
    fn commands_arguments_and_files_are_completed() {
        let check = |typed: &str, start: usize, expect: &[&str]| {
            let (at, got) = texts(typed);
            assert_eq!(
                (at, got.get(..expect.len().min(got.len())).unwrap()),
                (start, expect.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>().as_slice()),
                "{typed:?}"
            );
            assert_eq!(got.is_empty(), expect.is_empty(), "{typed:?}: {got:?}");
        };
        check("/sta", 0, &["/status", "/stats"]);
        check("/help", 0, &[]);
        check("/titl", 0, &["/title "]);
        check("/title", 0, &[]);
        check("/switch 01jz", 8, &["01JZA"]);
        check("/switch 世", 8, &["01KB"]);
        check("/model la", 7, &["large"]);
        check("/effort m", 8, &["minimal", "medium", "max"]);
        check("/withdraw ", 10, &["01Q"]);
        check("/tools gr", 7, &["grep_files"]);
        check("/title x", 0, &[]);
        check("look at @REA", 8, &["@README.md "]);
        check("世 @main", 2, &["@src/main.rs ", "@src/state/main.rs "]);
        check("mail a@b", 0, &[]);
        check("hello", 0, &[]);
        assert_eq!(complete("/he", false, &vocabulary()), None, "only the first line commands");
    }

    #[test]
    fn nothing_is_chosen_before_something_is_typed() {
        let popup = |typed: &str| complete(typed, true, &vocabulary()).unwrap();
        assert_eq!(popup("/model ").chosen, None);
        assert_eq!(popup("/model l").chosen, Some(0));
        let mut all = popup("/effort ");
        all.step(true);
        assert_eq!(all.chosen, Some(6));
        all.step(false);
        assert_eq!(all.chosen, Some(0));
    }

    #[test]
    fn what_others_have_named_is_inert_where_it_is_shown() {
        let popup = complete("/switch 01JZ", true, &vocabulary()).unwrap();
        assert_eq!(popup.candidates[0].about, "tax \\u{1b}[2J");
    }

    #[test]
    fn what_a_word_wants_is_told_so_that_it_can_be_fetched() {
        let check = |typed: &str, expect: Option<Source>| {
            assert_eq!(source(typed, true), expect, "{typed:?}");
        };
        check("/model ", Some(Source::Models));
        check("/tools x", Some(Source::Tools));
        check("see @", Some(Source::Files));
        check("/effort ", None);
        check("hello", None);
    }
}
