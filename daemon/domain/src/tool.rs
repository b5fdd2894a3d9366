//! Tool calls and their results (spec a.1.5, a.1.8).

use serde::{Deserialize, Serialize};

use crate::{CallId, MemoryCommand, PlanCommand, TodoList};

/// A request of the model to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in the session.
    pub call_id: CallId,
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON text, as the model wrote them.
    pub arguments_json: String,
}

/// What a tool may do to the world. Crash rules follow from it: what only reads may run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffect {
    /// Computes; sees and changes nothing.
    Pure,
    /// Reads the workspace.
    WorkspaceRead,
    /// Reads from the network.
    NetworkRead,
    /// Changes the workspace.
    WorkspaceWrite,
    /// Starts programs.
    Process,
    /// Anything else: runs alone.
    Exclusive,
}

impl ToolEffect {
    /// True when running the call a second time changes nothing.
    pub const fn is_repeatable(self) -> bool {
        match self {
            Self::Pure | Self::WorkspaceRead | Self::NetworkRead => true,
            Self::WorkspaceWrite | Self::Process | Self::Exclusive => false,
        }
    }
}

/// What a tool may do, and how its calls may be run (spec a.1.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties, each with its own rule")]
pub struct Capabilities {
    /// What a call may do to the world.
    pub effect: ToolEffect,
    /// Calls may run beside other calls.
    pub parallel_safe: bool,
    /// An equal call of the same turn may be answered with the first one's result.
    pub cacheable: bool,
    /// A call that failed for a passing reason may be tried again as it is.
    pub retry_same_args: bool,
    /// The result depends on the workspace, so it is out of date once that changes.
    pub observes_workspace: bool,
}

impl Capabilities {
    /// Computes; sees and changes nothing.
    pub const PURE: Self = Self {
        effect: ToolEffect::Pure,
        parallel_safe: true,
        cacheable: true,
        retry_same_args: true,
        observes_workspace: false,
    };
    /// Reads the workspace.
    pub const WORKSPACE_READ: Self =
        Self { effect: ToolEffect::WorkspaceRead, observes_workspace: true, ..Self::PURE };
    /// Reads from the network.
    pub const NETWORK_READ: Self = Self { effect: ToolEffect::NetworkRead, ..Self::PURE };
    /// Does something else, alone.
    pub const EXCLUSIVE: Self = Self {
        effect: ToolEffect::Exclusive,
        parallel_safe: false,
        cacheable: false,
        retry_same_args: false,
        observes_workspace: false,
    };
    /// Changes the workspace.
    pub const WORKSPACE_WRITE: Self =
        Self { effect: ToolEffect::WorkspaceWrite, ..Self::EXCLUSIVE };
    /// Starts programs.
    pub const PROCESS: Self =
        Self { effect: ToolEffect::Process, observes_workspace: true, ..Self::EXCLUSIVE };

    /// What is known of a tool of which only the effect is.
    pub const fn of(effect: ToolEffect) -> Self {
        match effect {
            ToolEffect::Pure => Self::PURE,
            ToolEffect::WorkspaceRead => Self::WORKSPACE_READ,
            ToolEffect::NetworkRead => Self::NETWORK_READ,
            ToolEffect::WorkspaceWrite => Self::WORKSPACE_WRITE,
            ToolEffect::Process => Self::PROCESS,
            ToolEffect::Exclusive => Self::EXCLUSIVE,
        }
    }

    /// True when a call has effects: it runs alone, nothing overtakes it, and what fails before it
    /// keeps it from running (spec a.1.8, d.5).
    pub const fn is_barrier(self) -> bool {
        !self.effect.is_repeatable()
    }
}

/// Outcome of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what was asked.
    Success,
    /// It did a part, or ended with a non-zero exit code.
    Partial,
    /// It worked and found nothing.
    Empty,
    /// It failed and may work when tried again.
    RetryableError,
    /// It failed and will fail again.
    FatalError,
    /// It was not run because the same call gave the same result before.
    Repeated,
    /// It was not run.
    Skipped,
    /// It was cut off; whether it had effects is unknown.
    Interrupted,
}

/// Something a result rests on, for an answer to point at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Where it is, such as `file:src/lib.rs#L10-20` or a URL.
    pub uri: String,
    /// What readers call it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The words that matter, at most [`Evidence::MAX_EXCERPT`] characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
}

impl Evidence {
    /// Longest excerpt in characters.
    pub const MAX_EXCERPT: usize = 400;
    /// Most pieces of evidence of one result.
    pub const MAX_PER_RESULT: usize = 20;
}

/// A picture that the model is to see.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolImage {
    /// "image/png", "image/jpeg", "image/gif" or "image/webp".
    pub media_type: String,
    /// The file in base 64, at most [`ToolImage::MAX_BYTES`] bytes before that.
    pub data_base64: String,
}

impl ToolImage {
    /// Largest file in bytes. It is kept in the log and sent with each request.
    pub const MAX_BYTES: usize = 1024 * 1024;
}

impl std::fmt::Debug for ToolImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { media_type, data_base64 } = self;
        f.debug_struct("ToolImage")
            .field("media_type", media_type)
            .field("base64_bytes", &data_base64.len())
            .finish_non_exhaustive()
    }
}

/// What a call asks of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRequest {
    /// This is what it has set out to do from now on.
    Todo(TodoList),
    /// Something is to become of its plan.
    Plan(PlanCommand),
    /// Something is to be remembered, or asked of what is.
    Memory(MemoryCommand),
    /// The output of an earlier call is to be shown again.
    Output(OutputRequest),
}

/// Which output is to be shown again, and what of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputRequest {
    /// The call, as the model names it.
    pub call_id: String,
    /// What of it.
    pub part: OutputPart,
}

/// A part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputPart {
    /// Some of its characters.
    Range {
        /// The first, from 0.
        offset: u32,
        /// Most of them.
        limit: u32,
    },
    /// The lines that hold a text, and those around them.
    Matching {
        /// The text, in any case.
        pattern: String,
    },
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Outcome.
    pub status: ToolStatus,
    /// What the model is shown.
    pub output: String,
    /// Machine-readable error such as `TOOL_ARGUMENT_VALIDATION_FAILED`; empty on success.
    pub error_code: String,
    /// What the output rests on.
    pub evidence: Vec<Evidence>,
    /// A unified diff of what changed, for people; empty when nothing did.
    pub diff: Box<str>,
    /// Exit code of the program that ran, if one did.
    pub exit_code: Option<i32>,
    /// True when the workspace may have changed, also when the call failed.
    pub workspace_changed: bool,
    /// What the session is to do with what it keeps; none: nothing.
    pub request: Option<Box<SessionRequest>>,
    /// A picture that the model sees beside the output, if it sees pictures.
    pub image: Option<Box<ToolImage>>,
}

impl ToolResult {
    /// A result with this status, output and error code.
    pub fn new(status: ToolStatus, output: impl Into<String>, error_code: &str) -> Self {
        Self {
            status,
            output: output.into(),
            error_code: error_code.to_owned(),
            evidence: Vec::new(),
            diff: Box::default(),
            exit_code: None,
            workspace_changed: false,
            request: None,
            image: None,
        }
    }

    /// A result that did what was asked.
    pub fn success(output: impl Into<String>) -> Self {
        Self::new(ToolStatus::Success, output, "")
    }

    /// A result that did a part of what was asked.
    pub fn partial(code: &str, output: impl Into<String>) -> Self {
        Self::new(ToolStatus::Partial, output, code)
    }

    /// A result that worked and found nothing.
    pub fn empty(output: impl Into<String>) -> Self {
        Self::new(ToolStatus::Empty, output, "")
    }

    /// A failure that will fail again with the same arguments.
    pub fn fatal(code: &str, message: impl Into<String>) -> Self {
        Self::new(ToolStatus::FatalError, message, code)
    }

    /// A failure that may pass by itself.
    pub fn retryable(code: &str, message: impl Into<String>) -> Self {
        Self::new(ToolStatus::RetryableError, message, code)
    }

    /// Adds what the output rests on; what is too much is left out.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        let room = Evidence::MAX_PER_RESULT.saturating_sub(self.evidence.len());
        self.evidence.extend(evidence.into_iter().take(room).map(|mut piece| {
            piece.excerpt = crate::cut_line(&piece.excerpt, Evidence::MAX_EXCERPT);
            piece
        }));
        self
    }

    /// Adds what changed in the workspace.
    #[must_use]
    pub fn with_diff(mut self, diff: impl Into<Box<str>>) -> Self {
        self.diff = diff.into();
        self.workspace_changed = true;
        self
    }

    /// True when trying again may work.
    pub fn is_retryable(&self) -> bool {
        self.status == ToolStatus::RetryableError
    }
}

/// Where a result comes from (spec d.14).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultSource {
    /// The call was run.
    #[default]
    Run,
    /// An equal call of the turn had been run before.
    Cache,
    /// An equal call ran at the same time.
    Shared,
    /// The call was not run.
    NotRun,
}

/// How a call was run (spec d.14).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallMetrics {
    /// Where the result comes from.
    pub source: ResultSource,
    /// How often it was tried; 0: not run.
    pub attempts: u32,
    /// Milliseconds between the answer that asked for it and its start.
    pub waited_ms: u64,
    /// Calls in the same answer.
    pub batch_size: u32,
    /// Calls that could run at the same time.
    pub parallel_width: u32,
}

impl CallMetrics {
    /// True when there is nothing to tell.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// How a tool is described to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// `^[A-Za-z0-9_-]{1,64}$`.
    pub name: String,
    /// One or two sentences for the model.
    pub description: String,
    /// JSON Schema of the arguments: an object without additional properties.
    pub parameters: serde_json::Value,
    /// What the tool may do, and how its calls may be run.
    pub capabilities: Capabilities,
}
