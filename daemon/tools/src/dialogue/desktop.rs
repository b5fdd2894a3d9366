//! Messages on the desktop of the daemon's user, where he has one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use agentd_domain::cut_line;
use tokio::process::Command;

/// Longest wait for the desktop.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of an error is told, in characters.
const MAX_ERROR: usize = 120;

/// Variables that lead to a desktop.
const VARIABLES: [&str; 5] =
    ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "PATH", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"];

/// What is known of the desktop around this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings(Vec<(&'static str, OsString)>);

impl Surroundings {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let known = |name: &'static str| Some((name, std::env::var_os(name)?));
        Self(VARIABLES.into_iter().filter_map(known).collect())
    }

    #[cfg(test)]
    pub(super) fn of(variables: &[(&'static str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect())
    }

    fn variable(&self, name: &str) -> Option<&OsString> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Shows a message.
    ///
    /// # Errors
    /// Why it was not shown.
    pub(super) async fn show(&self, urgency: &str, title: &str, text: &str) -> Result<(), String> {
        let in_runtime_dir =
            self.variable("XDG_RUNTIME_DIR").map(|dir| PathBuf::from(dir).join("bus"));
        let has_bus = self.variable("DBUS_SESSION_BUS_ADDRESS").is_some()
            || in_runtime_dir.is_some_and(|bus| bus.exists());
        if !has_bus {
            return Err("the daemon runs in no desktop session".to_owned());
        }
        let path = self.variable("PATH").cloned().unwrap_or_default();
        let program = std::env::split_paths(&path)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join("notify-send"))
            .find(|program| program.is_file())
            .ok_or("notify-send is missing, which the package libnotify-bin adds")?;
        let shown = Command::new(program)
            .args(["--app-name=agentd", "--urgency", urgency, "--", title, &escaped(text)])
            .env_clear()
            .envs(self.0.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .output();
        match tokio::time::timeout(PATIENCE, shown).await {
            Err(_late) => Err("the desktop does not answer".to_owned()),
            Ok(Err(error)) => Err(format!("notify-send cannot be started: {error}")),
            Ok(Ok(output)) if output.status.success() => Ok(()),
            Ok(Ok(output)) => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(format!("notify-send says: {}", cut_line(&said, MAX_ERROR)))
            }
        }
    }
}

/// Text as it is, where desktops would read markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
