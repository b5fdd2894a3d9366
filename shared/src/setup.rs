//! First steps: what a client that finds no model offers, and how it is put in force.
//!
//! [`offer`] asks on an ordinary screen, in the client's own [`Voice`]: it shows what [`local_servers`]
//! finds, takes an answer, and has [`FirstChoice::save`] write it and [`Saved::apply`] try it. Only this
//! machine is looked at.

mod apply;
mod local;
mod offer;
mod save;
mod typed;

pub use apply::TryError;
pub use local::{LocalServer, local_servers};
pub use offer::{OfferError, Offered, Voice, offer};
pub use save::{FirstChoice, SaveError, Saved};

use crate::paths::Paths;

/// Who gives out keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// OpenAI.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// DeepSeek.
    DeepSeek,
    /// OpenRouter.
    OpenRouter,
}

impl Service {
    /// All of them, the usual first.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::DeepSeek, Self::OpenRouter];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::DeepSeek => "DeepSeek",
            Self::OpenRouter => "OpenRouter",
        }
    }

    /// Its `provider.kind`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::DeepSeek => "deepseek",
            Self::OpenRouter => "openrouter",
        }
    }

    /// Whose key it is, when that can be seen. Keys that begin with `sk-` and no more are of several
    /// services.
    pub fn of_key(key: &str) -> Option<Self> {
        if key.starts_with("sk-ant-") {
            Some(Self::Anthropic)
        } else if key.starts_with("sk-or-") {
            Some(Self::OpenRouter)
        } else if key.starts_with("sk-proj-") || key.starts_with("sk-svcacct-") {
            Some(Self::OpenAi)
        } else {
            None
        }
    }
}

/// Tells whether the configuration has not been made yet.
pub fn is_first_run(paths: &Paths) -> bool {
    // What cannot be looked at is there.
    matches!(paths.config_file().try_exists(), Ok(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_whose_it_is_where_that_can_be_seen() {
        let check = |key: &str, expect: Option<Service>| assert_eq!(Service::of_key(key), expect);
        check("sk-ant-api03-x", Some(Service::Anthropic));
        check("sk-or-v1-x", Some(Service::OpenRouter));
        check("sk-proj-x", Some(Service::OpenAi));
        check("sk-0123456789abcdef", None);
        check("", None);
    }
}
