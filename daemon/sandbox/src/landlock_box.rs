//! A program held by Landlock and seccomp alone, where no namespaces are to be had. It sees the
//! names of other processes, and protected files of the workspace are watched, not locked.

use std::path::PathBuf;

use landlock::{CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope};

use crate::identity::Identity;
use crate::inside::{Confinement, Files, Modes, Paths, Sockets};
use crate::launch::{Launch, SpawnError, scratch};
use crate::place::{ETC, Place, SYSTEM};
use crate::{Backend, Command, Network, Policy, Profile};

/// Devices that hold nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// How the helper is called for a command.
///
/// # Errors
/// When it may reach some hosts only, something must be hidden, or there is no place for temporary files.
pub(crate) fn launch(
    command: &Command,
    policy: &Policy,
    place: &Place,
    identity: Option<Identity>,
) -> Result<Launch, SpawnError> {
    if matches!(command.network, Network::Hosts(_)) {
        return Err(SpawnError::NoHosts { backend: Backend::Landlock });
    }
    if let Some(path) = place.hidden.first() {
        return Err(SpawnError::CannotHide { path: path.clone() });
    }
    let scratch = scratch(identity)?;
    let mut read: Vec<PathBuf> = SYSTEM.iter().chain(ETC).map(PathBuf::from).collect();
    read.push("/proc".into());
    read.extend(policy.readable.iter().cloned());
    let mut write: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    write.push(scratch.path().to_owned());
    match command.profile {
        Profile::ReadOnly => read.extend(place.roots.iter().cloned()),
        Profile::WorkspaceWrite | Profile::GitWrite => write.extend(place.roots.iter().cloned()),
    }
    let inside = Confinement {
        cwd: place.cwd.clone(),
        limits: command.limits,
        paths: Some(Paths { read, write, must_hold: true }),
        // Sockets in the file system are not held by Landlock, and the daemon has one.
        sockets: Some(match command.network {
            Network::All => Sockets::Internet,
            Network::None | Network::Hosts(_) => Sockets::None,
        }),
        files: Files::ByLandlock,
        // Modes are not held by Landlock.
        modes: match command.profile {
            Profile::ReadOnly => Modes::Kept,
            Profile::WorkspaceWrite | Profile::GitWrite => Modes::Free,
        },
        counts_own_processes: false,
        egress: false,
    };
    Ok(Launch {
        outer: vec![policy.helper.clone().into()],
        inside,
        home: scratch.path().to_owned(),
        temporary: scratch.path().to_owned(),
        scratch: Some(scratch),
        kill_on_drop: false,
        terminal: None,
    })
}

/// True when the kernel's Landlock keeps signals from processes outside of the box.
pub(crate) fn holds_signals() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal)
        .and_then(Ruleset::create)
        .is_ok()
}
