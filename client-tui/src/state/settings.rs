//! What a person may choose.

use crate::theme::Theme;

/// Choices that hold for this terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// Absolute path of the directory that new sessions work in.
    pub workspace: String,
    /// Reasoning is shown.
    pub reasoning: bool,
    /// What is decided on the way is shown.
    pub verbose: bool,
    /// The list of sessions stands beside the transcript where there is room.
    pub sidebar: bool,
    /// Turns that are read of a session when it is opened; more come when somebody looks for them.
    pub turns: u32,
    /// The daemon runs on this machine, so that its files are ours.
    pub local: bool,
    /// A bell rings when a long turn ends, or when something is asked.
    pub bell: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::COLORED,
            workspace: String::new(),
            reasoning: true,
            verbose: false,
            sidebar: true,
            turns: 20,
            local: true,
            bell: true,
        }
    }
}
