//! All sessions as an overview shows them: what needs a person comes first.

use std::cmp::Reverse;
use std::collections::HashMap;

use agentd_proto::v1;

use crate::session_watch::WatchEvent;

/// Sessions that are kept. Beyond that the one that was used longest ago goes: it is listed by
/// `ListSessions`, and shown again when it changes.
const MAX_SESSIONS: usize = 10_000;

/// What a session asks of whoever looks; the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attention {
    /// It waits for an answer: an approval, a question, or a turn that stands still.
    Waits,
    /// A turn runs.
    Runs,
    /// Something has happened that no terminal has shown.
    Unread,
    /// Nothing.
    Rests,
}

impl Attention {
    /// What a session asks for.
    pub fn of(summary: &v1::SessionSummary) -> Self {
        let Some(session) = &summary.session else { return Self::Rests };
        if session.open_approvals > 0
            || session.open_questions > 0
            || session.status() == v1::SessionStatus::Waiting
        {
            Self::Waits
        } else if session.status() == v1::SessionStatus::Running || session.queued_messages > 0 {
            Self::Runs
        } else if is_unread(summary) {
            Self::Unread
        } else {
            Self::Rests
        }
    }
}

/// Tells whether something has happened in a session that no terminal has shown.
pub fn is_unread(summary: &v1::SessionSummary) -> bool {
    summary.session.as_ref().is_some_and(|session| session.news_seq > summary.read_seq)
}

/// How many sessions ask for what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// That wait for somebody.
    pub waiting: usize,
    /// In which a turn runs.
    pub running: usize,
    /// In which something is unread, whatever else they do.
    pub unread: usize,
    /// That are known.
    pub sessions: usize,
}

/// The sessions that are known, as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionBoard {
    sessions: HashMap<String, v1::SessionSummary>,
    has_more: bool,
    is_filled: bool,
}

/// What an event has changed on a board.
#[derive(Debug, Clone, PartialEq)]
pub enum BoardChange {
    /// Nothing that can be seen.
    Nothing,
    /// Everything may be another.
    Everything,
    /// A session that was not known.
    Added(v1::SessionSummary),
    /// A session that is not what it was.
    Changed {
        /// What it was.
        before: Box<v1::SessionSummary>,
        /// What it is.
        now: Box<v1::SessionSummary>,
    },
    /// A session is gone; this is what it was.
    Removed(v1::SessionSummary),
}

impl SessionBoard {
    /// Takes an event in and says what it has changed. Losses of the connection change nothing.
    pub fn apply(&mut self, event: &WatchEvent) -> BoardChange {
        match event {
            WatchEvent::Snapshot(snapshot) => {
                self.has_more = snapshot.more;
                self.is_filled = true;
                let known = snapshot.sessions.iter().take(MAX_SESSIONS);
                let by_id = known.filter_map(|summary| Some((id_of(summary)?, summary.clone())));
                self.sessions = by_id.collect();
                BoardChange::Everything
            }
            WatchEvent::Changed(summary) => self.put(summary),
            WatchEvent::Deleted { session_id } => {
                self.sessions.remove(session_id).map_or(BoardChange::Nothing, BoardChange::Removed)
            }
            WatchEvent::Lost { .. } | WatchEvent::Restored | WatchEvent::Failed(_) => {
                BoardChange::Nothing
            }
        }
    }

    /// True once a snapshot has come.
    pub fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// True when there are sessions that are not known here.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// A session.
    pub fn get(&self, session_id: &str) -> Option<&v1::SessionSummary> {
        self.sessions.get(session_id)
    }

    /// All that are known: what waits first, that which waits longest at the top, then what runs, what is
    /// unread and the rest, the most recently used first.
    pub fn in_order(&self) -> Vec<&v1::SessionSummary> {
        let mut sessions: Vec<_> = self.sessions.values().collect();
        sessions.sort_by_cached_key(|summary| order(summary));
        sessions
    }

    /// How many ask for what.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally { sessions: self.sessions.len(), ..Tally::default() };
        for summary in self.sessions.values() {
            match Attention::of(summary) {
                Attention::Waits => tally.waiting += 1,
                Attention::Runs => tally.running += 1,
                Attention::Unread | Attention::Rests => {}
            }
            tally.unread += usize::from(is_unread(summary));
        }
        tally
    }

    fn put(&mut self, summary: &v1::SessionSummary) -> BoardChange {
        let Some(id) = id_of(summary) else { return BoardChange::Nothing };
        match self.sessions.insert(id, summary.clone()) {
            Some(before) if before == *summary => BoardChange::Nothing,
            Some(before) => {
                BoardChange::Changed { before: Box::new(before), now: Box::new(summary.clone()) }
            }
            None => {
                self.drop_oldest();
                BoardChange::Added(summary.clone())
            }
        }
    }

    fn drop_oldest(&mut self) {
        if self.sessions.len() <= MAX_SESSIONS {
            return;
        }
        let oldest = self.sessions.iter().min_by_key(|(_, summary)| updated_at_ms(summary));
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.sessions.remove(&id);
            self.has_more = true;
        }
    }
}

fn id_of(summary: &v1::SessionSummary) -> Option<String> {
    summary.session.as_ref().map(|session| session.session_id.clone())
}

fn updated_at_ms(summary: &v1::SessionSummary) -> i64 {
    summary.session.as_ref().map_or(0, |session| session.updated_at_ms)
}

fn order(summary: &v1::SessionSummary) -> (Attention, i64, Reverse<i64>, String) {
    let attention = Attention::of(summary);
    let waiting = summary.session.as_ref().map_or(0, |session| session.waiting_since_ms);
    let since = if attention == Attention::Waits { waiting } else { 0 };
    (attention, since, Reverse(updated_at_ms(summary)), id_of(summary).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, updated_at_ms: i64) -> v1::SessionSummary {
        let session = v1::Session {
            session_id: id.to_owned(),
            status: v1::SessionStatus::Idle.into(),
            updated_at_ms,
            ..v1::Session::default()
        };
        v1::SessionSummary { session: Some(session), read_seq: 0 }
    }

    fn with(
        mut summary: v1::SessionSummary,
        change: impl FnOnce(&mut v1::Session),
    ) -> v1::SessionSummary {
        change(summary.session.as_mut().unwrap());
        summary
    }

    fn changed(summary: v1::SessionSummary) -> WatchEvent {
        WatchEvent::Changed(Box::new(summary))
    }

    fn ids(board: &SessionBoard) -> Vec<String> {
        board.in_order().into_iter().filter_map(id_of).collect()
    }

    #[test]
    fn what_needs_a_person_comes_first_and_what_waits_longest_at_the_top() {
        let waits = |id, since| {
            with(session(id, 1), |session| {
                session.open_approvals = 1;
                session.waiting_since_ms = since;
                session.status = v1::SessionStatus::Running.into();
            })
        };
        let suspended =
            with(session("s", 1), |session| session.status = v1::SessionStatus::Waiting.into());
        let runs =
            with(session("r", 5), |session| session.status = v1::SessionStatus::Running.into());
        let unread = with(session("u", 2), |session| session.news_seq = 3);
        let mut read = with(session("a", 9), |session| session.news_seq = 3);
        read.read_seq = 3;
        let mut board = SessionBoard::default();
        assert!(!board.is_filled());
        let sessions =
            vec![read, unread, waits("w2", 20), session("b", 10), runs, waits("w1", 10), suspended];
        let snapshot = v1::SessionSnapshot { sessions, more: true };
        assert_eq!(board.apply(&WatchEvent::Snapshot(snapshot)), BoardChange::Everything);
        assert!(board.is_filled() && board.has_more());
        assert_eq!(ids(&board), ["s", "w1", "w2", "r", "u", "b", "a"]);
        let tally = Tally { waiting: 3, running: 1, unread: 1, sessions: 7 };
        assert_eq!(board.tally(), tally);
    }

    #[test]
    fn changes_are_told_and_repetitions_are_not() {
        let mut board = SessionBoard::default();
        let one = session("one", 1);
        assert_eq!(board.apply(&changed(one.clone())), BoardChange::Added(one.clone()));
        assert_eq!(board.apply(&changed(one.clone())), BoardChange::Nothing);
        let now = with(one.clone(), |session| session.title = "new".to_owned());
        let change = BoardChange::Changed { before: Box::new(one), now: Box::new(now.clone()) };
        assert_eq!(board.apply(&changed(now.clone())), change);
        assert_eq!(board.apply(&WatchEvent::Restored), BoardChange::Nothing);
        assert_eq!(board.get("one"), Some(&now));
        let deleted = WatchEvent::Deleted { session_id: "one".to_owned() };
        assert_eq!(board.apply(&deleted), BoardChange::Removed(now));
        assert_eq!(board.apply(&deleted), BoardChange::Nothing);
    }

    #[test]
    fn a_board_is_bounded_and_the_session_used_longest_ago_goes() {
        let mut board = SessionBoard::default();
        for number in 0..=i64::try_from(MAX_SESSIONS).unwrap() {
            drop(board.apply(&changed(session(&number.to_string(), number))));
        }
        assert_eq!(board.tally().sessions, MAX_SESSIONS);
        assert!(board.has_more() && board.get("0").is_none() && board.get("1").is_some());
    }
}
