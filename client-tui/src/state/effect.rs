//! What follows from an input and has to be done outside the state.

use agentd_shared::AttachPosition;

use crate::conn::{Command, StreamId};

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the daemon.
    Send(Command),
    /// Open a stream.
    Attach {
        /// Its number.
        stream: StreamId,
        /// Of which session.
        session_id: String,
        /// From where.
        position: AttachPosition,
    },
    /// Close a stream.
    Detach(StreamId),
    /// Follow all sessions.
    Watch,
    /// Put a text on the terminal's clipboard.
    Copy(String),
    /// Call whoever is away.
    Ring,
    /// Call whoever is away, with a text where the terminal can show one.
    Notify(String),
    /// Take the terminal again after somebody else may have had it.
    Retake,
    /// Keep a text in the history that clients share.
    Remember(String),
    /// List the files of a directory of this machine.
    ListFiles(String),
    /// Let an editor change a text.
    Edit(String),
    /// Draw every cell anew.
    Redraw,
    /// Stop the process until somebody lets it go on.
    Suspend,
    /// Leave, with this exit code.
    Quit(u8),
}
