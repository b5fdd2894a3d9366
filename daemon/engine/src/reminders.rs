//! Telling whoever is there, in whichever session.

use std::path::Path;

use agentd_domain::{SessionId, SessionRecord};

use crate::engine::Engine;
use crate::error::CommandError;
use crate::rules::root_of;
use crate::session::Command;

/// Sessions read from the index at once.
const PAGE: usize = 100;

impl Engine {
    /// Shows a notice in the session that was used last of those with a terminal: of this workspace, by
    /// its path without links, if somebody is there, else of any. It is in the session's log then.
    /// Returns the session; none: nobody is anywhere.
    ///
    /// # Errors
    /// When the store fails, or the session has too much to do.
    pub async fn remind(
        &self,
        workspace: Option<&str>,
        text: &str,
    ) -> Result<Option<SessionId>, CommandError> {
        let Some(session) = self.attended(workspace).await? else { return Ok(None) };
        let text = text.to_owned();
        self.ask(session, |reply| Command::Note { text: text.clone(), reply }).await?;
        Ok(Some(session))
    }

    async fn attended(&self, workspace: Option<&str>) -> Result<Option<SessionId>, CommandError> {
        let mut elsewhere = None;
        let mut from = None;
        while self.stats().attached_clients > 0 {
            // The one that was used last comes first.
            let page = self.list(from, PAGE).await?;
            for SessionRecord { session_id, workspace: directory, .. } in page.sessions {
                if self.attached(session_id) == 0 {
                    continue;
                }
                match workspace {
                    Some(root) if root_of(Path::new(&directory)).await != root => {
                        elsewhere = elsewhere.or(Some(session_id));
                    }
                    Some(_) | None => return Ok(Some(session_id)),
                }
            }
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        Ok(elsewhere)
    }
}
