//! Events about what requests are made of.
//!
//! A request is a fold over the log, so whatever is left out of it is an event, too: the same log makes the
//! same request, whoever reads it when.

use serde::{Deserialize, Serialize};

use crate::{Author, Seq};

/// Parts of older turns are left out of requests, or whole turns. They stay in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextTrimmed {
    /// First event that requests are still made from.
    pub first_kept_seq: Seq,
    /// Estimated tokens left out now.
    pub dropped_tokens: u64,
    /// What was left out within the turns that stay, in this order. Counted from where the event stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<TrimStep>,
}

/// A step of trimming (spec c.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimStep {
    /// What it leaves out.
    pub kind: TrimKind,
    /// How much of it stays; the kind says of what.
    pub keep: u32,
}

/// What a step of trimming leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimKind {
    /// Earlier turns that were recalled, but for those recalled in the `keep` newest turns.
    Recalled,
    /// Outputs of tools, each replaced by a line that says how to read it, but for those of the `keep`
    /// newest turns.
    Outputs,
    /// Reasoning, but for that of the `keep` newest turns.
    Reasoning,
    /// The middle of texts and arguments of more than `keep` characters, but for those of the newest turn.
    LongTexts,
    /// Outputs of tools in the newest turn, but for those of its `keep` last rounds.
    EarlierRounds,
    /// The middle of outputs of more than `keep` bytes in the newest turn.
    LongOutputs,
}

/// The oldest turns were folded into a summary, which requests hold in their place. They stay in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCompacted {
    /// First event that requests are made from, after the summary.
    pub first_kept_seq: Seq,
    /// First event of the folded turns that may be recalled word by word.
    pub recall_from_seq: Seq,
    /// Turns that were folded now; zero when only the summary is another.
    pub folded_turns: u32,
    /// Estimated tokens of the conversation before.
    pub tokens_before: u64,
    /// The same after.
    pub tokens_after: u64,
    /// Why.
    pub reason: CompactionReason,
    /// Who wrote the summary.
    pub method: SummaryMethod,
    /// The model that wrote it; empty when none did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Name and version of the prompt, or of the rules, by which it was written.
    pub prompt: String,
    /// What users had pinned. It is told word by word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<String>,
    /// The whole summary, what earlier ones said included.
    pub lines: Vec<SummaryLine>,
    /// Turns that no line tells of.
    #[serde(default)]
    pub untold_turns: u32,
}

/// A line of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryLine {
    /// What it is about.
    pub section: SummarySection,
    /// One or two sentences.
    pub text: String,
    /// The stretches of the log that it was made from, in order. Never empty.
    pub from: Vec<SeqRange>,
}

/// A stretch of the log, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeqRange {
    /// First event.
    pub first: Seq,
    /// Last event.
    pub last: Seq,
}

/// The parts of a summary, in the order in which they are told (spec c.2, c.16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummarySection {
    /// What users want kept to.
    Constraints,
    /// What was decided, and why.
    Decisions,
    /// What is still to be done.
    OpenTasks,
    /// What was done.
    Done,
    /// What went wrong and how it was mended.
    Errors,
    /// What users like.
    Preferences,
    /// What the conversation is about.
    Background,
    /// What words such as "the second file" stand for.
    References,
    /// Turns in short, word by word.
    Turns,
}

impl SummarySection {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Constraints,
        Self::Decisions,
        Self::OpenTasks,
        Self::Done,
        Self::Errors,
        Self::Preferences,
        Self::Background,
        Self::References,
        Self::Turns,
    ];

    /// The name by which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Constraints => "constraints",
            Self::Decisions => "decisions",
            Self::OpenTasks => "open_tasks",
            Self::Done => "done",
            Self::Errors => "errors",
            Self::Preferences => "preferences",
            Self::Background => "background",
            Self::References => "references",
            Self::Turns => "turns",
        }
    }
}

/// Why turns were folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// The conversation filled most of the window.
    Window,
    /// More turns than are told whole.
    Turns,
    /// Users asked for it.
    Asked,
    /// The session had rested for long.
    Rested,
    /// A model wrote in place of what was put together without one.
    Rewritten,
}

/// Who wrote a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryMethod {
    /// A model.
    Model,
    /// Nobody: it is made of pieces of the turns themselves.
    Extract,
}

/// The model read earlier turns again that the summary stands for. They stay in the conversation as long
/// as the turn does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnsRecalled {
    /// Where the turns are in the log.
    pub turns: Vec<SeqRange>,
    /// What the model read.
    pub text: String,
}

/// What users want the model to keep to whatever is folded is this from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinsChanged {
    /// All of it, the oldest first.
    pub pins: Vec<String>,
    /// Who changed it.
    pub by: Option<Author>,
}

/// Requests hold a document of the workspace from now on, or no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectDocumentChanged {
    /// Its path below the workspace; empty when there is none any more.
    pub path: String,
    /// SHA-256 of what requests hold, in hexadecimal digits. Without a path: of why a document that is
    /// there cannot be held, or empty.
    pub sha256: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// True when only its head and tail are told.
    pub is_cut: bool,
}
