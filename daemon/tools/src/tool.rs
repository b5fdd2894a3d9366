//! The port that every tool implements.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use agentd_domain::{Clock, ToolResult, ToolSpec};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

/// What a call may use.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// Root of the session's workspace. Tools open it as a directory handle and never leave it.
    pub workspace: PathBuf,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Cancelled when the turn is. A tool stops soon after; blocking work checks it between steps.
    pub cancel: CancellationToken,
}

/// One tool. One file per tool; adding one is that file and a line in the registry's list.
#[async_trait]
pub trait Tool: Debug + Send + Sync + 'static {
    /// How it is described to the model.
    fn spec(&self) -> &ToolSpec;

    /// Runs one call with arguments that passed the schema. Failures are results, not panics.
    async fn run(&self, ctx: &ToolContext, arguments: serde_json::Value) -> ToolResult;
}
