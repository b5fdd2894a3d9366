//! The sessions that there are, the most recently used first.

use agentd_proto::v1;

/// What the list shows.
#[derive(Debug, Default)]
pub struct SessionList {
    sessions: Vec<v1::Session>,
    /// The line that is chosen.
    pub selected: usize,
}

impl SessionList {
    /// Takes all of them anew.
    pub fn set(&mut self, sessions: Vec<v1::Session>) {
        self.sessions = sessions;
        self.selected = self.selected.min(self.sessions.len().saturating_sub(1));
    }

    /// Takes what is new of one.
    pub fn update(&mut self, session: v1::Session) {
        self.remove(&session.session_id);
        let newer = |known: &v1::Session| known.updated_at_ms > session.updated_at_ms;
        let place = self.sessions.iter().position(|known| !newer(known));
        self.sessions.insert(place.unwrap_or(self.sessions.len()), session);
    }

    /// Forgets one.
    pub fn remove(&mut self, session_id: &str) {
        self.sessions.retain(|known| known.session_id != session_id);
    }

    /// All of them.
    pub fn all(&self) -> &[v1::Session] {
        &self.sessions
    }

    /// One of them.
    pub fn get(&self, session_id: &str) -> Option<&v1::Session> {
        self.sessions.iter().find(|known| known.session_id == session_id)
    }
}
