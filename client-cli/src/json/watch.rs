//! Views of the changes of all sessions.

use agentd_proto::v1;
use agentd_shared::{BoardChange, SessionBoard};
use serde::Serialize;

use super::session::SessionView;

/// A session in an overview.
#[derive(Debug, Serialize)]
pub(crate) struct SummaryView<'a> {
    session: Option<SessionView<'a>>,
    read_seq: u64,
    unread: bool,
}

impl<'a> From<&'a v1::SessionSummary> for SummaryView<'a> {
    fn from(summary: &'a v1::SessionSummary) -> Self {
        let v1::SessionSummary { session, read_seq } = summary;
        Self {
            session: session.as_ref().map(SessionView::from),
            read_seq: *read_seq,
            unread: agentd_shared::is_unread(summary),
        }
    }
}

/// One line of an overview.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum WatchView<'a> {
    /// All that are known; it replaces what came before.
    Snapshot { sessions: Vec<SummaryView<'a>>, more: bool },
    /// A session as it is now, whether it was known or not.
    Changed(Box<SummaryView<'a>>),
    /// A session that is gone.
    Deleted { session_id: &'a str },
}

impl<'a> WatchView<'a> {
    /// What a change of a board says.
    pub(crate) fn new(change: &'a BoardChange, board: &'a SessionBoard) -> Self {
        match change {
            BoardChange::Nothing | BoardChange::Everything => Self::Snapshot {
                sessions: board.in_order().into_iter().map(SummaryView::from).collect(),
                more: board.has_more(),
            },
            BoardChange::Added(now) => Self::Changed(Box::new(SummaryView::from(now))),
            BoardChange::Changed { now, .. } => Self::Changed(Box::new(SummaryView::from(&**now))),
            BoardChange::Removed(before) => {
                let session = before.session.as_ref();
                Self::Deleted {
                    session_id: session.map_or("", |session| session.session_id.as_str()),
                }
            }
        }
    }
}
