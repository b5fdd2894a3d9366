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
    /// How much was looked through: the newest event, and entries.
    seen: (u64, usize),
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
            seen: (0, 0),
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
        self.seen = extent(open);
    }
}

fn extent(open: &OpenSession) -> (u64, usize) {
    (open.transcript.last_seq(), open.transcript.items().len())
}

/// Looks through what was read of earlier turns, too; the match that is shown stays.
pub(super) fn look_again(open: &mut OpenSession) {
    let Some(mut search) = open.search.take() else { return };
    let shown = search.matches.get(search.at).cloned();
    search.look(open);
    let same = shown.and_then(|shown| search.matches.iter().position(|found| found.is(&shown)));
    search.at = same.unwrap_or(search.matches.len().saturating_sub(1));
    open.search = Some(search);
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
    if search.seen != extent(open) || !open.transcript.live().is_empty() {
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

#[cfg(test)]
mod tests {
    use agentd_proto::v1;
    use agentd_proto::v1::event::Body;
    use agentd_shared::AttachEvent;
    use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::conn::Report;
    use crate::input::Input;
    use crate::state::Settings;
    use crate::view;

    struct Desk {
        state: State,
        terminal: Terminal<TestBackend>,
    }

    impl Desk {
        fn new(from_seq: u64, texts: &[String]) -> Self {
            let settings = Settings { bell: false, ..Settings::default() };
            let mut state = State::new(v1::Author::default(), settings);
            state.open_session("S");
            let stream = state.open.as_ref().unwrap().stream;
            let mut tell =
                |event| state.on(Input::Report(Report::Stream { stream, event: Some(event) }));
            tell(AttachEvent::Attached(v1::Attached { from_seq, ..v1::Attached::default() }));
            for (text, seq) in texts.iter().zip(from_seq..) {
                let message = v1::AssistantMessage {
                    item_id: format!("A{seq}"),
                    text: text.clone(),
                    ..v1::AssistantMessage::default()
                };
                let body = Some(Body::AssistantMessage(message));
                let event = v1::Event { seq, body, ..v1::Event::default() };
                tell(AttachEvent::Event(Box::new(event)));
            }
            tell(AttachEvent::CaughtUp { seq: 1 });
            let mut desk =
                Self { state, terminal: Terminal::new(TestBackend::new(40, 12)).unwrap() };
            desk.screen();
            desk
        }

        fn screen(&mut self) -> String {
            self.terminal.draw(|frame| view::draw(frame, &mut self.state)).unwrap();
            self.terminal.backend().to_string()
        }

        fn keys(&mut self, keys: &[(KeyCode, KeyModifiers)]) -> Vec<Effect> {
            let mut effects = Vec::new();
            for (code, modifiers) in keys {
                effects.extend(self.state.on(Input::Key(KeyEvent::new(*code, *modifiers))));
                self.screen();
            }
            effects
        }

        fn types(&mut self, text: &str) {
            for letter in text.chars() {
                self.keys(&[(KeyCode::Char(letter), KeyModifiers::NONE)]);
            }
        }

        fn position(&self) -> (usize, usize) {
            self.state.open.as_ref().unwrap().search.as_ref().unwrap().position()
        }

        fn mouse(&mut self, kind: MouseEventKind, row: u16) -> Vec<Effect> {
            let modifiers = KeyModifiers::NONE;
            self.state.on(Input::Mouse(MouseEvent { kind, column: 3, row, modifiers }))
        }
    }

    const FIND: (KeyCode, KeyModifiers) = (KeyCode::Char('f'), KeyModifiers::CONTROL);
    const ENTER: (KeyCode, KeyModifiers) = (KeyCode::Enter, KeyModifiers::NONE);
    const ESC: (KeyCode, KeyModifiers) = (KeyCode::Esc, KeyModifiers::NONE);

    fn texts() -> Vec<String> {
        (0..60)
            .map(|n| if n % 20 == 5 { format!("a Needle {n}") } else { format!("hay {n}") })
            .collect()
    }

    #[test]
    fn matches_are_found_while_it_is_typed_and_walked_and_left() {
        let mut desk = Desk::new(1, &texts());
        let before = desk.screen();
        desk.keys(&[FIND]);
        desk.types("needle");
        assert_eq!(desk.position(), (3, 3));
        assert!(desk.screen().contains("a Needle 45"));
        desk.keys(&[ENTER]);
        desk.types("N");
        assert_eq!(desk.position(), (2, 3));
        let screen = desk.screen();
        assert!(screen.contains("a Needle 25") && screen.contains("/needle  2/3"), "{screen}");
        desk.types("nn");
        assert_eq!(desk.position(), (1, 3));
        assert!(desk.screen().contains("a Needle 5"));
        desk.keys(&[ESC]);
        assert_eq!(desk.screen(), before);
        desk.keys(&[FIND]);
        desk.types("NEEDLE");
        assert_eq!(desk.position(), (0, 0), "capital letters are meant");
    }

    #[test]
    fn what_is_not_loaded_is_told_and_loaded_on_demand() {
        let mut desk = Desk::new(1_000, &texts());
        desk.keys(&[FIND]);
        assert!(desk.screen().contains("not loaded"), "{}", desk.screen());
        let effects = desk.keys(&[(KeyCode::Char('a'), KeyModifiers::ALT)]);
        let is_all = |effect: &Effect| {
            matches!(
                effect,
                Effect::Attach { position: agentd_shared::AttachPosition::FromSeq(1), .. }
            )
        };
        assert!(effects.iter().any(is_all), "{effects:?}");
        assert!(desk.screen().contains("being read"));
    }

    #[test]
    fn rows_are_copied_with_the_mouse_and_entries_with_a_key() {
        let mut desk = Desk::new(1, &texts());
        let left = MouseButton::Left;
        // The last rows of the window are "", "● hay 58", "", "● hay 59".
        desk.mouse(MouseEventKind::Down(left), 7);
        desk.mouse(MouseEventKind::Drag(left), 9);
        let copied = desk.mouse(MouseEventKind::Up(left), 9);
        assert_eq!(copied, [Effect::Copy("hay 58\n\nhay 59".into())], "{}", desk.screen());
        assert!(desk.state.open.as_ref().unwrap().document.follows());
        let back = (KeyCode::Char('k'), KeyModifiers::ALT);
        let copied = desk.keys(&[back, back, (KeyCode::Char('y'), KeyModifiers::NONE)]);
        assert_eq!(copied, [Effect::Copy("hay 58".into())]);
        desk.keys(&[ESC]);
        desk.types("y");
        assert_eq!(desk.state.composer.text(), "y");
    }
}
