//! Which session a client works in, and what its turns are like, as options.

use std::path::PathBuf;

use agentd_proto::v1;

/// Which session: at most one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", group(multiple = false))]
pub struct WhichSession {
    /// Session by id, by a unique beginning, such as lists show, or `last`
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub session: Option<String>,
    /// The session that was used last, or a new one when there is none
    #[cfg_attr(feature = "clap", arg(long = "continue"))]
    pub resume: bool,
    /// A new session (the default)
    #[cfg_attr(feature = "clap", arg(long))]
    pub new: bool,
}

/// What a session's turns are like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Wishes {
    /// Model that answers from the next turn on; `default` for the daemon's
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODEL"))]
    pub model: Option<String>,
    /// How long it reasons from the next turn on; `default` for the model's own
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "LEVEL", value_enum, hide_possible_values = false)
    )]
    pub effort: Option<EffortArg>,
    /// How much the agent may do without asking, from the next call on
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "MODE", value_enum, hide_possible_values = false)
    )]
    pub mode: Option<ModeArg>,
    /// What the agent works on, from the next call on
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "WORK", value_enum, hide_possible_values = false)
    )]
    pub work: Option<WorkArg>,
    /// A further directory that a new session works in; may be repeated
    #[cfg_attr(feature = "clap", arg(long, value_name = "DIR"))]
    pub add_dir: Vec<PathBuf>,
}

/// How much an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ModeArg {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum WorkArg {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum EffortArg {
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

impl From<ModeArg> for v1::PermissionMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Plan => Self::Plan,
            ModeArg::Ask => Self::Ask,
            ModeArg::AutoEdit => Self::AutoEdit,
            ModeArg::Full => Self::Full,
        }
    }
}

impl From<WorkArg> for v1::WorkMode {
    fn from(mode: WorkArg) -> Self {
        match mode {
            WorkArg::Design => Self::Design,
            WorkArg::Develop => Self::Develop,
            WorkArg::Test => Self::Test,
            WorkArg::Review => Self::Review,
            WorkArg::Docs => Self::Docs,
            WorkArg::Devops => Self::Devops,
        }
    }
}

impl From<EffortArg> for v1::Effort {
    fn from(effort: EffortArg) -> Self {
        match effort {
            EffortArg::Default => Self::Unspecified,
            EffortArg::Off => Self::Off,
            EffortArg::Minimal => Self::Minimal,
            EffortArg::Low => Self::Low,
            EffortArg::Medium => Self::Medium,
            EffortArg::High => Self::High,
            EffortArg::Max => Self::Max,
        }
    }
}
