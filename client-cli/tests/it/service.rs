//! Installing the service: what is written, what is left alone, and what is run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A user's home, a folder of programs that stand for systemd's, and a daemon's program.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.path("bin")).unwrap();
        world.program("agentd", "exit 1");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A script that writes down how it was called.
    fn program(&self, name: &str, does: &str) {
        let path = self.path("bin").join(name);
        let calls = self.path("calls");
        let text = format!("#!/bin/sh\necho {name} \"$@\" >>'{}'\n{does}\n", calls.display());
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.path("calls")).unwrap_or_default()
    }

    fn run(&self, line: &str) -> (i32, String, String) {
        let runtime = self.path("runtime");
        let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_agentctl"))
            .args(line.split_whitespace())
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", runtime)
            .env("PATH", self.path("bin"))
            .env("AGENTD_BIN", self.path("bin/agentd"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    fn unit(&self, name: &str) -> PathBuf {
        self.path("home/.config/systemd/user").join(name)
    }
}

#[test]
fn a_users_service_is_written_enabled_and_removed() {
    let world = World::new();
    // Nothing is active yet, so that a daemon that runs would have to make room.
    world.program("systemctl", "[ \"$2\" != is-active ]");
    let (code, said, complaint) = world.run("service install --user");
    assert_eq!(code, 0, "{complaint}");
    let service = std::fs::read_to_string(world.unit("agentd.service")).unwrap();
    let program = format!("ExecStart={}\n", world.path("bin/agentd").display());
    assert!(service.contains(&program), "{service}");
    assert!(said.contains("wrote ") && said.contains("agentd.socket"), "{said}");
    let calls = world.calls();
    let in_order = [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now agentd.socket",
        "systemctl --user enable --now agentd.service",
    ];
    let places: Vec<_> = in_order.iter().map(|call| calls.rfind(call)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{calls}");

    let (code, said, _) = world.run("service install --user");
    assert!(code == 0 && said.contains("is as it should be"), "{said}");

    let (code, said, complaint) = world.run("service uninstall --user");
    assert_eq!(code, 0, "{complaint}");
    assert!(said.contains("removed ") && !world.unit("agentd.service").exists(), "{said}");
    assert!(world.calls().contains("systemctl --user disable --now agentd.socket agentd.service"));
    let (code, _, note) = world.run("service uninstall --user");
    assert_eq!((code, note.as_str()), (0, "no service is installed\n"));
}

#[test]
fn a_unit_that_somebody_has_changed_is_neither_overwritten_nor_removed() {
    let world = World::new();
    world.program("systemctl", "");
    assert_eq!(world.run("service install --user").0, 0);
    let unit = world.unit("agentd.service");
    let changed = std::fs::read_to_string(&unit).unwrap().replace("75%", "50%");
    std::fs::write(&unit, &changed).unwrap();
    let (code, _, complaint) = world.run("service install --user");
    assert!(code == 1 && complaint.contains("somebody has changed"), "{complaint}");
    let (code, _, note) = world.run("service uninstall --user");
    assert!(code == 0 && note.contains("agentd.service stays"), "{note}");
    assert_eq!(std::fs::read_to_string(&unit).unwrap(), changed);
    assert!(!world.unit("agentd.socket").exists());
    assert_eq!(world.run("service install --user --force").0, 0);
    assert!(std::fs::read_to_string(&unit).unwrap().contains("75%"));
}

#[test]
fn another_root_gets_the_files_and_nothing_is_run() {
    let world = World::new();
    world.program("systemctl", "");
    let root = world.path("root");
    let line = format!("service install --user --root {}", root.display());
    let (code, _, complaint) = world.run(&line);
    assert_eq!(code, 0, "{complaint}");
    let home = world.path("home");
    let below: &Path = home.strip_prefix("/").unwrap();
    assert!(root.join(below).join(".config/systemd/user/agentd.socket").exists());
    assert!(!world.unit("agentd.socket").exists());

    let (code, said, _) = world.run("service install --user --dry-run");
    assert!(code == 0 && said.contains("==> systemctl --user daemon-reload"), "{said}");
    assert!(said.contains("Type=notify"), "{said}");
    assert_eq!(world.calls(), "", "nothing of systemd was run");
    assert!(!world.unit("agentd.socket").exists());
}

#[test]
fn without_systemd_nothing_is_written_and_the_remedy_is_told() {
    let world = World::new();
    let (code, _, complaint) = world.run("service install --user");
    assert!(code == 1 && complaint.contains("this needs systemd"), "{complaint}");
    world.program("systemctl", "echo 'Failed to connect to bus: No medium found' >&2; exit 1");
    let (code, _, complaint) = world.run("service install --user");
    assert!(code == 1 && complaint.contains("no systemd runs for this user"), "{complaint}");
    assert!(!world.unit("agentd.service").exists());
    let (code, _, complaint) = world.run("--home /srv/a service install --user");
    assert!(code == 2 && complaint.contains("AGENTD_HOME"), "{complaint}");
}

#[test]
fn a_program_in_a_home_directory_is_no_program_for_the_system() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root installs the system's service");
        return;
    }
    let world = World::new();
    let root = world.path("root");
    // The temporary folder is hidden from the unit as home directories are.
    let (code, _, complaint) = world.run(&format!("service install --root {}", root.display()));
    assert!(code == 2 && complaint.contains("where the unit cannot look"), "{complaint}");
    let line = format!("service install --agentd /bin/true --root {}", root.display());
    assert_eq!(world.run(&line).0, 0);
    for file in [
        "etc/systemd/system/agentd.service",
        "etc/systemd/system/agentd.socket",
        "etc/sysusers.d/agentd.conf",
        "etc/tmpfiles.d/agentd.conf",
    ] {
        assert!(root.join(file).exists(), "{file}");
    }
}

#[test]
fn a_client_starts_a_daemon_that_systemd_looks_after_through_systemd() {
    let world = World::new();
    world.program("systemctl", "exit 1");
    let started_by_hand = |world: &World| {
        let (code, _, complaint) = world.run("sessions list");
        assert_eq!(code, 3, "{complaint}");
        world.calls()
    };
    assert_eq!(started_by_hand(&world), "agentd --announce\n", "no unit is enabled");
    let wants = world.path("home/.config/systemd/user/sockets.target.wants");
    std::fs::create_dir_all(&wants).unwrap();
    std::fs::write(wants.join("agentd.socket"), "").unwrap();
    std::fs::remove_file(world.path("calls")).unwrap();
    // systemd refuses, so that the client helps itself.
    assert_eq!(
        started_by_hand(&world),
        "systemctl --user start agentd.socket\nagentd --announce\n"
    );
}
