//! The real program as systemd runs it: what it is told, and a socket that is passed to it.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use agentd_proto::v1;
use agentd_shared::{Client, Endpoint};
use agentd_testkit::{Home, PATIENCE, ProcessDaemon};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::UnixDatagram;

/// What systemd hears, apart from signs of life and status lines.
struct Systemd {
    socket: UnixDatagram,
}

impl Systemd {
    fn listen(home: &Home) -> Self {
        Self { socket: UnixDatagram::bind(home.dir().join("notify")).unwrap() }
    }

    async fn next(&self, wanted: &str) -> String {
        let mut buffer = [0; 1024];
        let heard = async {
            loop {
                let length = self.socket.recv(&mut buffer).await.unwrap();
                let message = String::from_utf8(buffer[..length].to_vec()).unwrap();
                if message.starts_with(wanted) {
                    return message;
                }
                let first = message.split('=').next().unwrap_or_default();
                let passing = ["STATUS", "EXTEND_TIMEOUT_USEC", "WATCHDOG"];
                assert!(passing.contains(&first), "{message} instead of {wanted}");
            }
        };
        tokio::time::timeout(PATIENCE, heard).await.unwrap_or_else(|_| panic!("no {wanted}"))
    }
}

#[tokio::test]
async fn systemd_is_told_of_the_start_of_signs_of_life_of_a_reload_and_of_the_stop() {
    let home = Home::new();
    let systemd = Systemd::listen(&home);
    let daemon = ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd"))
        .home(&home)
        .env("NOTIFY_SOCKET", home.dir().join("notify").to_str().unwrap())
        .env("WATCHDOG_USEC", "200000")
        .start()
        .await;
    let ready = systemd.next("READY=1").await;
    assert!(ready.contains("STATUS=0 sessions live"), "{ready}");
    Client::connect(&home.endpoint()).await.expect("clients can connect by then");
    for _ in 0..3 {
        systemd.next("WATCHDOG=1").await;
    }
    daemon.signal(Signal::HUP);
    let reloading = systemd.next("RELOADING=1").await;
    assert!(reloading.contains("MONOTONIC_USEC="), "{reloading}");
    systemd.next("READY=1").await;
    daemon.signal(Signal::TERM);
    let stopping = systemd.next("STOPPING=1").await;
    assert!(stopping.contains("EXTEND_TIMEOUT_USEC="), "{stopping}");
    let ended = daemon.ended().await;
    assert!(ended.status.success(), "{ended:?}");
}

#[tokio::test]
async fn a_socket_of_systemd_serves_who_waited_at_it_and_stays_when_the_daemon_stops() {
    let home = Home::new();
    home.write_config();
    let path = home.dir().join("by-systemd.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660)).unwrap();
    // Its first client is there before the daemon, as it is when a connection starts the unit.
    let endpoint = Endpoint::new(&path);
    let early = Client::connect(&endpoint).await.unwrap();
    let passed: OwnedFd = listener.try_clone().unwrap().into();
    // The shell's process becomes the daemon, so that the process id is right.
    let script =
        "exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" --home \"$1\"";
    let mut child = tokio::process::Command::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_agentd")])
        .arg(home.dir())
        .stdin(Stdio::from(passed))
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let status = early.admin().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner();
    assert_eq!(status.socket, path.display().to_string());
    assert_eq!(Some(status.pid), child.id());
    assert!(!home.paths().socket().exists(), "it makes none of its own");
    let pid = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed())).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
    assert!(ended.success(), "{ended:?}");
    assert!(path.exists(), "the file is systemd's");
    Client::connect(&endpoint).await.expect("who comes now waits for the next start");
    drop(listener);
}

#[tokio::test]
async fn what_was_passed_and_cannot_be_used_ends_the_start_with_a_remedy() {
    let too_long = "/n".repeat(200);
    for (name, value) in [("AGENTD_HANDOVER", "nonsense"), ("NOTIFY_SOCKET", &too_long)] {
        let started = ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd")).env(name, value);
        let ended = started.try_start().await.unwrap_err();
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(ended.stderr.contains(name) && ended.stderr.contains("unset"), "{ended:?}");
    }
}
