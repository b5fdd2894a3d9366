//! Giving up rights, and becoming the program.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
    Scope,
};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Confinement, Input, Paths, Sockets, filters, processes};
use crate::Limits;

/// What the kernel is asked for; what it does not know yet is left out.
const ABI_ASKED: ABI = ABI::V7;

/// The first descriptor that is not input, output or errors.
const FIRST_OTHER: i32 = 3;

/// How much sooner than others a program is killed when memory runs out, in thousandths of all of it.
const OOM_SCORE: &str = "500";

/// As a shell answers for a program that is not there, or cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

pub(super) fn confine(
    confinement: &Confinement,
    argv: &[OsString],
    input: Input,
) -> Result<ExitCode, String> {
    if input == Input::Terminal {
        take_terminal().map_err(|error| format!("the terminal cannot be taken: {error}"))?;
    }
    let Confinement { cwd, limits, paths, sockets, files, modes, counts_own_processes, egress: _ } =
        confinement;
    let (program, arguments) = argv.split_first().ok_or("there is no program")?;
    std::env::set_current_dir(cwd)
        .map_err(|error| format!("directory {} cannot be entered: {error}", cwd.display()))?;
    close_fds::set_fds_cloexec(FIRST_OTHER, &[]);
    // The daemon's own files are for its user alone; what a build makes need not be.
    rustix::process::umask(Mode::from_raw_mode(0o022));
    limit(limits, *counts_own_processes)?;
    // When memory runs out it is the program that goes, and not what tells of it. Where that cannot be
    // said, the kernel takes the largest.
    let _unsaid = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    rustix::thread::set_no_new_privs(true).map_err(|error| error.to_string())?;
    if let Some(paths) = paths {
        restrict(paths, sockets.unwrap_or(Sockets::Any))?;
    }
    if let Some(sockets) = sockets {
        filters::apply(*sockets, *modes, *files)?;
    }
    let error = Command::new(program).args(arguments).exec();
    let _unheard =
        writeln!(std::io::stderr(), "cannot run {}: {error}", Path::new(program).display());
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    Ok(ExitCode::from(if is_missing { NOT_FOUND } else { NOT_RUN }))
}

/// Makes the input the terminal of a session of this process's own.
fn take_terminal() -> std::io::Result<()> {
    rustix::process::setsid()?;
    Ok(rustix::process::ioctl_tiocsctty(std::io::stdin())?)
}

/// Sets hard limits; nobody inside can raise them again.
fn limit(limits: &Limits, counts_own_processes: bool) -> Result<(), String> {
    // The kernel counts all processes of a user together, unless the box has its own count.
    let others = if counts_own_processes { 0 } else { processes::of_user() };
    let cpu = limits.cpu.as_secs().max(1);
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Cpu, cpu),
        (Resource::Data, limits.memory_bytes),
        (Resource::As, limits.address_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.processes.saturating_add(others)),
    ] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            .map_err(|error| format!("limit {resource:?} cannot be set to {most}: {error}"))?;
    }
    Ok(())
}

fn restrict(paths: &Paths, sockets: Sockets) -> Result<(), String> {
    let wrong = |error: landlock::RulesetError| format!("Landlock refused: {error}");
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI_ASKED))
        .map_err(wrong)?
        .scope(Scope::from_all(ABI_ASKED))
        .map_err(wrong)?;
    if sockets == Sockets::None {
        rules = rules.handle_access(AccessNet::from_all(ABI_ASKED)).map_err(wrong)?;
    }
    let mut rules = rules.create().map_err(wrong)?;
    for path in &paths.read {
        rules = allow(rules, path, AccessFs::from_read(ABI_ASKED))?;
    }
    for path in &paths.write {
        rules = allow(rules, path, AccessFs::from_all(ABI_ASKED))?;
    }
    let status = rules.restrict_self().map_err(wrong)?;
    if paths.must_hold && status.ruleset == RulesetStatus::NotEnforced {
        return Err("this kernel has no Landlock, or it is switched off".to_owned());
    }
    Ok(())
}

/// Allows what is there.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    let Ok(open) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI_ASKED) };
    rules
        .add_rule(PathBeneath::new(open, access))
        .map_err(|error| format!("Landlock refused {}: {error}", path.display()))
}
