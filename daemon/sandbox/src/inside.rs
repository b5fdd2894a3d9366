//! The helper process: it runs where the program runs, and the daemon does not.
//!
//! `supervise` stays beside the program, ends all that it started and reports; `confine` gives up
//! rights and becomes the program. Both are the daemon's own binary, started again.

mod confine;
mod enter;
mod filters;
mod processes;
mod supervise;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::Limits;

/// The hidden command of the daemon behind which the helper's arguments stand.
pub const HELPER_COMMAND: &str = "sandbox-exec";

/// The helper's role before anything of a box is started.
pub(crate) const ENTER: &str = "enter";

/// Roles of the helper: beside a program, and becoming it; without a terminal and in one.
pub(crate) const SUPERVISE: &str = "supervise";
pub(crate) const SUPERVISE_TERMINAL: &str = "supervise-terminal";
const CONFINE: &str = "confine";
const CONFINE_TERMINAL: &str = "confine-terminal";

/// What a program gets as its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// Nothing.
    None,
    /// The terminal that its output is, which it controls.
    Terminal,
}

/// The helper could not do its work, so the program was not run.
const NOT_CONFINED: u8 = 125;

/// What the helper does to a program before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) cwd: PathBuf,
    pub(crate) limits: Limits,
    /// What Landlock allows; none: it is not used.
    pub(crate) paths: Option<Paths>,
    /// What seccomp allows of sockets; none: it is not used.
    pub(crate) sockets: Option<Sockets>,
    /// What keeps files from being cut off, where seccomp is used.
    pub(crate) files: Files,
    /// What seccomp allows of modes, where it is used.
    pub(crate) modes: Modes,
    /// The kernel counts the processes of the box apart from the user's others.
    pub(crate) counts_own_processes: bool,
    /// In the network of the box a port leads to the hosts that were granted.
    pub(crate) egress: bool,
}

/// What may be read and written, with all that is below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paths {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// Without Landlock the program is not run.
    pub(crate) must_hold: bool,
}

/// Which sockets may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sockets {
    /// All: something else shuts off the network.
    Any,
    /// Those of the internet, and none to other programs of this machine by path.
    Internet,
    /// None but pairs.
    None,
}

/// What keeps a program from files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Files {
    /// What it may not have is not in sight.
    ByMounts,
    /// Landlock alone, which does not hold everything in every kernel.
    ByLandlock,
}

/// Whether modes, owners, times and attributes of files may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Modes {
    /// As far as the user may.
    Free,
    /// None is changed.
    Kept,
}

/// Runs the helper with the arguments behind [`HELPER_COMMAND`].
pub fn run_helper(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let role = arguments.next().unwrap_or_default();
    if role == ENTER {
        return enter::enter(arguments);
    }
    let confinement = arguments.next().unwrap_or_default();
    let argv: Vec<OsString> = arguments.skip_while(|word| word == "--").collect();
    let read = confinement.to_str().ok_or("not text".to_owned()).and_then(|text| {
        serde_json::from_str::<Confinement>(text).map_err(|error| error.to_string())
    });
    let done = read.and_then(|confinement| match role.to_str() {
        Some(SUPERVISE) => supervise::supervise(&confinement, &argv, Input::None),
        Some(SUPERVISE_TERMINAL) => supervise::supervise(&confinement, &argv, Input::Terminal),
        Some(CONFINE) => confine::confine(&confinement, &argv, Input::None),
        Some(CONFINE_TERMINAL) => confine::confine(&confinement, &argv, Input::Terminal),
        _ => Err("it is for the daemon alone".to_owned()),
    });
    done.unwrap_or_else(|error| {
        // Whoever reads the output of the program sees it; there is nobody else to tell.
        let _unheard = writeln!(std::io::stderr(), "{HELPER_COMMAND}: {error}");
        ExitCode::from(NOT_CONFINED)
    })
}
