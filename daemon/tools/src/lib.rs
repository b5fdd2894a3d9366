//! Tools that the model can call.
//!
//! Its one job: describe tools to the model, check arguments, run one call and give one bounded
//! result. It must not know of sessions or providers. It owns no state; what a call may touch comes
//! with its [`ToolContext`].
//!
//! Reading order: `tool` (the port), `registry` (names and checks), `catalogue` (tools that requests
//! do not describe), `old_names` (what models call by habit), `run` (one call with its limits), then the tools by category: `compute`, `system`, `fs`, `data`, `net`.

mod arguments;
mod builtin;
mod catalogue;
mod compute;
mod data;
mod dev;
mod dialogue;
mod fs;
mod goals;
mod history;
mod live_output;
mod memory;
mod nearest;
mod net;
mod old_names;
mod pdf;
mod people;
mod permission;
mod planning;
mod process;
mod registry;
mod run;
mod scheduler;
mod schema;
mod system;
mod tool;
mod vcs;

pub use builtin::{BuiltinSettings, PROCESS_TOOLS, process_tools};
pub use dev::count_tests;
pub use fs::{
    ChangedFile, CopyLimits, FileChange, FileChanges, FileLedger, NetDiff, UndoCopies,
    WorkspaceDocument, sha256,
};
pub use goals::{Goals, GoalsError, NoGoals, ReachedGoal, SetGoal, Unfinished, UnfinishedSession};
pub use history::{History, HistoryError, NoHistory};
pub use live_output::LiveOutput;
pub use net::{
    FetchSettings, IpLocationSettings, NetSettings, SearchEngine, SearchSettings, WeatherSettings,
    installed_browser,
};
pub use pdf::{PDF_COMMAND, run_pdf_helper};
pub use people::{Announcement, Answer, Nobody, People, Question};
pub use permission::{
    Permission, PermissionRequest, check_rule, permit, readable, rules_for, surely_runs,
};
pub use process::ProcessLimits;
pub use registry::{PreparedCall, RegisterError, Registry, ResolvedCall};
pub use run::{CallLimits, CallOutcome, plan_call, run_call};
pub use scheduler::{
    BatchCall, BatchReport, CallEnd, CallHost, Permit, SchedulerLimits, TurnMemory, run_batch,
};
pub use tool::{About, Rank, Tool, ToolContext, TypedTool, tool};
