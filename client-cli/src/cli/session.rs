//! Which session a command is about, and what its turns are like.

use clap::{Args, ValueEnum};

/// Which session: at most one of these.
#[derive(Debug, Clone, Default, Args)]
#[group(multiple = false)]
pub(crate) struct WhichSession {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The session that was used last, or a new one when there is none
    #[arg(long = "continue")]
    pub(crate) resume: bool,
    /// A new session (the default)
    #[arg(long)]
    pub(crate) new: bool,
}

/// What a session's turns are like from the next one on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Wishes {
    /// Model that answers from the next turn on; `default` for the daemon's
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How long it reasons from the next turn on; `default` for the model's own
    #[arg(long, value_name = "LEVEL", value_enum, hide_possible_values = false)]
    pub(crate) effort: Option<EffortArg>,
}

/// How long a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortArg {
    /// As the model does by itself.
    Default,
    /// Not at all, where the model can do without.
    Off,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}
