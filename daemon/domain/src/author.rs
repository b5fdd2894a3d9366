//! Who did something.

use serde::{Deserialize, Serialize};

/// A terminal or script that talks to the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Author {
    /// Stable id, which survives restarts of the client: read cursors are kept under it.
    pub client_id: String,
    /// What other terminals show, such as "ann@pts/3".
    pub name: String,
}

/// Why an author is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorError {
    /// One of the texts is too long.
    #[error("{field} has {len} bytes; at most {max} are allowed")]
    TooLong {
        /// `client_id` or `name`.
        field: &'static str,
        /// Bytes of the text.
        len: usize,
        /// Most bytes allowed.
        max: usize,
    },
    /// One of the texts holds a control character.
    #[error("{field} holds a control character")]
    ControlCharacter {
        /// `client_id` or `name`.
        field: &'static str,
    },
    /// There is no id.
    #[error("client_id is empty")]
    Empty,
}

impl Author {
    /// Most bytes of either text.
    pub const MAX_BYTES: usize = 128;

    /// Checks both texts. An empty name becomes the id.
    ///
    /// # Errors
    /// When the id is empty, or one of them is too long or holds control characters.
    pub fn new(client_id: &str, name: &str) -> Result<Self, AuthorError> {
        if client_id.is_empty() {
            return Err(AuthorError::Empty);
        }
        let name = if name.is_empty() { client_id } else { name };
        for (field, text) in [("client_id", client_id), ("name", name)] {
            if text.len() > Self::MAX_BYTES {
                return Err(AuthorError::TooLong { field, len: text.len(), max: Self::MAX_BYTES });
            }
            if text.chars().any(char::is_control) {
                return Err(AuthorError::ControlCharacter { field });
            }
        }
        Ok(Self { client_id: client_id.to_owned(), name: name.to_owned() })
    }
}
