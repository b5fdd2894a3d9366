//! A Chromium of its own for one page, in a box of its own.
//!
//! It is talked to through the pipes that it has as descriptors 3 and 4: a FIFO in the only directory
//! that the box shows, and its output. Its profile is in the box's memory and gone with it. Chromium's
//! own sandbox needs namespaces, which no program of a box may make; the box stands in its place.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use agentd_domain::ToolResult;
use agentd_sandbox::{Child, Limits, Output, Policy, Programs};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use tokio::net::unix::pipe;

use crate::ToolContext;
use crate::process::command::{Ready, Wanted, unavailable};

/// Where the packages of distributions put the program itself, for which the name in `PATH` is a script
/// that reads settings which a box does not show.
const PLACES: [&str; 3] = [
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
];

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The FIFO.
const INPUT: &str = "in";

/// Gives it its pipes, a place for its profile, and fonts, whose settings a box does not show.
const START: &str = r#"printf '<fontconfig><dir>/usr/share/fonts</dir><cachedir>%s/fonts</cachedir></fontconfig>' "$TMPDIR" >"$TMPDIR/fonts.conf"
export FONTCONFIG_FILE="$TMPDIR/fonts.conf"
exec "$0" "$@" --proxy-server="$HTTP_PROXY" --user-data-dir="$TMPDIR/profile" 3<in 4>&1 1>&2"#;

const FLAGS: [&str; 17] = [
    "--headless",
    "--remote-debugging-pipe",
    // See the module.
    "--no-sandbox",
    "--no-zygote",
    // Not even what is in the box itself is asked without the proxy.
    "--proxy-bypass-list=<-loopback>",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--window-size=1280,800",
];

const GIB: u64 = 1024 * 1024 * 1024;

/// The browser that programs of this daemon could run; none: there is none where they run.
pub fn installed(policy: &Policy) -> Option<PathBuf> {
    let places = PLACES.iter().map(Path::new).filter(|place| policy.shows(place));
    places.map(Path::to_owned).next().or_else(|| NAMES.iter().find_map(|name| policy.find(name)))
}

/// A browser that is about to be started.
#[derive(Debug)]
pub(super) struct Chromium {
    pub(super) ready: Ready,
    stage: TempDir,
}

/// One that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: Child,
    pub(super) to: pipe::Sender,
    pub(super) from: Output,
    pub(super) errors: Output,
    /// Removed when it has ended.
    _stage: TempDir,
}

impl Chromium {
    /// Looks at what would be started, and behind what.
    ///
    /// # Errors
    /// The result of the call, when there is no browser, or nothing that keeps it to public hosts.
    pub(super) async fn of(
        programs: &Programs,
        ctx: &ToolContext,
        limits: Limits,
    ) -> Result<Self, ToolResult> {
        let program = installed(programs.policy()).ok_or_else(missing)?;
        let stage = stage(&ctx.workspace)
            .map_err(|error| unavailable(&format!("it has no directory: {error}")))?;
        let mut argv = ["sh", "-c", START].map(str::to_owned).to_vec();
        argv.push(program.to_string_lossy().into_owned());
        argv.extend(FLAGS.map(str::to_owned));
        let limits = Limits {
            // It reserves far more than it uses.
            address_bytes: 64 * 1024 * GIB,
            cpu_percent: None,
            ..limits
        };
        let inside = ToolContext { workspace: stage.path().to_owned(), ..ctx.clone() };
        let wanted = Wanted { argv, cwd: None, writes: false, network: &[], limits };
        let ready = Ready::of(programs, &inside, wanted).await?;
        Ok(Self { ready: ready.through_to_public_hosts(programs.policy())?, stage })
    }

    /// Starts it as it was planned.
    ///
    /// # Errors
    /// The result of the call, when it was not started.
    pub(super) async fn start(
        self,
        planned: &agentd_domain::Action,
    ) -> Result<Running, ToolResult> {
        let Self { ready, stage } = self;
        // With both ends in one hand it is there before the browser opens it.
        let to = pipe::OpenOptions::new()
            .read_write(true)
            .open_sender(stage.path().join(INPUT))
            .map_err(|error| unavailable(&format!("it has no input: {error}")))?;
        let mut child = ready.start(planned).await?;
        let (Some(from), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(unavailable("it has no output"));
        };
        Ok(Running { child, to, from, errors, _stage: stage })
    }
}

/// The result of a call where there is no browser.
fn missing() -> ToolResult {
    ToolResult::fatal("MISSING_PROGRAM", format!("The page was not rendered: {MISSING}"))
}

/// What would add it.
pub(super) const MISSING: &str =
    "there is no Chromium where programs run. The package chromium of this system adds it.";

/// A directory with the FIFO, of whoever owns the workspace: as whom programs run.
fn stage(workspace: &Path) -> std::io::Result<TempDir> {
    let stage = tempfile::Builder::new().prefix("agentd-page-").tempdir()?;
    let input = stage.path().join(INPUT);
    mknodat(CWD, &input, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    std::fs::set_permissions(stage.path(), std::fs::Permissions::from_mode(0o700))?;
    if rustix::process::geteuid().is_root() {
        let owner = std::fs::metadata(workspace)?;
        for path in [&input, stage.path()] {
            chown(path, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    Ok(stage)
}
