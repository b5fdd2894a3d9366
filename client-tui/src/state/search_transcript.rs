//! Looking for a text in the transcript: while it is typed, then from match to match.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use regex::{Regex, RegexBuilder};

use super::{Effect, OpenSession, State};
use crate::document::{Direction, Document, Match};

/// Characters of what is looked for.
const LONGEST: usize = 200;

/// A search in the transcript of the open session.
#[derive(Debug)]
pub struct Search {
    /// What is looked for.
    pub query: String,
    /// It is still being typed.
    pub types: bool,
    /// Where the reader was.
    before: Box<Document>,
    regex: Option<Regex>,
    matches: Vec<Match>,
    at: usize,
    /// The newest event that was looked through.
    seen: u64,
}

impl Search {
    fn new(document: &Document) -> Self {
        Self {
            query: String::new(),
            types: true,
            before: Box::new(document.bookmark()),
            regex: None,
            matches: Vec::new(),
            at: 0,
            seen: 0,
        }
    }

    /// Which match is shown, and how many there are.
    pub fn position(&self) -> (usize, usize) {
        let at = if self.matches.is_empty() { 0 } else { self.at + 1 };
        (at, self.matches.len())
    }

    fn look(&mut self, open: &OpenSession) {
        self.regex = pattern(&self.query);
        self.matches = match &self.regex {
            Some(regex) => open.document.matches(&open.transcript, regex),
            None => Vec::new(),
        };
        self.seen = open.transcript.last_seq();
    }
}

/// A text without capital letters stands for capital letters too.
fn pattern(query: &str) -> Option<Regex> {
    if query.is_empty() {
        return None;
    }
    let small = !query.chars().any(char::is_uppercase);
    RegexBuilder::new(&regex::escape(query)).case_insensitive(small).build().ok()
}

impl State {
    /// Begins to look for a text, or goes on typing it.
    pub(super) fn begin_search(&mut self) {
        let Some(open) = &mut self.open else { return };
        match &mut open.search {
            Some(search) => search.types = true,
            None => open.search = Some(Search::new(&open.document)),
        }
    }

    /// Whether keys go to the search.
    pub(super) fn is_searching(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.search.is_some())
    }

    /// Takes a key; `None` when it ends the search and means something else.
    pub(super) fn search_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        let open = self.open.as_mut()?;
        let search = open.search.as_mut()?;
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let plain = !alt && !key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => {
                if let Some(search) = open.search.take() {
                    open.document.set_wanted(None);
                    open.document.return_to(*search.before);
                }
            }
            KeyCode::Char('a') if alt => {
                let stream = self.next_stream();
                let open = self.open.as_mut()?;
                let Some(position) = open.read_all(stream) else { return Some(Vec::new()) };
                let session_id = open.session_id.clone();
                return Some(vec![Effect::Attach { stream, session_id, position }]);
            }
            KeyCode::Enter if search.types => search.types = false,
            KeyCode::Enter => {
                open.search = None;
                open.document.set_wanted(None);
            }
            KeyCode::Down => step(open, Direction::Forward),
            KeyCode::Up => step(open, Direction::Back),
            KeyCode::Backspace if search.types => {
                search.query.pop();
                first(open);
            }
            KeyCode::Char('u') if search.types && !plain && !alt => {
                search.query.clear();
                first(open);
            }
            KeyCode::Char(letter) if search.types && plain => {
                if search.query.chars().count() < LONGEST {
                    search.query.push(letter);
                }
                first(open);
            }
            KeyCode::Char('n') if plain => step(open, Direction::Forward),
            KeyCode::Char('N') if plain => step(open, Direction::Back),
            KeyCode::Char('/') if plain => search.types = true,
            KeyCode::PageUp | KeyCode::PageDown | KeyCode::Home | KeyCode::End => return None,
            _ if search.types => {}
            _ => {
                open.search = None;
                open.document.set_wanted(None);
                return None;
            }
        }
        Some(Vec::new())
    }

    /// Takes a pasted text.
    pub(super) fn search_paste(&mut self, text: &str) {
        let Some(open) = &mut self.open else { return };
        let Some(search) = &mut open.search else { return };
        let room = LONGEST.saturating_sub(search.query.chars().count());
        search.query.extend(text.lines().next().unwrap_or_default().chars().take(room));
        first(open);
    }
}

/// Looks anew and shows the match that is nearest to where the reader was, seen from the end.
fn first(open: &mut OpenSession) {
    let Some(mut search) = open.search.take() else { return };
    search.look(open);
    open.document.return_to(search.before.bookmark());
    open.document.set_wanted(search.regex.clone());
    let height = open.height;
    let follows = open.document.follows();
    let below = search
        .matches
        .iter()
        .position(|found| !follows && !open.document.is_above(&open.transcript, found, height));
    search.at = below.unwrap_or(search.matches.len().saturating_sub(1));
    show(open, &search);
    open.search = Some(search);
}

fn step(open: &mut OpenSession, direction: Direction) {
    let Some(mut search) = open.search.take() else { return };
    if search.seen != open.transcript.last_seq() || !open.transcript.live().is_empty() {
        search.look(open);
    }
    let count = search.matches.len();
    if count > 0 {
        search.at = match direction {
            Direction::Forward => (search.at + 1) % count,
            Direction::Back => (search.at + count - 1) % count,
        };
    }
    show(open, &search);
    open.search = Some(search);
}

fn show(open: &mut OpenSession, search: &Search) {
    if let (Some(found), Some(regex)) = (search.matches.get(search.at), &search.regex) {
        open.document.show_match(&open.transcript, found, regex, open.height);
    }
}
