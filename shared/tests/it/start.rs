use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use agentd_shared::{ConnectError, ErrorKind, StartError, StartOptions, ensure_running};

use crate::home::Home;
use crate::scripted_daemon::ScriptedDaemon;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_daemon_that_runs_is_not_started_again() {
    let home = Home::new();
    std::fs::create_dir(&home.paths.runtime_dir).unwrap();
    let _listening = ScriptedDaemon::default().listen(&home.paths.socket());
    let options = home.program(&format!("touch {}", home.file("started").display()));
    let endpoint = ensure_running(&home.paths, &options).await.unwrap();
    assert_eq!(endpoint.socket(), home.paths.socket());
    assert!(!home.file("started").exists());
}

#[tokio::test]
async fn the_daemon_is_started_in_its_home_and_says_where_it_listens() {
    let home = Home::new();
    let seen = home.file("seen");
    let options = home.program(&format!(
        "echo \"$1 $AGENTD_HOME $(pwd)\" > {}; echo log line >&2\n\
         echo '{{\"socket\":\"/run/other.sock\",\"pid\":7,\"later\":true}}'",
        seen.display()
    ));
    let endpoint = ensure_running(&home.paths, &options).await.unwrap();
    assert_eq!(endpoint.socket(), Path::new("/run/other.sock"));
    let expect = format!("--announce {} /\n", home.dir.path().display());
    assert_eq!(std::fs::read_to_string(seen).unwrap(), expect);
    assert_eq!(std::fs::read_to_string(home.paths.log_file()).unwrap(), "log line\n");
    assert_eq!(mode(&home.paths.log_file()), 0o600);
    assert_eq!((mode(&home.paths.runtime_dir), mode(&home.paths.state_dir)), (0o700, 0o700));
}

#[tokio::test]
async fn a_daemon_that_gives_up_is_reported_with_its_own_last_words() {
    let home = Home::new();
    std::fs::create_dir_all(&home.paths.state_dir).unwrap();
    std::fs::write(home.paths.log_file(), "from an earlier run\n").unwrap();
    let options = home.program("echo 'config.toml line 3: \u{1b}[2J' >&2; exit 2");
    let error = ensure_running(&home.paths, &options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the daemon did not start (exit status: 2)\n  | config.toml line 3: \\u{1b}[2J"
    );
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_program_that_is_no_daemon_is_told_apart() {
    let home = Home::new();
    let error =
        ensure_running(&home.paths, &home.program("echo hello; exec cat")).await.unwrap_err();
    assert!(matches!(&error, StartError::Announcement { line } if line == "hello\n"), "{error}");
    let nowhere =
        StartOptions { agentd_path: Some(home.file("nowhere")), ..StartOptions::default() };
    let error = ensure_running(&home.paths, &nowhere).await.unwrap_err();
    assert!(matches!(error, StartError::NoBinary { .. }), "{error}");
    assert!(error.hint().contains("AGENTD_BIN"));
}

#[tokio::test]
async fn a_daemon_that_is_silent_too_long_is_a_timeout_and_goes_on() {
    let home = Home::new();
    let release = home.fifo("release");
    let done = home.fifo("done");
    let mut options = home.program(&format!(
        "echo checking the store >&2; cat {}; echo alive > {}",
        release.display(),
        done.display()
    ));
    options.timeout = Duration::from_millis(300);
    let error = ensure_running(&home.paths, &options).await.unwrap_err();
    assert!(matches!(error, StartError::Timeout { .. }), "{error}");
    let alive = tokio::task::spawn_blocking(move || {
        std::fs::write(release, "").unwrap();
        std::fs::read_to_string(done).unwrap()
    });
    assert_eq!(alive.await.unwrap(), "alive\n");
}

#[tokio::test]
async fn dl_01_when_another_daemon_holds_the_data_it_is_found_or_named() {
    let home = Home::new();
    let options = StartOptions { other_timeout: Duration::ZERO, ..home.program("exit 3") };
    let error = ensure_running(&home.paths, &options).await.unwrap_err();
    assert!(matches!(error, StartError::HeldElsewhere { pid: None, .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    std::fs::create_dir(&home.paths.data_dir).unwrap();
    std::fs::write(home.paths.instance_lock(), "4711\n").unwrap();
    let lock = std::fs::File::open(home.paths.instance_lock()).unwrap();
    lock.lock().unwrap();
    let error = ensure_running(&home.paths, &options).await.unwrap_err();
    assert!(error.to_string().contains("pid 4711"), "{error}");
    assert!(error.hint().contains("`kill 4711`"), "{}", error.hint());
    drop(lock);
    // The other one begins to listen while we try.
    let (told, go) = (home.fifo("told"), home.fifo("go"));
    let options = home.program(&format!(
        "echo now > {}; cat {} >/dev/null; exit 3",
        told.display(),
        go.display()
    ));
    let listen = async {
        tokio::task::spawn_blocking(move || std::fs::read(told).unwrap()).await.unwrap();
        let listening = ScriptedDaemon::default().listen(&home.paths.socket());
        tokio::task::spawn_blocking(move || std::fs::write(go, "").unwrap()).await.unwrap();
        listening
    };
    let (endpoint, _listening) = tokio::join!(ensure_running(&home.paths, &options), listen);
    assert_eq!(endpoint.unwrap().socket(), home.paths.socket());
}

#[tokio::test]
async fn a_daemon_that_stops_is_waited_for_and_then_another_is_started() {
    let home = Home::new();
    std::fs::create_dir(&home.paths.runtime_dir).unwrap();
    let socket = home.paths.socket();
    // It takes connections and answers nothing any more.
    let stopping = tokio::net::UnixListener::bind(&socket).unwrap();
    let options = home.program("echo '{\"socket\":\"/run/new.sock\",\"pid\":7}'");
    let end = async {
        let (connection, _) = stopping.accept().await.unwrap();
        std::fs::remove_file(&socket).unwrap();
        drop(stopping);
        drop(connection);
    };
    let (endpoint, ()) = tokio::join!(ensure_running(&home.paths, &options), end);
    assert_eq!(endpoint.unwrap().socket(), Path::new("/run/new.sock"));
}

#[tokio::test]
async fn a_daemon_that_still_holds_the_data_while_it_ends_is_waited_for() {
    let home = Home::new();
    let first = home.file("first");
    let options = home.program(&format!(
        "if test ! -e {0}; then touch {0}; exit 3; fi\n\
         echo '{{\"socket\":\"/run/new.sock\",\"pid\":7}}'",
        first.display()
    ));
    let endpoint = ensure_running(&home.paths, &options).await.unwrap();
    assert_eq!(endpoint.socket(), Path::new("/run/new.sock"));
}

#[tokio::test]
async fn a_daemon_that_takes_connections_and_is_silent_is_named() {
    let home = Home::new();
    std::fs::create_dir(&home.paths.runtime_dir).unwrap();
    let _silent = tokio::net::UnixListener::bind(home.paths.socket()).unwrap();
    let options =
        StartOptions { timeout: Duration::from_millis(100), ..home.program("touch started") };
    let error = ensure_running(&home.paths, &options).await.unwrap_err();
    assert!(matches!(error, StartError::Connect(ConnectError::Timeout { .. })), "{error}");
}

#[tokio::test]
async fn dl_01_clients_that_start_at_once_get_one_daemon() {
    let home = Home::new();
    let (told, go) = (home.fifo("told"), home.fifo("go"));
    let starts = home.file("starts");
    let socket = home.paths.socket();
    let options = home.program(&format!(
        "echo start >> {}; echo now > {}; cat {} >/dev/null\n\
         echo '{{\"socket\":\"{}\",\"pid\":1}}'",
        starts.display(),
        told.display(),
        go.display(),
        socket.display()
    ));
    let listen = async {
        tokio::task::spawn_blocking(move || std::fs::read(told).unwrap()).await.unwrap();
        let listening = ScriptedDaemon::default().listen(&home.paths.socket());
        tokio::task::spawn_blocking(move || std::fs::write(go, "").unwrap()).await.unwrap();
        listening
    };
    let (first, second, third, _listening) = tokio::join!(
        ensure_running(&home.paths, &options),
        ensure_running(&home.paths, &options),
        ensure_running(&home.paths, &options),
        listen
    );
    for endpoint in [first, second, third] {
        assert_eq!(endpoint.unwrap().socket(), socket);
    }
    assert_eq!(std::fs::read_to_string(starts).unwrap(), "start\n");
}

#[tokio::test]
async fn a_daemon_outlives_the_client_and_has_a_process_group_of_its_own() {
    let home = Home::new();
    let (release, done) = (home.fifo("release"), home.fifo("done"));
    let options = home.program(&format!(
        "echo '{{\"socket\":\"/s\",\"pid\":1}}'\n\
         cat {} >/dev/null; cut -d' ' -f1,5 /proc/$$/stat > {}",
        release.display(),
        done.display()
    ));
    let endpoint = ensure_running(&home.paths, &options).await.unwrap();
    drop(endpoint);
    let ids = tokio::task::spawn_blocking(move || {
        std::fs::write(release, "").unwrap();
        std::fs::read_to_string(done).unwrap()
    });
    let ids = ids.await.unwrap();
    let ids: Vec<&str> = ids.split_whitespace().collect();
    assert!(matches!(ids[..], [pid, group] if pid == group), "{ids:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_inherits_no_descriptor_that_the_client_was_started_with() {
    let home = Home::new();
    // As a shell's `3>&1` gives it: not marked to be closed in started programs.
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    assert_eq!(rustix::io::fcntl_getfd(&writer).unwrap(), rustix::io::FdFlags::empty());
    let seen = home.file("seen");
    // The last one is the directory itself.
    let script =
        format!("ls /proc/self/fd > {}; echo '{{\"socket\":\"/s\",\"pid\":7}}'", seen.display());
    ensure_running(&home.paths, &home.program(&script)).await.unwrap();
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "0\n1\n2\n3\n");
    // They are still ours.
    rustix::io::write(&writer, b"x").unwrap();
    assert_eq!(rustix::io::read(&reader, &mut [0; 1]).unwrap(), 1);
}
