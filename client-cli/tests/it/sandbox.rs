//! What shuts commands in, as the real daemon tells and proves it.

use std::process::{Output, Stdio};

use agentd_testkit::Home;
use tokio::process::Command;

use crate::two_terminals::{agentd, agentd_program};

async fn run(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command.env("AGENTD_HOME", home.dir()).env("AGENTD_BIN", agentd_program());
    command.stdin(Stdio::null()).args(arguments).output().await.unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[tokio::test]
async fn every_promise_of_the_sandbox_in_force_is_proved_through_the_daemon() {
    let daemon = agentd().start().await;
    let status = run(daemon.home(), &["sandbox", "--json"]).await;
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["state"], "in_force", "{status}");
    let backend = status["backend"].as_str().unwrap();
    assert!(["bubblewrap", "landlock"].contains(&backend), "{status}");

    let test = run(daemon.home(), &["sandbox", "test", "--json"]).await;
    let promises: Vec<serde_json::Value> =
        stdout(&test).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(promises.len(), 22, "{promises:?}");
    for promise in &promises {
        assert_eq!(promise["backend"], backend);
        let verdict = promise["verdict"].as_str().unwrap();
        assert!(["held", "not_given"].contains(&verdict), "{promise}");
        // Who reads that it is not given, reads what would give it.
        assert_eq!(verdict == "held", promise["remedy"] == "", "{promise}");
    }
    assert_eq!(test.status.code(), Some(0), "{test:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn sb_01_no_sandbox_at_all_is_told_loudly_and_its_limits_hold() {
    let daemon = agentd().set("sandbox.backend", "none").start().await;
    let shown = stdout(&run(daemon.home(), &["sandbox"]).await);
    assert!(shown.starts_with("sandbox   NONE: nothing shuts commands in"), "{shown}");
    let status = stdout(&run(daemon.home(), &["status"]).await);
    assert!(status.contains("sandbox   NONE: nothing shuts commands in"), "{status}");
    assert!(status.contains("warning   NOTHING shuts commands in"), "{status}");
    let doctor = stdout(&run(daemon.home(), &["doctor", "--offline"]).await);
    assert!(doctor.contains("warn  sandbox   NOTHING shuts commands in"), "{doctor}");

    let test = run(daemon.home(), &["sandbox", "test"]).await;
    let shown = stdout(&test);
    assert_eq!(test.status.code(), Some(0), "{shown}");
    assert!(shown.contains("not given  nothing outside the workspace is written to"), "{shown}");
    assert!(shown.contains("held       a fork bomb meets a limit"), "{shown}");
    // A control group, where there is one, gives two more.
    let last = shown.lines().last().unwrap();
    assert!(["7 held, 15 not given here", "9 held, 13 not given here"].contains(&last), "{shown}");
    daemon.terminate().await;
}

#[tokio::test]
async fn another_backend_than_the_one_in_force_can_be_tested_and_a_wrong_one_is_refused() {
    let daemon = agentd().start().await;
    let test = run(daemon.home(), &["sandbox", "test", "--backend", "none", "--json"]).await;
    assert_eq!(test.status.code(), Some(0), "{test:?}");
    let shown = stdout(&test);
    let of_none = shown.lines().filter(|line| line.contains(r#""backend":"none""#)).count();
    assert_eq!((of_none, shown.lines().count()), (22, 22), "{test:?}");
    let wrong = run(daemon.home(), &["sandbox", "test", "--backend", "chroot"]).await;
    assert_eq!(wrong.status.code(), Some(2));
    daemon.terminate().await;
}
