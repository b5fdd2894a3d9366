//! A workspace in a temporary directory, and calls on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentd_domain::{Clock, SessionId, TimestampMs, ToolResult, ToolStatus};
use agentd_tools::{
    CallLimits, FileLedger, LiveOutput, NoGoals, NoHistory, Nobody, Registry, ToolContext, run_call,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(crate) struct FixedClock(pub(crate) i64);

impl Clock for FixedClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(self.0)
    }
}

pub(crate) fn context(workspace: &Path) -> ToolContext {
    ToolContext {
        workspace: workspace.to_owned(),
        session: SessionId::from_parts(1, 1),
        clock: Arc::new(FixedClock(1_767_323_045_000)),
        cancel: CancellationToken::new(),
        files: Arc::default(),
        output: LiveOutput::nobody(),
        people: Arc::new(Nobody),
        goals: Arc::new(NoGoals),
        history: Arc::new(NoHistory),
        readable: Arc::default(),
        further_roots: Arc::default(),
    }
}

/// A temporary directory that holds the workspace `w` and, beside it, a file that must not leak.
pub(crate) struct Place {
    _dir: tempfile::TempDir,
    pub(crate) outside: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) registry: Registry,
    /// What the session has read.
    pub(crate) files: Arc<FileLedger>,
}

pub(crate) const SECRET: &str = "not for the model";

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = dir.path().canonicalize().expect("its real path");
        let (outside, workspace) = (root.join("outside"), root.join("w"));
        std::fs::create_dir(&outside).expect("create outside");
        std::fs::create_dir(&workspace).expect("create w");
        std::fs::write(outside.join("victim"), SECRET).expect("write victim");
        Self { _dir: dir, outside, workspace, registry: Registry::builtin(), files: Arc::default() }
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.workspace.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("create directories");
        std::fs::write(path, bytes).expect("write a file");
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) {
        std::os::unix::fs::symlink(target, self.workspace.join(name)).expect("make a link");
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.call_in(&self.workspace, tool, arguments).await
    }

    pub(crate) async fn call_in(
        &self,
        workspace: &Path,
        tool: &str,
        arguments: Value,
    ) -> ToolResult {
        match self.registry.prepare(tool, &arguments.to_string()) {
            Ok(call) => {
                let ctx = ToolContext { files: Arc::clone(&self.files), ..context(workspace) };
                match call.plan(&ctx).await {
                    Ok(planned) => {
                        run_call(call, &planned, &ctx, CallLimits::default()).await.result
                    }
                    Err(refused) => refused,
                }
            }
            Err(refused) => refused,
        }
    }

    pub(crate) async fn read(&self, path: &str) -> ToolResult {
        self.call("read_file", serde_json::json!({ "path": path })).await
    }

    pub(crate) async fn list(&self, path: &str) -> ToolResult {
        self.call("list_dir", serde_json::json!({ "path": path })).await
    }
}

#[track_caller]
pub(crate) fn assert_refused(result: &ToolResult, code: &str) {
    assert_eq!(result.error_code, code, "{result:?}");
    assert_eq!(result.status, ToolStatus::FatalError, "{result:?}");
    assert!(!result.output.contains(SECRET), "{result:?}");
    assert!(!result.output.is_empty());
}
