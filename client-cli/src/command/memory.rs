//! `agentctl memory`: what is remembered from one session to the next.

mod add;
mod confirm;
mod consolidate;
mod decay;
mod edit;
mod export;
mod forget;
mod import;
mod list;
mod markdown;
mod pin;
mod show;
mod stats;
mod table;
mod tea_agent;
mod undo;
mod when;
mod why;

use clap::{Args, Subcommand, ValueEnum};

use crate::app::App;
use crate::cli::JsonArgs;
use crate::exit::{Exit, Failure};

pub(crate) use list::{fetch, scopes_of, table as list_table};

/// Commands about memories.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List memories, the most important first
    #[command(after_help = "\
Examples:
  agentctl memory list --workspace .
  agentctl memory list --status quarantined --json")]
    List(list::ListArgs),
    /// Find memories by words, the best first
    #[command(after_help = "\
Examples:
  agentctl memory search deploy key")]
    Search(list::SearchArgs),
    /// Show a memory whole
    #[command(after_help = "\
Examples:
  agentctl memory show 6FAV01XY")]
    Show(OneArgs),
    /// Remember something
    #[command(after_help = "\
What says the same as a memory that is there becomes part of it.

Examples:
  agentctl memory add \"I prefer tabs over spaces\" --category preference
  agentctl memory add \"never push to main\" --priority critical --workspace .
  agentctl memory add \"call Bob\" --remind 2h
  agentctl memory add \"the freeze is on\" --expires 2026-12-24")]
    Add(add::AddArgs),
    /// Change a memory
    #[command(after_help = "\
Without TEXT the text stays as it is. --tag gives all tags anew.

Examples:
  agentctl memory edit 6FAV01XY \"I prefer spaces over tabs\"
  agentctl memory edit 6FAV01XY --priority high --tag style")]
    Edit(edit::EditArgs),
    /// Keep memories from ageing
    #[command(after_help = "\
Examples:
  agentctl memory pin 6FAV01XY")]
    Pin(ManyArgs),
    /// Let memories age again
    #[command(after_help = "\
Examples:
  agentctl memory unpin 6FAV01XY")]
    Unpin(ManyArgs),
    /// Take memories back; `undo` brings them again
    #[command(after_help = "\
Examples:
  agentctl memory forget 6FAV01XY
  agentctl memory forget 6FAV01XY --erase --yes")]
    Forget(forget::ForgetArgs),
    /// Stand behind memories that came from text that nobody vouches for
    #[command(after_help = "\
Examples:
  agentctl memory confirm 6FAV01XY")]
    Confirm(ManyArgs),
    /// Take the last change of memories back, or another one
    #[command(after_help = "\
Examples:
  agentctl memory undo")]
    Undo(undo::UndoArgs),
    /// Show where a memory is from, how it will age, and what was changed of it
    #[command(after_help = "\
Examples:
  agentctl memory why 6FAV01XY")]
    Why(OneArgs),
    /// Show how many memories there are
    #[command(after_help = "\
Examples:
  agentctl memory stats --json | jq .active")]
    Stats(JsonArgs),
    /// Write memories as lines of JSON, for `memory import`
    #[command(after_help = "\
There is no --json: each line is an object already.

Examples:
  agentctl memory export --output memories.jsonl
  agentctl memory export --all | jq -r .content")]
    Export(export::ExportArgs),
    /// Take memories in from an export, a Markdown file or a tea_agent
    #[command(after_help = "\
In Markdown each list item and each paragraph is a memory; the headings above
it become its tags. Files that end in .md are taken for Markdown. Lines that
were taken in before change nothing. Of the database of a tea_agent the
memories are taken in, with their dates: times with a zone are of that zone,
those as SQLite writes them (2026-01-31 09:00:00) UTC, others local. What
cannot be read is told with its row and left out.

Examples:
  agentctl memory import memories.jsonl
  agentctl memory import ~/.tea_agent/chat_history.db --dry-run
  agentctl memory import notes.md --workspace .
  cat CLAUDE.md | agentctl memory import - --format markdown")]
    Import(import::ImportArgs),
    /// Bring order into memories now, or show what that would do
    #[command(after_help = "\
What says the same becomes one memory. Pairs that are about one thing are
shown to the cheap model: where they contradict each other the newer one
holds, and what you wrote or pinned yourself is only proposed to go (`memory
list --status quarantined`). The daemon does this by itself once a day, while
no turn runs. `memory undo` takes each change back.

Examples:
  agentctl memory consolidate --dry-run
  agentctl memory consolidate --json")]
    Consolidate(consolidate::ConsolidateArgs),
    /// Let memories age now, or show which would
    #[command(after_help = "\
Examples:
  agentctl memory decay --dry-run --within 30d")]
    Decay(decay::DecayArgs),
}

/// One memory.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneArgs {
    /// Memory by id, or by the end of it that lists show
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Some memories.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManyArgs {
    /// Memories by id, or by the end of it that lists show
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How much depends on a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PriorityArg {
    /// It must be followed.
    Critical,
    /// It matters in most conversations.
    High,
    /// It may matter.
    Medium,
    /// It hardly ever does.
    Low,
}

impl From<PriorityArg> for agentd_proto::v1::MemoryPriority {
    fn from(priority: PriorityArg) -> Self {
        match priority {
            PriorityArg::Critical => Self::Critical,
            PriorityArg::High => Self::High,
            PriorityArg::Medium => Self::Medium,
            PriorityArg::Low => Self::Low,
        }
    }
}

/// What kind of thing is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CategoryArg {
    /// What the agent is to do or not to do.
    Instruction,
    /// What you like.
    Preference,
    /// What is so.
    Fact,
    /// What is due at a time.
    Reminder,
    /// Anything else.
    General,
    /// What the agent has made of other memories.
    Reflection,
}

impl From<CategoryArg> for agentd_proto::v1::MemoryCategory {
    fn from(category: CategoryArg) -> Self {
        match category {
            CategoryArg::Instruction => Self::Instruction,
            CategoryArg::Preference => Self::Preference,
            CategoryArg::Fact => Self::Fact,
            CategoryArg::Reminder => Self::Reminder,
            CategoryArg::General => Self::General,
            CategoryArg::Reflection => Self::Reflection,
        }
    }
}

/// Runs a command about memories.
pub(super) async fn run(command: &MemoryCommand, app: &App) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List(args) => list::run(args, app).await,
        MemoryCommand::Search(args) => list::search(args, app).await,
        MemoryCommand::Show(args) => show::run(args, app).await,
        MemoryCommand::Add(args) => add::run(args, app).await,
        MemoryCommand::Edit(args) => edit::run(args, app).await,
        MemoryCommand::Pin(args) => pin::run(args, true, app).await,
        MemoryCommand::Unpin(args) => pin::run(args, false, app).await,
        MemoryCommand::Forget(args) => forget::run(args, app).await,
        MemoryCommand::Confirm(args) => confirm::run(args, app).await,
        MemoryCommand::Undo(args) => undo::run(args, app).await,
        MemoryCommand::Why(args) => why::run(args, app).await,
        MemoryCommand::Stats(args) => stats::run(args, app).await,
        MemoryCommand::Export(args) => export::run(args, app).await,
        MemoryCommand::Import(args) => import::run(args, app).await,
        MemoryCommand::Consolidate(args) => consolidate::run(args, app).await,
        MemoryCommand::Decay(args) => decay::run(args, app).await,
    }
}
