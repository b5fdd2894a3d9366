//! Another binary takes the process over: nobody is refused, nothing is lost, and a binary that
//! cannot take over changes nothing.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_shared::{Client, Transcript};
use agentd_testkit::{Home, LlmServer, ProcessDaemon, ProcessDaemonBuilder, Reply};
use tonic::{Code, Status};

use crate::support::{check_error, check_gap_free};

const AGENTD: &str = env!("CARGO_BIN_EXE_agentd");

fn agentd() -> ProcessDaemonBuilder {
    ProcessDaemon::builder(AGENTD)
}

async fn upgrade(home: &Home, binary: &Path) -> Result<v1::UpgradeResponse, Status> {
    let client = Client::connect(&home.endpoint()).await.unwrap();
    let request = v1::UpgradeRequest { binary: binary.display().to_string() };
    client.admin().upgrade(request).await.map(tonic::Response::into_inner)
}

fn script(home: &Home, text: &str) -> std::path::PathBuf {
    let path = home.dir().join("script");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The transcript of a whole log.
fn folded(log: &[v1::Event]) -> Transcript {
    let mut transcript = Transcript::default();
    for event in log {
        transcript.apply(event);
    }
    transcript
}

#[tokio::test]
async fn dl_02_an_upgrade_in_mid_stream_refuses_nobody_and_the_turn_goes_on() {
    for policy in ["ask", "never"] {
        let llm = LlmServer::start().await;
        let mut daemon = agentd().llm(&llm).set("session.auto_resume", policy).start().await;
        let home = daemon.home().clone();
        let mut ann = daemon.driver("ann").await;
        llm.push(Reply::sse().text_delta("half").stall());
        ann.submit("hello").await;
        ann.wait_live_text("half").await;

        // Somebody knocks all the time, from before until after.
        let over = AtomicBool::new(false);
        let socket = home.paths().socket();
        let knocking = async {
            let mut knocks = 0_u32;
            while !over.load(Ordering::Relaxed) {
                // It waits where more have come than the backlog holds.
                let socket = socket.clone();
                let knock = tokio::task::spawn_blocking(move || UnixStream::connect(socket));
                knock.await.unwrap().expect("nobody is refused");
                knocks += 1;
            }
            knocks
        };
        // A link, as an installation may have it, to the same program.
        let next = home.dir().join("agentd-next");
        symlink(AGENTD, &next).unwrap();
        llm.push(Reply::text("whole"));
        let pid = daemon.pid();
        let upgrading = async {
            let answer = upgrade(&home, &next).await.unwrap();
            assert_eq!((answer.pid, answer.version.as_str()), (pid, env!("CARGO_PKG_VERSION")));
            daemon.wait_ready_again().await;
            over.store(true, Ordering::Relaxed);
        };
        let (knocks, ()) = tokio::join!(knocking, upgrading);
        assert!(knocks > 0);

        assert_eq!(ann.wait_answer().await, "whole", "{policy}");
        let log = ann.log().await;
        check_gap_free(&log);
        assert_eq!(ann.transcript().items(), folded(&log).items(), "{policy}");
        assert!(!ann.bodies().any(|body| matches!(body, Body::QuestionAsked(_))), "{policy}");
        let running = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        assert!(running.starts_with(AGENTD.as_bytes()), "the path for the next upgrade stays");
        assert_eq!(llm.violations(), Vec::<String>::new());

        // And once more: locks and socket are as good as the first ones.
        upgrade(&home, Path::new("")).await.unwrap();
        daemon.wait_ready_again().await;
        let ended = agentd().home(&home).try_start().await.unwrap_err();
        assert_eq!(ended.status.code(), Some(3), "{ended:?}");
        daemon.terminate().await;
        assert!(!home.paths().socket().exists());
    }
}

#[tokio::test]
async fn a_turn_that_was_suspended_before_an_upgrade_is_not_resumed_by_it() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let mut ann = daemon.driver("ann").await;
    let session_id = ann.session_id().to_owned();
    llm.push(Reply::sse().text_delta("half").stall());
    ann.submit("hello").await;
    ann.wait_live_text("half").await;
    let home = daemon.kill().await;
    drop(ann);
    let mut daemon = agentd().home(&home).llm(&llm).start().await;
    let mut ann = daemon.attach("ann", &session_id).await;
    let question = ann.wait_question().await;
    upgrade(&home, Path::new("")).await.unwrap();
    daemon.wait_ready_again().await;
    llm.push(Reply::text("whole"));
    let client = Client::connect(&home.endpoint()).await.unwrap();
    let request = v1::GetSessionRequest { session_id };
    let session = client.session().get_session(request).await.unwrap().into_inner();
    assert_eq!(session.open_questions.len(), 1, "{session:?}");
    ann.answer(&question.question_id, "continue").await.unwrap();
    assert_eq!(ann.wait_answer().await, "whole");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_binary_that_cannot_take_over_changes_nothing() {
    let home = Home::new();
    let daemon = agentd().home(&home).start().await;
    let mut ann = daemon.driver("ann").await;
    let check = async |binary: &Path, code: Code, part: &str| {
        let refused = upgrade(&home, binary).await.unwrap_err();
        check_error(&refused, code, part);
    };
    check(Path::new("agentd"), Code::InvalidArgument, "not an absolute path").await;
    check(Path::new("/nonexistent/agentd"), Code::FailedPrecondition, "cannot be run").await;
    check(Path::new("/bin/true"), Code::FailedPrecondition, "no agentd").await;
    let refuses = script(&home, "echo 'no key' >&2; exit 2");
    check(&refuses, Code::FailedPrecondition, "no key").await;
    for (probe, part) in [
        (r#"{"agentd":"9.0.0","handover":99,"store":99}"#, "in another way"),
        (r#"{"agentd":"0.0.1","handover":1,"store":0}"#, "too old for the store"),
    ] {
        let other = script(&home, &format!("echo '{probe}'"));
        check(&other, Code::FailedPrecondition, part).await;
    }
    // The binary is fine, but it would not start with this configuration.
    std::fs::write(home.paths().config_file(), "[daemon]\nno_such_key = 1\n").unwrap();
    check(Path::new(""), Code::FailedPrecondition, "no_such_key").await;
    assert!(ann.ask("what is 2 + 3?").await.ends_with("\n5"));
    daemon.terminate().await;
}

#[tokio::test]
async fn programs_that_the_daemon_starts_do_not_take_themselves_for_the_daemon() {
    let home = Home::new();
    let notify = home.dir().join("notify");
    let _systemd = std::os::unix::net::UnixDatagram::bind(&notify).unwrap();
    let daemon = agentd()
        .home(&home)
        .env("NOTIFY_SOCKET", notify.to_str().unwrap())
        .env("WATCHDOG_USEC", "30000000")
        .env("LISTEN_PID", "1")
        .env("LISTEN_FDS", "1")
        .start()
        .await;
    let seen = home.dir().join("environment");
    let tells = script(&home, &format!("env >'{}'; ls /proc/self/fd >&2; exit 2", seen.display()));
    upgrade(&home, &tells).await.unwrap_err();
    let seen = std::fs::read_to_string(&seen).unwrap();
    assert!(seen.contains("PATH="), "{seen}");
    for name in ["NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_", "AGENTD_HANDOVER"] {
        assert!(!seen.contains(name), "{name} in {seen}");
    }
    daemon.terminate().await;
}

#[tokio::test]
async fn a_binary_is_asked_about_the_directories_of_the_daemons_unit() {
    let home = Home::new();
    // As systemd starts it: the directories of the unit, for the process that it names.
    let unit = script(
        &home,
        &format!(
            "dir=\"$AGENTD_HOME\"; unset AGENTD_HOME\nexport SYSTEMD_EXEC_PID=$$ \
             CONFIGURATION_DIRECTORY=\"$dir/config\" STATE_DIRECTORY=\"$dir\" \
             RUNTIME_DIRECTORY=\"$dir/run\"\nexec '{AGENTD}' \"$@\""
        ),
    );
    let mut daemon = ProcessDaemon::builder(unit.to_str().unwrap()).home(&home).start().await;
    let config = std::fs::read_to_string(home.paths().config_file()).unwrap_or_default();
    std::fs::write(home.paths().config_file(), "[daemon]\nno_such_key = 1\n").unwrap();
    let refused = upgrade(&home, Path::new("")).await.unwrap_err();
    check_error(&refused, Code::FailedPrecondition, "no_such_key");
    // What a start would refuse besides the configuration itself.
    let tls = "[remote]\nlisten = [\"127.0.0.1:0\"]\ntls_cert = \"/nonexistent/cert.pem\"\n\
               tls_key = \"/nonexistent/key.pem\"\n";
    std::fs::write(home.paths().config_file(), tls).unwrap();
    let refused = upgrade(&home, Path::new("")).await.unwrap_err();
    check_error(&refused, Code::FailedPrecondition, "/nonexistent/cert.pem");
    let insecure = "[remote]\nlisten = [\"127.0.0.1:0\"]\ninsecure_loopback = true\n";
    std::fs::write(home.paths().config_file(), insecure).unwrap();
    std::fs::write(home.paths().tokens_file(), "nonsense").unwrap();
    let refused = upgrade(&home, Path::new("")).await.unwrap_err();
    check_error(&refused, Code::FailedPrecondition, "tokens.json");
    // Nobody remote is listened for: then the tokens matter to nobody.
    std::fs::write(home.paths().config_file(), config).unwrap();
    upgrade(&home, Path::new("")).await.unwrap();
    daemon.wait_ready_again().await;
    daemon.terminate().await;
}
