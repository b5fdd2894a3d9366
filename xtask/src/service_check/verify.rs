//! What systemd says of the units when it reads them.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{Part, Programs, bounded, ensure_installed};
use crate::steps::root;

/// The most exposure that the machine's unit may have, in tenths. What is left is what the sandbox
/// of tools needs.
const MOST_SYSTEM: &str = "30";
/// The same for a user's unit, which works on its user's files with its user's rights.
const MOST_USER: &str = "80";

const MISSING: &str = "systemd-analyze is not installed (Debian: apt-get install systemd)";

/// A folder with the units as they would be installed, and a runtime directory for a user's systemd.
struct Staged(PathBuf);

impl Staged {
    fn new(programs: &Programs) -> anyhow::Result<Self> {
        let staged =
            Self(std::env::temp_dir().join(format!("agentd-units.{}", std::process::id())));
        for scope in ["system", "user"] {
            let dir = staged.0.join(scope);
            std::fs::create_dir_all(&dir).context("make a folder for the units")?;
            for entry in std::fs::read_dir(root().join("systemd").join(scope))? {
                let path = entry?.path();
                let text = std::fs::read_to_string(&path).context("read a unit")?;
                let program = programs.agentd.display().to_string();
                let text = text.replace("/usr/bin/agentd", &program);
                std::fs::write(dir.join(path.file_name().unwrap_or_default()), text)?;
            }
        }
        Ok(staged)
    }

    fn unit(&self, scope: &str, name: &str) -> String {
        self.0.join(scope).join(name).display().to_string()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // It lies in the folder for temporary files.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Runs `systemd-analyze` for the system or a user.
fn analyze(
    scope: &str,
    staged: &Path,
    arguments: &[&str],
) -> anyhow::Result<(bool, String, String)> {
    let runtime = format!("XDG_RUNTIME_DIR={}", staged.display());
    let mut all = vec![runtime.as_str(), "systemd-analyze"];
    if scope == "user" {
        all.push("--user");
    }
    all.extend(arguments);
    let output = bounded(60, "env", &all)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status.success(), text(&output.stdout), text(&output.stderr)))
}

/// Any complaint is a failure: an unknown key is one, and the exit code is 0 all the same.
pub(super) fn units(programs: &Programs) -> anyhow::Result<Part> {
    if !ensure_installed("systemd-analyze", "systemd") {
        return Ok(Part::Skipped(MISSING.to_owned()));
    }
    let staged = Staged::new(programs)?;
    let mut sound = true;
    for scope in ["system", "user"] {
        let units = [staged.unit(scope, "agentd.service"), staged.unit(scope, "agentd.socket")];
        let arguments = ["verify", "--man=no", &units[0], &units[1]];
        let (success, _, complaint) = analyze(scope, &staged.0, &arguments)?;
        if !success || !complaint.is_empty() {
            println!("{scope}: {complaint}");
            sound = false;
        }
    }
    Ok(if sound { Part::Passed } else { Part::Failed })
}

/// Prints the score of each unit, and holds it against the most that it may be.
pub(super) fn exposure(programs: &Programs) -> anyhow::Result<Part> {
    if !ensure_installed("systemd-analyze", "systemd") {
        return Ok(Part::Skipped(MISSING.to_owned()));
    }
    let staged = Staged::new(programs)?;
    let mut below = true;
    for (scope, most) in [("system", MOST_SYSTEM), ("user", MOST_USER)] {
        let unit = staged.unit(scope, "agentd.service");
        let threshold = format!("--threshold={most}");
        let arguments = ["security", "--no-pager", "--offline=true", &threshold, &unit];
        let (success, said, complaint) = analyze(scope, &staged.0, &arguments)?;
        let score = said.lines().rfind(|line| line.contains("exposure level"));
        println!("{scope}: {}", score.unwrap_or(&complaint));
        below &= success && score.is_some();
    }
    Ok(if below { Part::Passed } else { Part::Failed })
}
