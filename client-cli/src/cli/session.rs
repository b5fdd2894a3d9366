//! Which session a command is about, and what its turns are like.

use std::path::PathBuf;

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

/// What a session's turns are like.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Wishes {
    /// Model that answers from the next turn on; `default` for the daemon's
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How long it reasons from the next turn on; `default` for the model's own
    #[arg(long, value_name = "LEVEL", value_enum, hide_possible_values = false)]
    pub(crate) effort: Option<EffortArg>,
    /// How much the agent may do without asking, from the next call on
    #[arg(long, value_name = "MODE", value_enum, hide_possible_values = false)]
    pub(crate) mode: Option<ModeArg>,
    /// What the agent works on, from the next call on
    #[arg(long, value_name = "WORK", value_enum, hide_possible_values = false)]
    pub(crate) work: Option<WorkArg>,
    /// A further directory that a new session works in; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
}

/// How much an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// It only looks.
    Plan,
    /// It asks before it changes, starts or fetches anything.
    Ask,
    /// It changes the workspace without asking, and asks for the rest.
    AutoEdit,
    /// It asks for nothing but what a rule names.
    Full,
}

/// What an agent is working on. It takes away, never adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkArg {
    /// Documents, no code.
    Design,
    /// Code.
    Develop,
    /// Tests.
    Test,
    /// Nothing is changed.
    Review,
    /// Documents, no code.
    Docs,
    /// Running things.
    Devops,
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
