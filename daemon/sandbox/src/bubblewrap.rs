//! A box of namespaces, made by bubblewrap: it sees the system's programs, the workspace and
//! nothing else of the disk, no other process, and no network but its own unless it may use all.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::inside::{Confinement, Files, Modes, Paths, Sockets};
use crate::launch::Launch;
use crate::place::{ETC, Place, SYSTEM};
use crate::protected::{self, Mount};
use crate::{Command, Network, Policy, Profile};

/// Where the helper is inside.
const HELPER: &str = "/run/agentd-sandbox";

/// Home and temporary files inside: in memory, of a bounded size.
const TEMPORARY: &str = "/tmp";
const HOME: &str = "/tmp/home";

/// How bubblewrap is called for a command.
pub(crate) fn launch(program: &Path, command: &Command, policy: &Policy, place: &Place) -> Launch {
    let mut words = Words(vec![program.into()]);
    words.add([
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]);
    if command.network == Network::All {
        words.add(["--share-net"]);
    }
    for system in SYSTEM {
        match std::fs::read_link(system) {
            Ok(to) => words.add([OsStr::new("--symlink"), to.as_os_str(), OsStr::new(system)]),
            Err(_not_a_link) => words.add(["--ro-bind-try", system, system]),
        }
    }
    for etc in ETC {
        words.add(["--ro-bind-try", etc, etc]);
    }
    words.add(["--proc", "/proc", "--dev", "/dev"]);
    let size = command.limits.temporary_bytes.to_string();
    words.add(["--size", &size, "--tmpfs", "/dev/shm"]);
    words.add(["--size", &size, "--tmpfs", TEMPORARY, "--dir", HOME]);
    for readable in &policy.readable {
        words.mount("--ro-bind-try", readable, readable);
    }
    words.mount("--ro-bind", &policy.helper, Path::new(HELPER));
    let how = match command.profile {
        Profile::ReadOnly => "--ro-bind",
        Profile::WorkspaceWrite | Profile::GitWrite => "--bind",
    };
    for root in &place.roots {
        words.mount(how, root, root);
    }
    for Mount { path, is_read_only } in protected::mounts(place, command.profile) {
        words.mount(if is_read_only { "--ro-bind" } else { "--bind" }, &path, &path);
    }
    for hidden in &place.hidden {
        if hidden.is_dir() {
            words.add([OsStr::new("--tmpfs"), hidden.as_os_str()]);
            words.add([OsStr::new("--remount-ro"), hidden.as_os_str()]);
        } else {
            words.mount("--ro-bind", Path::new("/dev/null"), hidden);
        }
    }
    // Without this the root of the box is a directory in memory without bounds.
    words.add(["--remount-ro", "/", "--chdir", "/", "--", HELPER]);
    Launch {
        outer: words.0,
        inside: inside(command, place),
        home: HOME.into(),
        temporary: TEMPORARY.into(),
        scratch: None,
        kill_on_drop: true,
        terminal: None,
    }
}

/// Landlock and seccomp a second time inside: where the kernel has them they keep the program from
/// its supervisor, and from parts of the kernel that no build needs.
fn inside(command: &Command, place: &Place) -> Confinement {
    let mut write: Vec<PathBuf> = vec![TEMPORARY.into(), "/dev".into()];
    if command.profile != Profile::ReadOnly {
        write.extend(place.roots.iter().cloned());
    }
    Confinement {
        cwd: place.cwd.clone(),
        limits: command.limits,
        paths: Some(Paths { read: vec!["/".into()], write, must_hold: false }),
        // The box has a network of its own, with nothing in it but itself.
        sockets: Some(Sockets::Any),
        files: Files::ByMounts,
        modes: Modes::Free,
        counts_own_processes: true,
        egress: matches!(command.network, Network::Hosts(_)),
    }
}

/// Arguments under construction.
struct Words(Vec<OsString>);

impl Words {
    fn add<T: AsRef<OsStr>, const N: usize>(&mut self, words: [T; N]) {
        self.0.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
    }

    fn mount(&mut self, how: &str, from: &Path, to: &Path) {
        self.add([OsStr::new(how), from.as_os_str(), to.as_os_str()]);
    }
}
