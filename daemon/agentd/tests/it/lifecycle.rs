//! The real program: starts, stops, what it leaves behind, and who may talk to it.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agentd_proto::v1;
use agentd_shared::{Client, Endpoint};
use agentd_testkit::{Home, LlmServer, ProcessDaemon, ProcessDaemonBuilder, Reply};
use rustix::process::Signal;
use tonic::Code;

use crate::support::{check_error, results};

fn agentd() -> ProcessDaemonBuilder {
    ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd"))
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn dl_01_five_kills_and_starts_leave_nothing_that_blocks_the_next() {
    let home = Home::new();
    for _ in 0..5 {
        let daemon = agentd().home(&home).start().await;
        daemon.driver("ann").await;
        daemon.kill().await;
        assert!(home.paths().socket().exists(), "a kill leaves the socket's file");
    }
    let daemon = agentd().home(&home).start().await;
    let client = Client::connect(&home.endpoint()).await.unwrap();
    let list = v1::ListSessionsRequest::default();
    assert_eq!(client.session().list_sessions(list).await.unwrap().into_inner().sessions.len(), 5);
    daemon.terminate().await;
    assert!(!home.paths().socket().exists(), "a stop does not");
}

/// Where groups of version 2 are.
fn mount_of_cgroups() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    mount.split(' ').nth(4).map(PathBuf::from)
}

#[tokio::test]
async fn a_stop_in_order_leaves_no_cgroup_behind() {
    let llm = LlmServer::start().await;
    let daemon = agentd()
        .llm(&llm)
        .set("permission.mode", "full")
        .set("sandbox.backend", "none")
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("run_command", r#"{"command":"cat /proc/self/cgroup"}"#));
    llm.push(Reply::text("done"));
    ann.ask("go").await;
    let results = results(&ann);
    let group = results[0].output.lines().find_map(|line| line.strip_prefix("0::/"));
    let (Some(group), Some(mount)) = (group, mount_of_cgroups()) else {
        println!("skipped: no cgroup v2: {results:?}");
        return;
    };
    let runs = mount.join(group).parent().unwrap().to_owned();
    let prefix = format!("agentd.{}.", daemon.pid());
    if !runs.file_name().unwrap().to_string_lossy().starts_with(&prefix) {
        println!("skipped: runs have no group of their own here: {group}");
        return;
    }
    assert!(runs.is_dir(), "{}", runs.display());
    daemon.terminate().await;
    assert!(!runs.exists(), "{}", runs.display());
}

#[tokio::test]
async fn dl_01_what_stands_in_the_lock_file_does_not_matter() {
    let home = Home::new();
    agentd().home(&home).start().await.terminate().await;
    for content in ["", "1\n", "garbage", "99999999999999999999\n"] {
        std::fs::write(home.paths().instance_lock(), content).unwrap();
        agentd().home(&home).start().await.terminate().await;
    }
}

#[tokio::test]
async fn dl_01_of_several_starts_at_once_one_wins_and_the_others_say_who_did() {
    let home = Home::new();
    let start = || agentd().home(&home).try_start();
    let (a, b, c) = tokio::join!(start(), start(), start());
    let (winners, losers): (Vec<_>, Vec<_>) = [a, b, c].into_iter().partition(Result::is_ok);
    assert_eq!(winners.len(), 1);
    let winner = winners.into_iter().next().unwrap().unwrap();
    for loser in losers {
        let ended = loser.unwrap_err();
        assert_eq!(ended.status.code(), Some(3), "{ended:?}");
        let told = format!("pid {}", winner.pid());
        assert!(ended.stderr.contains(&told), "{told} is not in {ended:?}");
    }
    winner.driver("ann").await;
    winner.terminate().await;
}

#[tokio::test]
async fn dl_01_a_data_directory_that_cannot_be_used_is_an_error_with_a_remedy() {
    let home = Home::new();
    home.write_config();
    // A file where the directory should be stops root too.
    std::fs::write(home.paths().data_dir, "in the way").unwrap();
    let ended = agentd().home(&home).try_start().await.unwrap_err();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert!(ended.stderr.contains("/data"), "{ended:?}");
    assert!(ended.stderr.lines().count() >= 2, "message and hint: {ended:?}");
    std::fs::remove_file(home.paths().data_dir).unwrap();

    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: modes do not keep root from writing to a read-only directory");
        return;
    }
    agentd().home(&home).start().await.terminate().await;
    let store = home.paths().store_dir();
    let files: Vec<_> = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap()).collect();
    for path in files.iter().map(std::fs::DirEntry::path).chain([store.clone()]) {
        let readable = std::fs::metadata(&path).unwrap().permissions().mode() & 0o555;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(readable)).unwrap();
    }
    let ended = agentd().home(&home).try_start().await.unwrap_err();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
}

#[tokio::test]
async fn dl_02_sigterm_in_a_stream_and_a_second_one_end_the_process() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::sse().text_delta("half").stall());
    ann.submit("hello").await;
    ann.wait_live_text("half").await;
    let session_id = ann.session_id().to_owned();
    let home = daemon.terminate().await;

    llm.push(Reply::text("whole"));
    let daemon = agentd().home(&home).set("session.auto_resume", "always").llm(&llm).start().await;
    let mut ann = daemon.attach("ann", &session_id).await;
    assert_eq!(ann.wait_answer().await, "whole");
    daemon.signal(Signal::TERM);
    daemon.signal(Signal::TERM);
    let ended = daemon.ended().await;
    assert!(matches!(ended.status.code(), Some(0 | 1)), "{ended:?}");
}

#[tokio::test]
async fn sighup_reads_the_configuration_again() {
    let (old, new) = (LlmServer::start().await, LlmServer::start().await);
    let daemon = agentd().llm(&old).start().await;
    let mut ann = daemon.driver("ann").await;
    ann.ask("one").await;
    let mut home = daemon.home().clone();
    home.use_llm(&new);
    home.write_config();
    daemon.signal(Signal::HUP);
    // The signal has no answer: ask until the new provider is in force.
    let client = Client::connect(&home.endpoint()).await.unwrap();
    let switched = async {
        loop {
            let status = client.admin().get_status(v1::GetStatusRequest {}).await.unwrap();
            if status.into_inner().provider.unwrap().base_url == new.base_url() {
                break;
            }
        }
    };
    tokio::time::timeout(agentd_testkit::PATIENCE, switched).await.expect("it is reloaded");
    ann.ask("two").await;
    assert_eq!((old.requests().len(), new.requests().len()), (1, 1));
    daemon.terminate().await;
}

#[tokio::test]
async fn a_shutdown_over_the_wire_ends_the_process_in_order() {
    let daemon = agentd().start().await;
    let client = Client::connect(&daemon.home().endpoint()).await.unwrap();
    let answer = client.admin().shutdown(v1::ShutdownRequest {}).await.unwrap().into_inner();
    assert_eq!(answer.pid, daemon.pid());
    let ended = daemon.ended().await;
    assert!(ended.status.success(), "{ended:?}");
}

#[tokio::test]
async fn gr_06_socket_and_directories_are_private_whatever_the_umask() {
    let home = Home::new();
    home.write_config();
    let paths = home.paths();
    // The shell sets the umask, then becomes the daemon.
    let script = "umask 000; exec \"$0\" --home \"$1\"";
    let mut child = Command::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_agentd")])
        .arg(home.dir())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let connected = async {
        while Client::connect(&home.endpoint()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(agentd_testkit::PATIENCE, connected).await.expect("it starts");
    assert_eq!(mode(&paths.socket()), 0o600);
    for dir in [&paths.config_dir, &paths.data_dir, &paths.state_dir, &paths.runtime_dir] {
        assert_eq!(mode(dir), 0o700, "{}", dir.display());
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn gr_06_a_socket_path_that_is_taken_linked_or_too_long_is_an_error() {
    let home = Home::new();
    let paths = home.paths();
    agentd().home(&home).start().await.terminate().await;

    std::fs::write(paths.socket(), "precious").unwrap();
    let ended = agentd().home(&home).try_start().await.unwrap_err();
    assert!(!ended.status.success() && ended.stderr.contains("agentd.sock"), "{ended:?}");
    assert_eq!(std::fs::read_to_string(paths.socket()).unwrap(), "precious");
    std::fs::remove_file(paths.socket()).unwrap();

    let long = home.dir().join("x".repeat(120));
    let ended = agentd().home(&home).arg("--socket").arg(long.to_str().unwrap()).try_start().await;
    let ended = ended.unwrap_err();
    assert!(ended.stderr.contains("107"), "{ended:?}");

    std::fs::remove_dir_all(&paths.runtime_dir).unwrap();
    let elsewhere = home.dir().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &paths.runtime_dir).unwrap();
    let ended = agentd().home(&home).try_start().await.unwrap_err();
    assert!(!ended.status.success() && ended.stderr.contains("/run"), "{ended:?}");
}

/// The socket that the foreign client below connects to.
const FOREIGN: &str = "AGENTD_TEST_FOREIGN_SOCKET";
const NOBODY: u32 = 65_534;

/// Not a test: the client of another user. It does nothing unless a test started it.
#[tokio::test]
async fn the_foreign_client() {
    let Ok(socket) = std::env::var(FOREIGN) else { return };
    // The client's own check of the daemon's user is not what this is about.
    let connector = tower::service_fn(move |_: tonic::transport::Uri| {
        let socket = socket.clone();
        async move { tokio::net::UnixStream::connect(socket).await.map(hyper_util::rt::TokioIo::new) }
    });
    let endpoint = tonic::transport::Endpoint::from_static("http://agentd.local");
    let channel = endpoint.connect_with_connector(connector).await.unwrap();
    let mut admin = v1::admin_service_client::AdminServiceClient::new(channel);
    let refused = admin.get_status(v1::GetStatusRequest {}).await.unwrap_err();
    check_error(&refused, Code::PermissionDenied, &format!("does not serve uid {NOBODY}"));
    println!("refused as it should be");
}

#[tokio::test]
async fn gr_06_dl_04_another_user_is_refused_even_where_the_directory_is_open() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let daemon = agentd().start().await;
    let paths = daemon.home().paths();
    for (path, open) in [
        (daemon.home().dir(), 0o755),
        (paths.runtime_dir.as_path(), 0o755),
        (paths.socket().as_path(), 0o777),
    ] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(open)).unwrap();
    }
    // A copy where everybody can run it.
    let exe = daemon.home().dir().join("client");
    std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    std::fs::set_permissions(&exe, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(&exe)
        .args(["lifecycle::the_foreign_client", "--exact", "--nocapture"])
        .env(FOREIGN, paths.socket())
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("refused as it should be"), "{output:?}");
    // The owner is served all the same.
    assert_eq!(std::fs::metadata(paths.socket()).unwrap().uid(), 0);
    Client::connect(&Endpoint::new(paths.socket())).await.unwrap();
    daemon.terminate().await;
}

/// What `agentd check` says of a home, and how it ends.
fn check(home: &Home) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentd"));
    let ended = command.arg("--home").arg(home.dir()).arg("check").output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
}

#[tokio::test]
async fn a_check_tells_damage_and_changes_nothing() {
    let home = Home::new();
    assert_eq!(check(&home), (Some(0), "there is no store yet\n".to_owned()));
    let daemon = agentd().home(&home).start().await;
    daemon.driver("ann").await.ask("what is 2 + 3?").await;
    let (code, _running) = check(&home);
    assert_eq!(code, Some(3), "not while a daemon runs");
    daemon.terminate().await;
    let (code, said) = check(&home);
    assert!(code == Some(0) && said.starts_with("1 sessions, "), "{code:?}: {said}");

    let db = home.paths().store_dir().join("db");
    let mut bytes = std::fs::read(&db).unwrap();
    let middle = bytes.iter().rposition(|byte| *byte != 0).unwrap() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&db, &bytes).unwrap();
    let (code, said) = check(&home);
    assert!(code == Some(4) && !said.is_empty(), "{code:?}: {said}");
    assert_eq!(std::fs::read(&db).unwrap(), bytes);
    let left = std::fs::read_dir(home.paths().data_dir).unwrap().count();
    assert_eq!(left, 4, "the store, its mark, the lock and the copies of changed files");

    // A start puts the damaged store aside, and says so from then on.
    for _ in 0..2 {
        let daemon = agentd().home(&home).start().await;
        let client = Client::connect(&home.endpoint()).await.unwrap();
        let status = client.admin().get_status(v1::GetStatusRequest {}).await.unwrap();
        let warnings = status.into_inner().warnings.join("\n");
        assert!(warnings.contains("damaged"), "{warnings}");
        daemon.terminate().await;
    }
}
