//! Tools that run programs, with the daemon's binary as the helper of the sandbox.

use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::sync::Arc;

use agentd::config::SandboxConfig;
use agentd_domain::{Action, ToolResult};
use agentd_engine::SystemClock;
use agentd_sandbox::{Backend, Choice, Programs};
use agentd_tools::{CallLimits, LiveOutput, Registry, ToolContext, process_tools, run_call};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Place {
    pub(crate) workspace: TempDir,
    pub(crate) hidden: TempDir,
    pub(crate) registry: Registry,
}

/// As whom commands run when the tests are root's.
const NOBODY: u32 = 65_534;

pub(crate) fn directory() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    if rustix::process::geteuid().is_root() {
        chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    dir
}

/// Behind this backend, with this configuration.
pub(crate) fn place(choice: Choice, helper: &str, config: &SandboxConfig) -> Place {
    let hidden = directory();
    let policy = config.policy(PathBuf::from(helper), vec![hidden.path().to_owned()]);
    let mut registry = Registry::builtin();
    let programs = Arc::new(Programs::new(choice, policy));
    for tool in process_tools(&programs, config.limits.processes(), Vec::new()) {
        registry.register(tool).unwrap();
    }
    Place { workspace: directory(), hidden, registry }
}

/// Behind the best backend of this machine.
pub(crate) fn boxed() -> Place {
    boxed_with(&SandboxConfig::default())
}

pub(crate) fn boxed_with(config: &SandboxConfig) -> Place {
    place(Choice::Auto, env!("CARGO_BIN_EXE_agentd"), config)
}

/// Behind nothing.
pub(crate) fn open() -> Place {
    let choice = Choice::Only(Backend::None);
    place(choice, env!("CARGO_BIN_EXE_agentd"), &SandboxConfig::default())
}

impl Place {
    pub(crate) fn context(&self) -> ToolContext {
        ToolContext {
            workspace: self.workspace.path().to_owned(),
            clock: Arc::new(SystemClock),
            cancel: CancellationToken::new(),
            files: Arc::default(),
            output: LiveOutput::nobody(),
        }
    }

    pub(crate) async fn planned(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<Action, ToolResult> {
        let call = self.registry.prepare(tool, &arguments.to_string())?;
        call.plan(&self.context()).await
    }

    pub(crate) async fn call_in(
        &self,
        ctx: &ToolContext,
        tool: &str,
        arguments: Value,
    ) -> ToolResult {
        let prepared = self.registry.prepare(tool, &arguments.to_string());
        let call = match prepared {
            Ok(call) => call,
            Err(refused) => return refused,
        };
        match call.plan(ctx).await {
            Ok(planned) => {
                let limits = CallLimits::of(&call);
                run_call(call, &planned, ctx, limits).await.result
            }
            Err(refused) => refused,
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.call_in(&self.context(), tool, arguments).await
    }

    pub(crate) async fn bash(&self, command: &str) -> ToolResult {
        self.call("run_command", json!({ "command": command })).await
    }

    pub(crate) async fn python(&self, code: &str) -> ToolResult {
        self.call("run_python", json!({ "code": code })).await
    }
}
