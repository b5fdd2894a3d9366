//! Every limit of the engine, by name.

use std::sync::Arc;
use std::time::Duration;

use agentd_context::ContextConfig;
use agentd_domain::{PermissionMode, PermissionRule};

use crate::history::HistoryLimits;
use crate::turn::FailureLimits;
use crate::usage::Budget;

/// What happens to a turn that was running when the daemon stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AutoResume {
    /// A question goes to the session's terminals.
    #[default]
    Ask,
    /// It goes on by itself.
    Always,
    /// It is closed as interrupted.
    Never,
}

/// Where automatic titles come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TitlePolicy {
    /// The first message, replaced by what the cheap model makes of it after the first turn.
    #[default]
    Model,
    /// The first message, cut.
    FirstMessage,
}

/// Limits and policies. Read anew for each turn, so a reload needs no restart.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// See [`AutoResume`].
    pub auto_resume: AutoResume,
    /// Model rounds of a turn before users are asked whether to go on (spec: 30).
    pub rounds_limit: u32,
    /// What may fail in a turn before the model has to answer without tools.
    pub failures: FailureLimits,
    /// Most turns that run at once in the whole daemon, at least 1.
    pub running_turns_limit: usize,
    /// Most messages waiting in one session.
    pub queue_limit: usize,
    /// Most bytes of one user message.
    pub message_max_bytes: usize,
    /// An actor without terminals and turns ends after this time.
    pub idle_unload: Duration,
    /// Text that is being written is stored at least this often.
    pub partial_interval: Duration,
    /// A cancelled turn has this long to stop before it is aborted.
    pub turn_grace: Duration,
    /// A snapshot is written after this many events.
    pub snapshot_every: u64,
    /// See [`TitlePolicy`].
    pub titles: TitlePolicy,
    /// Longest time for making a title.
    pub title_timeout: Duration,
    /// A session that rests this long after a turn is looked through for memories; none: none is.
    pub extract_after: Option<Duration>,
    /// Turns that there have to be for it (spec b.5: 2).
    pub extract_turns: u32,
    /// Longest time for looking through one.
    pub extract_timeout: Duration,
    /// When parts of a conversation are left out or folded.
    pub context: ContextConfig,
    /// Longest time for writing a summary of older turns.
    pub summary_timeout: Duration,
    /// How often order is brought into memories when the daemon is at rest; none: only by hand.
    pub consolidate_every: Option<Duration>,
    /// Paths below a workspace of which the first that is there is part of its requests.
    pub project_documents: Arc<[String]>,
    /// Most bytes of it that are.
    pub project_document_bytes: usize,
    /// What may be used. Looked at before each request.
    pub budget: Budget,
    /// A turn that takes longer is reported when it ends; zero: none is.
    pub slow_turn: Duration,
    /// How much agents may do without asking in sessions that are created without saying so.
    pub permission_mode: PermissionMode,
    /// Rules that the configuration makes for all sessions.
    pub rules: Arc<[PermissionRule]>,
    /// How long a call waits until somebody says whether it may run.
    pub approval_timeout: Duration,
    /// How much of what was said is held in memory to be searched.
    pub history: HistoryLimits,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            auto_resume: AutoResume::Ask,
            rounds_limit: 30,
            failures: FailureLimits::default(),
            running_turns_limit: 16,
            queue_limit: 100,
            message_max_bytes: 1024 * 1024,
            idle_unload: Duration::from_secs(600),
            // The store takes up to as long again to make it durable.
            partial_interval: Duration::from_millis(500),
            turn_grace: Duration::from_secs(2),
            snapshot_every: 256,
            titles: TitlePolicy::Model,
            title_timeout: Duration::from_secs(30),
            extract_after: None,
            extract_turns: 2,
            extract_timeout: Duration::from_secs(120),
            context: ContextConfig::default(),
            summary_timeout: Duration::from_secs(120),
            consolidate_every: None,
            project_documents: ["AGENTS.md", "AGENT.md", "CLAUDE.md"].map(str::to_owned).into(),
            project_document_bytes: 32 * 1024,
            budget: Budget::default(),
            slow_turn: Duration::from_secs(60),
            permission_mode: PermissionMode::Ask,
            rules: Arc::default(),
            approval_timeout: Duration::from_secs(600),
            history: HistoryLimits::default(),
        }
    }
}
