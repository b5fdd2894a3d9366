//! The session engine: one actor per live session, one child task per turn.
//!
//! Its one job is to take commands for sessions, turn them into durable events, run turns against a
//! model and its tools, and show everything to every attached terminal. It must not know the wire
//! format, sockets or configuration files. A session's actor is the only owner and writer of its
//! state; everything else holds a [`SessionHandle`]. Read `session/actor.rs` first, then `turn.rs`.

mod attach;
mod by_hand;
mod calibrations;
mod clock;
mod compact;
mod config;
mod consolidate;
mod context;
mod copy;
mod digest;
mod engine;
mod error;
mod expand;
mod extract;
mod goals;
mod history;
mod model;
mod permission;
mod pins;
mod reminders;
mod rested;
mod room;
mod roots;
mod rules;
mod session;
mod short_answer;
mod slots;
mod slow_turns;
mod tasks;
mod title;
mod turn;
mod usage;
mod watch;

pub use agentd_context::{ContextConfig, ContextReport, Layer, LayerShare};
pub use attach::{AttachPosition, Attachment, AttachmentItem};
pub use by_hand::{HandCall, HandPlace, HandPlan, HandResult, HandStep, PlaceChanges};
pub use clock::{RandomIds, SystemClock};
pub use config::{AutoResume, EngineConfig, TitlePolicy};
pub use consolidate::WouldConsolidate;
pub use context::SessionContext;
pub use copy::{ImportError, MAX_IMPORT_LINE};
pub use engine::{Engine, EngineDeps, EngineStats, NewSession, OpenApproval};
pub use error::{CommandError, Field};
pub use expand::{ExpandError, ExpandedLine, ExpandedMessage};
pub use goals::{MAX_DONE_GOALS, MAX_OPEN_GOALS, MAX_OPEN_GOALS_OF_SCOPE, NewGoal};
pub use history::{HistoryLimits, MAX_QUESTION, MAX_SNIPPET};
pub use model::{ModelQuery, ModelSource, ResolvedModel, Role};
pub use pins::{MAX_PIN_CHARS, MAX_PINS, PinError};
pub use rested::Tried;
pub use rules::{MAX_RULES, NewRule, RuleFilter};
pub use session::{
    ApprovalAnswer, Compaction, Delta, DeltaSource, Participant, QueuedMessage, SessionHandle,
    SessionUpdate, SessionView, StreamEnd, Submission, Submitted,
};
pub use slow_turns::{SlowTurn, SlowTurns, TurnParts};
pub use tasks::Tasks;
pub use turn::FailureLimits;
pub use usage::{
    Budget, BudgetScope, BudgetStatus, Limit, MAX_USAGE_ROWS, UsageGrouping, UsageQuery,
    UsageReport, UsageRow, Used,
};
pub use watch::{SessionSummary, SessionWatch, WatchItem};
