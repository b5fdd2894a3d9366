//! What completes the word before the cursor: commands, their arguments, files.
//!
//! It is pure: a client says what there is ([`Vocabulary`]), [`source`] tells what a word needs that the
//! client may have to ask for first, and [`complete`] what can stand in its place.

use crate::format::names::{EFFORTS, PERMISSION_MODES, WORK_MODES, names_of};
use crate::input::fit::fit;
use crate::input::slash::{self, Completes, Surface};
use crate::text::{one_line, sanitize};

/// Lines that are offered at most.
const MOST: usize = 50;
/// Columns of what is written, and of what stands beside it.
const LABEL: usize = 60;
const ABOUT: usize = 120;
/// Columns of a file's name.
const FILE: usize = 200;
/// Words of a memory by which it is found again.
const WORDS: usize = 8;

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
    /// Ids and texts of memories.
    pub memories: Vec<(String, String)>,
    /// Files of the workspace, relative to it.
    pub files: Vec<String>,
    /// Names of themes.
    pub themes: &'static [&'static str],
}

/// What a word wants that a client may not know yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Names of models.
    Models,
    /// Names of tools.
    Tools,
    /// Files of the workspace.
    Files,
    /// Sessions.
    Sessions,
    /// Memories.
    Memories,
}

/// Something that can stand in place of the word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What is written; inert.
    pub text: String,
    /// What is shown of it; inert.
    pub label: String,
    /// What it is; inert.
    pub about: String,
    /// With it the line is a whole command.
    pub completes: bool,
    /// It begins with what is typed.
    pub begins: bool,
}

/// What can stand in place of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Where the word begins, in bytes.
    pub start: usize,
    /// What can stand there, the best first.
    pub candidates: Vec<Candidate>,
    /// What is typed points to the first of them. It does not where nothing is typed, or where any words
    /// are good.
    pub points: bool,
}

/// The source that the word before the cursor wants. `is_first_line`: a command can stand there.
pub fn source(before: &str, is_first_line: bool) -> Option<Source> {
    if file_word(before).is_some() {
        return Some(Source::Files);
    }
    let (name, _) = before.strip_prefix('/').filter(|_| is_first_line)?.split_once(' ')?;
    match slash::find(name)?.completes {
        Completes::Models => Some(Source::Models),
        Completes::Tools => Some(Source::Tools),
        Completes::Sessions => Some(Source::Sessions),
        Completes::Memories => Some(Source::Memories),
        Completes::Nothing
        | Completes::Efforts
        | Completes::Modes
        | Completes::Works
        | Completes::OnOff
        | Completes::Queue
        | Completes::Choices
        | Completes::Themes => None,
    }
}

/// What can stand for the word before the cursor; none when nothing fits, or it stands there already.
pub fn complete(
    before: &str,
    is_first_line: bool,
    surface: Surface,
    known: &Vocabulary,
) -> Option<Completion> {
    let (start, candidates, points) = if let Some((start, typed)) = file_word(before) {
        (start, files(typed, &known.files), !typed.is_empty())
    } else if let Some(command) = before.strip_prefix('/').filter(|_| is_first_line) {
        match command.split_once(' ') {
            None => (0, commands(command, surface), true),
            Some((name, argument)) => {
                let completes = slash::find(name)?.completes;
                let points = !argument.is_empty() && completes != Completes::Memories;
                let start = before.len() - argument.len();
                (start, arguments(completes, argument, known), points)
            }
        }
    } else if is_first_line && surface == Surface::Chat {
        // Not where a key takes what is offered: a line that is sent would become another one.
        (0, choices(before, &known.choices), !before.is_empty())
    } else {
        return None;
    };
    let typed = before.get(start..)?;
    let is_there = candidates.iter().all(|candidate| candidate.text.trim_end() == typed);
    (!is_there).then_some(Completion { start, candidates, points })
}

/// A word that begins with `@`: where, and what follows.
fn file_word(before: &str) -> Option<(usize, &str)> {
    let start = before
        .char_indices()
        .rev()
        .find(|(_, letter)| letter.is_whitespace())
        .map_or(0, |(at, space)| at + space.len_utf8());
    Some((start, before.get(start..)?.strip_prefix('@')?))
}

fn commands(typed: &str, surface: Surface) -> Vec<Candidate> {
    let mut begun = Vec::new();
    let mut near = Vec::new();
    for entry in slash::offered(surface) {
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
            begins: name.is_some(),
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

fn arguments(completes: Completes, typed: &str, known: &Vocabulary) -> Vec<Candidate> {
    match completes {
        Completes::Nothing => Vec::new(),
        Completes::Sessions => fitting(typed, pairs(&known.sessions)),
        Completes::Models => fitting(typed, words(&known.models)),
        Completes::Efforts => fitting(typed, words(&names_of(&EFFORTS))),
        Completes::Modes => fitting(typed, words(&names_of(&PERMISSION_MODES))),
        Completes::Works => fitting(typed, words(&names_of(&WORK_MODES))),
        Completes::OnOff => fitting(typed, words(&["on", "off"])),
        Completes::Queue => fitting(typed, pairs(&known.queue)),
        Completes::Choices => fitting(typed, words(&known.choices)),
        Completes::Themes => fitting(typed, words(known.themes)),
        Completes::Tools => fitting(typed, pairs(&known.tools)),
        Completes::Memories => {
            let found_by = known.memories.iter().map(|(id, text)| (beginning(text), id.as_str()));
            fitting(typed, found_by)
        }
    }
}

fn words<T: AsRef<str>>(all: &[T]) -> impl Iterator<Item = (String, &str)> {
    all.iter().map(|word| (word.as_ref().to_owned(), ""))
}

fn pairs(all: &[(String, String)]) -> impl Iterator<Item = (String, &str)> {
    all.iter().map(|(word, about)| (word.clone(), about.as_str()))
}

/// The first words of a text.
fn beginning(text: &str) -> String {
    text.split_whitespace().take(WORDS).collect::<Vec<_>>().join(" ")
}

/// The words that fit what is typed, by themselves or by what is said of them, the best first.
fn fitting<'a>(typed: &str, all: impl Iterator<Item = (String, &'a str)>) -> Vec<Candidate> {
    let mut fits: Vec<(usize, String, &str)> = all
        .filter(|(word, _)| is_written(word))
        .filter_map(|(word, about)| {
            let score = fit(typed, &word).map(|score| score + 1).or_else(|| fit(typed, about))?;
            Some((score, word, about))
        })
        .collect();
    fits.sort_by_key(|(score, _, _)| std::cmp::Reverse(*score));
    let candidate = |(_, word, about): (usize, String, &str)| Candidate {
        label: one_line(&word, LABEL),
        about: one_line(about, ABOUT),
        completes: true,
        begins: begins(typed, &word),
        text: word,
    };
    fits.into_iter().take(MOST).map(candidate).collect()
}

fn files(typed: &str, known: &[String]) -> Vec<Candidate> {
    let known = known.iter().filter(|file| is_written(file));
    let mut fits: Vec<(usize, &String)> =
        known.filter_map(|file| Some((fit(typed, file)?, file))).collect();
    fits.sort_by_key(|(score, file)| (std::cmp::Reverse(*score), file.len()));
    let candidate = |(_, file): (usize, &String)| Candidate {
        text: format!("@{file} "),
        label: one_line(file, FILE),
        about: String::new(),
        completes: false,
        begins: begins(typed, file),
    };
    fits.into_iter().take(MOST).map(candidate).collect()
}

/// Choices of the open question that a line begins.
fn choices(typed: &str, known: &[String]) -> Vec<Candidate> {
    let known = known.iter().filter(|choice| is_written(choice) && begins(typed, choice));
    let candidate = |choice: &String| Candidate {
        text: choice.clone(),
        label: one_line(choice, LABEL),
        about: String::new(),
        completes: true,
        begins: true,
    };
    known.take(MOST).map(candidate).collect()
}

/// Whether a word can be written as it is: others have made it, and an escape in it would reach the
/// terminal, or be another word once it was made inert.
fn is_written(word: &str) -> bool {
    !word.contains(['\n', '\t']) && sanitize(word) == word
}

fn begins(typed: &str, word: &str) -> bool {
    word.get(..typed.len()).is_some_and(|head| head.eq_ignore_ascii_case(typed))
}

#[cfg(test)]
mod tests;
