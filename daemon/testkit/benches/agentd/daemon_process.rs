//! The daemon as users run it: a process of its own, built with optimisation.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use agentd_shared::{Client, Endpoint, Paths};
use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// A folder for one daemon's files. Removed at the end.
#[derive(Debug)]
pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    /// Configures a model at `base_url`. `more` is added to the configuration. Titles come from the
    /// first message: a request in the background would disturb what is measured. Nobody is held to a
    /// rate of messages.
    pub(crate) fn new(base_url: &str, more: &str) -> anyhow::Result<Self> {
        let home = Self { dir: tempfile::tempdir()? };
        home.configure(base_url, more)?;
        Ok(home)
    }

    /// Writes the configuration anew.
    pub(crate) fn configure(&self, base_url: &str, more: &str) -> anyhow::Result<()> {
        let paths = self.paths();
        for dir in [&paths.config_dir, &paths.data_dir] {
            agentd_shared::ensure_private_dir(dir)?;
        }
        let text = format!(
            "[provider]\nbase_url = \"{base_url}\"\nmodel = \"scripted\"\n\
             [session]\ntitles = \"first_message\"\n[submit]\nper_client_per_second = 0\n{more}"
        );
        fs::write(paths.config_file(), text)?;
        Ok(())
    }

    pub(crate) fn paths(&self) -> Paths {
        Paths::under(self.dir.path())
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// A daemon that runs. Killed when dropped.
#[derive(Debug)]
pub(crate) struct DaemonProcess {
    child: Child,
    pid: u32,
    endpoint: Endpoint,
    /// From the spawn to the line that says that it can be reached.
    pub(crate) ready_after: Duration,
    pub(crate) spawned_at: Instant,
}

impl DaemonProcess {
    pub(crate) async fn start(home: &Home) -> anyhow::Result<Self> {
        let log = File::options().create(true).append(true).open(home.path().join("log"))?;
        let mut command = Command::new(program()?);
        command
            .arg("--announce")
            .arg("--home")
            .arg(home.path())
            .env_clear()
            .env("HOME", home.path())
            // Where bubblewrap is looked for.
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        let spawned_at = Instant::now();
        let mut child = command.spawn().context("start agentd")?;
        let stdout = child.stdout.take().context("a pipe")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let ready_after = spawned_at.elapsed();
        if line.is_empty() {
            let log = fs::read_to_string(home.path().join("log")).unwrap_or_default();
            bail!("agentd did not start: {log}");
        }
        let pid = child.id().context("a pid")?;
        let endpoint = Endpoint::new(home.paths().socket());
        Ok(Self { child, pid, endpoint, ready_after, spawned_at })
    }

    pub(crate) async fn connect(&self) -> anyhow::Result<Client> {
        Ok(Client::connect(&self.endpoint).await?)
    }

    /// Resident memory in KiB.
    pub(crate) fn resident_kib(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()).context("VmRSS")?;
        Ok(number.parse()?)
    }

    /// Stops it in order, as a service manager does.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).context("a pid")?;
        kill_process(pid, Signal::TERM)?;
        let status = self.child.wait().await?;
        ensure!(status.success(), "agentd stopped with {status}");
        Ok(())
    }

    /// Kills it as a crash does.
    pub(crate) async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await?;
        Ok(())
    }
}

/// What `cargo xtask bench` built, else what lies where cargo puts it.
fn program() -> anyhow::Result<PathBuf> {
    if let Some(program) = std::env::var_os("AGENTD_BIN") {
        return Ok(program.into());
    }
    let here = std::env::current_exe()?;
    let beside = here.parent().and_then(Path::parent).map(|dir| dir.join("agentd"));
    let program = beside.filter(|program| program.is_file());
    program.context("agentd is not built: use `cargo xtask bench`, or name it in AGENTD_BIN")
}
