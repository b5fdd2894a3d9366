//! The port that every tool implements, and the form in which tools are written.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentd_domain::{Action, Capabilities, Clock, SessionId, ToolResult, ToolSpec};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::fs::FileLedger;
use crate::goals::Goals;
use crate::history::History;
use crate::live_output::LiveOutput;
use crate::people::People;
use crate::{arguments, schema};

/// Whether requests describe a tool to the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rank {
    /// Every request does. There is room for few, see the test of the budget.
    #[default]
    First,
    /// None does: the model finds it with `find_tools` and calls it through `call_tool`.
    Second,
}

/// What a call may use.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// Root of the session's workspace. Tools open it as a directory handle and never leave it.
    pub workspace: PathBuf,
    /// Further directories of the session, of which all that is said of the workspace holds; paths in
    /// them are absolute. None lies in another.
    pub further_roots: Arc<[PathBuf]>,
    /// The session that calls.
    pub session: SessionId,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Cancelled when the turn is. A tool stops soon after; blocking work checks it between steps.
    pub cancel: CancellationToken,
    /// What the session has read of which file.
    pub files: Arc<FileLedger>,
    /// Where a call shows what it does while it runs.
    pub output: LiveOutput,
    /// Whom a call may ask and tell.
    pub people: Arc<dyn People>,
    /// The goals that hold in the workspace.
    pub goals: Arc<dyn Goals>,
    /// What was said in all sessions.
    pub history: Arc<dyn History>,
    /// Protected files that it may read all the same: paths relative to the workspace, without links.
    pub readable: Arc<[PathBuf]>,
}

/// One tool, as the daemon sees it. Tools are written as [`TypedTool`]; one file per tool, and
/// adding one is that file and a line in the list of its category.
#[async_trait]
pub trait Tool: Debug + Send + Sync + 'static {
    /// How it is described to the model.
    fn spec(&self) -> &ToolSpec;

    /// Names that it was known by elsewhere and still answers to; the model is not told of them.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether requests describe it.
    fn rank(&self) -> Rank {
        Rank::default()
    }

    /// Longest run of a call with these arguments; none: the usual 30 s.
    fn timeout(&self, _arguments: &Value) -> Option<Duration> {
        None
    }

    /// Why it cannot be used on this machine, and what would add it; none: it can.
    async fn missing(&self) -> Option<String> {
        None
    }

    /// Says what a call will do, having looked at what it will touch. Nothing is changed yet.
    ///
    /// # Errors
    /// The result of the call, when it is clear already that it cannot be carried out.
    async fn plan(&self, _ctx: &ToolContext, _arguments: &Value) -> Result<Action, ToolResult> {
        Ok(Action::default())
    }

    /// Runs one call with arguments that passed the schema. It does what `planned` says or nothing:
    /// a file that is no longer what was looked at is left alone. Failures are results, not panics.
    async fn run(&self, ctx: &ToolContext, arguments: Value, planned: &Action) -> ToolResult;

    /// What the model should know when a turn begins and has not been told: one clause. It is told
    /// once.
    fn session_note(&self, _session: SessionId) -> Option<String> {
        None
    }

    /// Ends what a session keeps running; none: what all of them do, since the daemon stops.
    async fn end_session(&self, _session: Option<SessionId>) {}
}

/// What a tool says of itself.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// `^[A-Za-z0-9_-]{1,64}$`.
    pub name: &'static str,
    /// One or two sentences for the model, without line breaks.
    pub description: &'static str,
    /// What it may do, and how its calls may be run.
    pub capabilities: Capabilities,
    /// Names that it was known by elsewhere.
    pub aliases: &'static [&'static str],
}

/// A tool as it is written: with the type of its arguments, from which the schema is made.
#[async_trait]
pub trait TypedTool: Debug + Send + Sync + 'static {
    /// Its arguments. Unknown fields are refused by the derive (`deny_unknown_fields`).
    type Arguments: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// What it says of itself.
    fn about(&self) -> About;

    /// See [`Tool::rank`].
    fn rank(&self) -> Rank {
        Rank::default()
    }

    /// See [`Tool::timeout`].
    fn timeout(&self, _arguments: &Self::Arguments) -> Option<Duration> {
        None
    }

    /// See [`Tool::missing`].
    async fn missing(&self) -> Option<String> {
        None
    }

    /// See [`Tool::plan`].
    ///
    /// # Errors
    /// The result of the call, when it is clear already that it cannot be carried out.
    async fn plan(
        &self,
        _ctx: &ToolContext,
        _arguments: &Self::Arguments,
    ) -> Result<Action, ToolResult> {
        Ok(Action::default())
    }

    /// See [`Tool::run`].
    async fn run(
        &self,
        ctx: &ToolContext,
        arguments: Self::Arguments,
        planned: &Action,
    ) -> ToolResult;

    /// See [`Tool::session_note`].
    fn session_note(&self, _session: SessionId) -> Option<String> {
        None
    }

    /// See [`Tool::end_session`].
    async fn end_session(&self, _session: Option<SessionId>) {}
}

/// Makes a tool of a typed one.
pub fn tool<T: TypedTool>(typed: T) -> Arc<dyn Tool> {
    let About { name, description, capabilities, aliases } = typed.about();
    let spec = ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: schema::parameters::<T::Arguments>(),
        capabilities,
    };
    Arc::new(Typed { inner: typed, spec, aliases })
}

#[derive(Debug)]
struct Typed<T> {
    inner: T,
    spec: ToolSpec,
    aliases: &'static [&'static str],
}

#[async_trait]
impl<T: TypedTool> Tool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn rank(&self) -> Rank {
        self.inner.rank()
    }

    fn timeout(&self, arguments: &Value) -> Option<Duration> {
        self.inner.timeout(&arguments::read(arguments.clone()).ok()?)
    }

    async fn missing(&self) -> Option<String> {
        self.inner.missing().await
    }

    async fn plan(&self, ctx: &ToolContext, arguments: &Value) -> Result<Action, ToolResult> {
        let arguments = arguments::read(arguments.clone())?;
        self.inner.plan(ctx, &arguments).await
    }

    async fn run(&self, ctx: &ToolContext, arguments: Value, planned: &Action) -> ToolResult {
        match arguments::read(arguments) {
            Ok(arguments) => self.inner.run(ctx, arguments, planned).await,
            Err(result) => result,
        }
    }

    fn session_note(&self, session: SessionId) -> Option<String> {
        self.inner.session_note(session)
    }

    async fn end_session(&self, session: Option<SessionId>) {
        self.inner.end_session(session).await;
    }
}
