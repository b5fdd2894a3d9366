//! The sessions that there are, as the daemon tells of them: what waits for a person first.

use agentd_proto::v1;
use agentd_shared::{Attention, BoardChange, SessionBoard, WatchEvent, is_unread};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::LineEdit;

/// What a session is doing, as a list tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It waits for an answer.
    Waits,
    /// A turn runs.
    Runs,
    /// Messages wait for a turn.
    Queued(u32),
    /// Something has happened that no terminal has shown.
    Unread,
    /// Nothing.
    Idle,
}

impl Doing {
    fn of(summary: &v1::SessionSummary) -> Self {
        let queued = summary.session.as_ref().map_or(0, |session| session.queued_messages);
        let runs = |session: &v1::Session| session.status() == v1::SessionStatus::Running;
        match Attention::of(summary) {
            Attention::Waits => Self::Waits,
            Attention::Runs if queued > 0 && !summary.session.as_ref().is_some_and(runs) => {
                Self::Queued(queued)
            }
            Attention::Runs => Self::Runs,
            Attention::Unread => Self::Unread,
            Attention::Rests => Self::Idle,
        }
    }
}

/// A line of the list.
#[derive(Debug, Clone, Copy)]
pub struct Row<'l> {
    /// The session.
    pub session: &'l v1::Session,
    /// What it is doing.
    pub doing: Doing,
}

/// What is asked while the list is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Another title for this session.
    Rename {
        /// ULID.
        session_id: String,
        /// The title so far.
        title: LineEdit,
    },
    /// Whether this session may be deleted.
    Delete {
        /// ULID.
        session_id: String,
    },
    /// Words to look for.
    Filter,
}

/// What a key in the list asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Nothing more.
    Nothing,
    /// Open this session.
    Open(String),
    /// Begin a new one.
    New,
    /// Give this session another title.
    Rename(String, String),
    /// Delete this session.
    Delete(String),
    /// Leave the list.
    Leave,
}

/// What the list shows.
#[derive(Debug, Default)]
pub struct SessionList {
    board: SessionBoard,
    /// All of them in their order.
    ordered: Vec<v1::Session>,
    doing: Vec<Doing>,
    /// Which are shown.
    shown: Vec<usize>,
    /// The line that is chosen.
    pub selected: usize,
    /// Keys go to the list.
    pub has_keys: bool,
    /// What is looked for; empty: nothing.
    pub filter: LineEdit,
    /// What is asked.
    pub asked: Option<Asked>,
    /// The stream of sessions is lost at the moment.
    pub is_lost: bool,
}

impl SessionList {
    /// Takes what the daemon tells of all sessions.
    pub fn on_watch(&mut self, event: &WatchEvent) {
        match event {
            WatchEvent::Lost { .. } | WatchEvent::Failed(_) => self.is_lost = true,
            WatchEvent::Restored | WatchEvent::Snapshot(_) => self.is_lost = false,
            WatchEvent::Changed(_) | WatchEvent::Deleted { .. } => {}
        }
        if self.board.apply(event) != BoardChange::Nothing {
            self.sort();
        }
    }

    /// Takes all of them anew, from a daemon that cannot be followed.
    pub fn set(&mut self, sessions: Vec<v1::Session>) {
        let sessions = sessions.into_iter().map(as_read).collect();
        let snapshot = v1::SessionSnapshot { sessions, more: false };
        self.board.apply(&WatchEvent::Snapshot(snapshot));
        self.sort();
    }

    /// Takes what is new of one.
    pub fn update(&mut self, session: v1::Session) {
        let read_seq = self.board.get(&session.session_id).map(|known| known.read_seq);
        let mut summary = as_read(session);
        summary.read_seq = read_seq.unwrap_or(summary.read_seq);
        self.board.apply(&WatchEvent::Changed(Box::new(summary)));
        self.sort();
    }

    /// Forgets one.
    pub fn remove(&mut self, session_id: &str) {
        self.board.apply(&WatchEvent::Deleted { session_id: session_id.to_owned() });
        self.sort();
    }

    /// All of them.
    pub fn all(&self) -> &[v1::Session] {
        &self.ordered
    }

    /// One of them.
    pub fn get(&self, session_id: &str) -> Option<&v1::Session> {
        self.board.get(session_id).and_then(|summary| summary.session.as_ref())
    }

    /// Whether something has happened in a session that no terminal has shown.
    pub fn is_unread(&self, session_id: &str) -> bool {
        self.board.get(session_id).is_some_and(is_unread)
    }

    /// How many others wait for somebody.
    pub fn waiting_beside(&self, session_id: Option<&str>) -> usize {
        let rows = self.ordered.iter().zip(&self.doing);
        rows.filter(|(session, doing)| {
            **doing == Doing::Waits && Some(session.session_id.as_str()) != session_id
        })
        .count()
    }

    /// The lines that are shown.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> + DoubleEndedIterator {
        static NONE: std::sync::LazyLock<v1::Session> = std::sync::LazyLock::new(Default::default);
        self.shown.iter().map(|index| Row {
            session: self.ordered.get(*index).unwrap_or(&NONE),
            doing: self.doing.get(*index).copied().unwrap_or(Doing::Idle),
        })
    }

    /// Whether a turn of some session runs.
    pub fn any_runs(&self) -> bool {
        self.doing.contains(&Doing::Runs)
    }

    /// Moves the choice up or, if negative, down.
    pub(super) fn move_choice(&mut self, up: isize) {
        let last = self.shown.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(-up).min(last);
    }

    /// Whether anything is known yet.
    pub fn is_known(&self) -> bool {
        self.board.is_filled()
    }

    /// Chooses the line of a session, if it is shown.
    pub fn select(&mut self, session_id: &str) {
        let at = self.rows().position(|row| row.session.session_id == session_id);
        if let Some(at) = at {
            self.selected = at;
        }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Wish {
        match self.asked.take() {
            Some(Asked::Rename { session_id, mut title }) => match key.code {
                KeyCode::Enter if title.text().trim().is_empty() => Wish::Nothing,
                KeyCode::Enter => Wish::Rename(session_id, title.text().trim().to_owned()),
                KeyCode::Esc => Wish::Nothing,
                _ => {
                    title.key(key);
                    self.asked = Some(Asked::Rename { session_id, title });
                    Wish::Nothing
                }
            },
            Some(Asked::Delete { session_id }) => match key.code {
                KeyCode::Char('y' | 'Y') => Wish::Delete(session_id),
                _ => Wish::Nothing,
            },
            Some(Asked::Filter) => {
                match key.code {
                    KeyCode::Enter | KeyCode::Down | KeyCode::Up => {}
                    KeyCode::Esc => self.filter = LineEdit::default(),
                    _ => {
                        self.filter.key(key);
                        self.asked = Some(Asked::Filter);
                    }
                }
                self.sift();
                Wish::Nothing
            }
            None => self.plain_key(key),
        }
    }

    fn plain_key(&mut self, key: KeyEvent) -> Wish {
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Wish::Nothing;
        }
        let last = self.shown.len().saturating_sub(1);
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.selected = (self.selected + 1).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(10),
            KeyCode::PageDown => self.selected = (self.selected + 10).min(last),
            KeyCode::Home | KeyCode::Char('g') => self.selected = 0,
            KeyCode::End | KeyCode::Char('G') => self.selected = last,
            KeyCode::Enter => {
                return self
                    .chosen()
                    .map_or(Wish::Nothing, |session| Wish::Open(session.session_id.clone()));
            }
            KeyCode::Char('n') => return Wish::New,
            KeyCode::Char('r') => {
                self.asked = self.chosen().map(|session| Asked::Rename {
                    session_id: session.session_id.clone(),
                    title: LineEdit::new(&session.title),
                });
            }
            KeyCode::Char('D') | KeyCode::Delete => {
                self.asked = self
                    .chosen()
                    .map(|session| Asked::Delete { session_id: session.session_id.clone() });
            }
            KeyCode::Char('/') => self.asked = Some(Asked::Filter),
            KeyCode::Esc if !self.filter.is_empty() => {
                self.filter = LineEdit::default();
                self.sift();
            }
            KeyCode::Esc | KeyCode::Char('q') => return Wish::Leave,
            _ => {}
        }
        Wish::Nothing
    }

    fn chosen(&self) -> Option<&v1::Session> {
        self.ordered.get(*self.shown.get(self.selected)?)
    }

    fn sort(&mut self) {
        let chosen = self.chosen().map(|session| session.session_id.clone());
        let summaries = self.board.in_order();
        self.doing = summaries.iter().map(|summary| Doing::of(summary)).collect();
        self.ordered =
            summaries.iter().map(|summary| summary.session.clone().unwrap_or_default()).collect();
        self.sift();
        // The one that was chosen stays chosen, wherever it goes.
        if let Some(session_id) = chosen {
            self.select(&session_id);
        }
    }

    fn sift(&mut self) {
        let wanted = self.filter.text().to_lowercase();
        let fits = |session: &v1::Session| {
            let holds = |text: &str| text.to_lowercase().contains(&wanted);
            holds(&session.title) || holds(&session.workspace) || holds(&session.session_id)
        };
        self.shown = self
            .ordered
            .iter()
            .enumerate()
            .filter(|(_, session)| wanted.is_empty() || fits(session))
            .map(|(index, _)| index)
            .collect();
        self.selected = self.selected.min(self.shown.len().saturating_sub(1));
    }
}

/// A session of which nothing is known to be unread.
fn as_read(session: v1::Session) -> v1::SessionSummary {
    v1::SessionSummary { read_seq: session.news_seq, session: Some(session) }
}
