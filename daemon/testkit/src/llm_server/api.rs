//! The APIs that the server speaks.

/// An API, told by the path of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST /v1/chat/completions`: Chat Completions.
    Chat,
    /// `POST /v1/messages`: Anthropic Messages.
    Messages,
    /// `POST /v1/responses`: OpenAI Responses.
    Responses,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Messages, Self::Responses];

    /// The API whose path this is, with or without a query; `None` for any other path.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        Self::ALL.into_iter().find(|api| path.ends_with(api.path()))
    }

    /// Below the base URL.
    fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Messages => "/messages",
            Self::Responses => "/responses",
        }
    }
}
