//! Tools that run programs, with the daemon's binary as the helper of the sandbox.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use agentd::config::SandboxConfig;
use agentd_domain::{Action, SessionId, ToolResult};
use agentd_engine::SystemClock;
use agentd_sandbox::{Backend, Choice, Programs};
use agentd_tools::{
    BuiltinSettings, CallLimits, FetchSettings, LiveOutput, NetSettings, NoGoals, NoHistory,
    Nobody, Registry, ToolContext, process_tools, run_call,
};
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
    let here = FetchSettings { allow_hosts: vec!["127.0.0.1".to_owned()] };
    let policy = config.policy(PathBuf::from(helper), vec![hidden.path().to_owned()]);
    let mut registry = Registry::builtin_with(BuiltinSettings {
        net: NetSettings { fetch: here, ..NetSettings::default() },
        helper: Some(PathBuf::from(helper)),
        ..BuiltinSettings::default()
    });
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
            session: SessionId::from_parts(1, 1),
            clock: Arc::new(SystemClock),
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

    /// Does what a person does to the workspace, outside of the box.
    pub(crate) fn outside(&self, script: &str) {
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", script]).current_dir(self.workspace.path()).env_clear();
        bash.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        if rustix::process::geteuid().is_root() {
            bash.uid(NOBODY).gid(NOBODY);
        }
        let output = bash.output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
    }

    /// Starts a command in the background and gives the id of its job.
    pub(crate) async fn job(&self, command: &str) -> String {
        let arguments = json!({ "command": command, "background": true });
        let result = self.call("run_command", arguments).await;
        let words = result.output.split_once("runs as job ").expect("a job").1;
        words.split_once(' ').expect("an id").0.to_owned()
    }

    pub(crate) async fn look(&self, action: &str, id: &str) -> ToolResult {
        self.call("job", json!({ "action": action, "id": id })).await
    }

    pub(crate) async fn python(&self, code: &str) -> ToolResult {
        self.call("run_python", json!({ "code": code })).await
    }
}

/// A number of seconds for `sleep` that no other process of the machine shows.
pub(crate) fn long(of: u32) -> String {
    format!("7{}.{of}", std::process::id())
}

/// True when a process shows these words in its arguments.
pub(crate) fn runs_with(words: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(words))
}
