use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn resolve(vars: &[(&str, &str)]) -> Paths {
    Paths::resolve(|name| {
        vars.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    })
    .unwrap()
}

#[test]
fn agentd_home_puts_everything_under_one_folder() {
    let paths = resolve(&[("AGENTD_HOME", "/srv/a"), ("XDG_RUNTIME_DIR", "/run/user/7")]);
    assert_eq!(paths, Paths::under("/srv/a"));
    assert_eq!(paths.socket(), Path::new("/srv/a/run/agentd.sock"));
    assert_eq!(paths.config_file(), Path::new("/srv/a/config/config.toml"));
    assert_eq!(paths.store_dir(), Path::new("/srv/a/data/store"));
    assert_eq!(paths.imports_dir(), Path::new("/srv/a/state/imports"));
}

#[test]
fn a_relative_agentd_home_becomes_absolute() {
    let paths = resolve(&[("AGENTD_HOME", "here")]);
    assert_eq!(paths, Paths::under(std::env::current_dir().unwrap().join("here")));
}

#[test]
fn the_runtime_directory_comes_from_xdg_and_falls_back_to_the_state() {
    let check = |vars: &[(&str, &str)], expect: Option<&str>| {
        let paths = resolve(vars);
        let fallback = paths.state_dir.join("run");
        assert_eq!(paths.runtime_dir, expect.map_or(fallback, PathBuf::from), "{vars:?}");
    };
    check(&[("XDG_RUNTIME_DIR", "/run/user/7")], Some("/run/user/7/agentd"));
    check(&[("XDG_RUNTIME_DIR", "relative")], None);
    check(&[("XDG_RUNTIME_DIR", "")], None);
    check(&[("AGENTD_HOME", "")], None);
}

#[test]
fn the_directories_of_a_unit_count_for_its_main_process_alone() {
    let unit = [
        ("SYSTEMD_EXEC_PID", "42"),
        ("CONFIGURATION_DIRECTORY", "/etc/agentd"),
        ("STATE_DIRECTORY", "/var/lib/agentd:/var/lib/agentd/workspace"),
        ("RUNTIME_DIRECTORY", "/run/agentd/private"),
    ];
    let resolve_service = |own_pid, vars: &[(&str, &str)]| {
        Paths::resolve_service(own_pid, |name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
        .unwrap()
    };
    let paths = resolve_service(42, &unit);
    assert_eq!(paths.config_file(), Path::new("/etc/agentd/config.toml"));
    assert_eq!(paths.data_dir, Path::new("/var/lib/agentd/data"));
    assert_eq!(paths.state_dir, Path::new("/var/lib/agentd/state"));
    assert_eq!(paths.socket(), Path::new("/run/agentd/private/agentd.sock"));
    // A client in a unit of its own, or a daemon that such a client started.
    assert_eq!(resolve_service(43, &unit), resolve(&[]));
    let with_home = [&unit[..], &[("AGENTD_HOME", "/srv/a")]].concat();
    assert_eq!(resolve_service(42, &with_home), Paths::under("/srv/a"));
    // A user's unit keeps its files where the user's clients look.
    let user = [("SYSTEMD_EXEC_PID", "42"), ("XDG_RUNTIME_DIR", "/run/user/7")];
    assert_eq!(resolve_service(42, &user), resolve(&user[1..]));
}

#[test]
fn gr_06_a_private_directory_is_created_with_its_parents() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("a/b");
    ensure_private_dir(&dir).unwrap();
    assert_eq!((mode(&dir), mode(&root.path().join("a"))), (0o700, 0o700));
    ensure_private_dir(&dir).unwrap();
}

#[test]
fn gr_06_a_wider_mode_is_restricted() {
    let root = tempfile::tempdir().unwrap();
    for wide in [0o777, 0o755, 0o710, 0o1777] {
        std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(wide)).unwrap();
        ensure_private_dir(root.path()).unwrap();
        assert_eq!(mode(root.path()), 0o700, "was {wide:o}");
    }
}

#[test]
fn gr_06_a_link_or_a_file_in_its_place_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let link = root.path().join("link");
    symlink(&target, &link).unwrap();
    assert!(matches!(ensure_private_dir(&link), Err(PathsError::Symlink { .. })));
    let dangling = root.path().join("dangling");
    symlink(root.path().join("nowhere"), &dangling).unwrap();
    assert!(matches!(ensure_private_dir(&dangling), Err(PathsError::Symlink { .. })));
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(ensure_private_dir(&file), Err(PathsError::NotADirectory { .. })));
    let below = ensure_private_dir(file.join("x")).unwrap_err();
    assert!(matches!(below, PathsError::Io { .. }), "{below}");
}

#[test]
fn gr_06_a_directory_of_another_user_is_refused() {
    // As root one is made; as anybody else root's own will do.
    let root = tempfile::tempdir().unwrap();
    let foreign = if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(root.path(), Some(4_242), None).unwrap();
        root.path()
    } else {
        Path::new("/usr")
    };
    let error = ensure_private_dir(foreign).unwrap_err();
    assert!(matches!(error, PathsError::ForeignOwner { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Denied);
}

#[test]
fn gr_06_a_socket_path_of_108_bytes_is_refused_with_a_remedy() {
    let of_length = |bytes: usize| {
        let home = "h".repeat(bytes - "/".len() - "/run/agentd.sock".len());
        Paths::under(format!("/{home}"))
    };
    assert_eq!(of_length(107).check_socket().unwrap().as_os_str().len(), 107);
    let error = of_length(108).check_socket().unwrap_err();
    assert!(matches!(error, PathsError::SocketPathTooLong { bytes: 108, .. }), "{error}");
    assert!(error.hint().contains("AGENTD_HOME") && error.hint().contains("XDG_RUNTIME_DIR"));
}
