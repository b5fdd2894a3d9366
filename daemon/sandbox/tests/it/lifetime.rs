//! How programs end, and that nothing of them is left.

use std::time::Duration;

use agentd_sandbox::WaitError;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::boxes::{Boxed, boxed, confining, finish, nothing_runs_with, open_air, runs_with};

/// Each backend, also the one that shuts nothing in: all must end what they start.
async fn all(test: &str) -> Vec<Boxed> {
    let mut all = confining(test).await;
    all.push(open_air().await);
    all
}

/// A duration for `sleep` that no other process of the machine shows.
fn seconds(boxed: &Boxed, of: &str) -> String {
    let name = boxed.workspace.path().to_string_lossy().into_owned();
    let digits = name.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    format!("7{}.{}{of}", digits % 100_000, std::process::id())
}

#[tokio::test]
async fn output_errors_and_exit_code_are_the_programs() {
    for boxed in all("exit").await {
        let ran = boxed.run("echo out; echo err >&2; exit 3").await;
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("out\n", "err\n"));
        assert_eq!((ran.exit.code, ran.exit.signal, ran.exit.left_running), (Some(3), None, 0));
        assert_eq!(boxed.run("kill -9 $$").await.exit.signal, Some(9));
        let missing =
            finish(boxed.sandbox.spawn(&boxed.command(&["no-such-program"])).await.expect("a box"))
                .await;
        assert_eq!(missing.exit.code, Some(127));
        let says = if boxed.is_container() { "not found" } else { "cannot run no-such-program" };
        assert!(missing.err.contains(says), "{}", missing.err);
    }
}

#[tokio::test]
async fn sh_01_a_background_child_that_holds_the_output_does_not_delay_the_result() {
    for boxed in all("sh_01").await {
        let long = seconds(&boxed, "1");
        for script in [
            format!("sleep {long} & echo hi"),
            format!("setsid sleep {long} >/dev/null & echo hi"),
            format!("nohup sleep {long} & echo hi"),
            format!(
                "(while :; do echo x >&2; sleep 0.1; done) & (trap '' TERM; sleep {long}) & echo hi"
            ),
            format!("setsid setsid bash -c 'sleep {long} & disown' & echo hi"),
        ] {
            let ran = boxed.run(&script).await;
            assert_eq!((ran.out.as_str(), ran.exit.code), ("hi\n", Some(0)), "{script}");
            let is_told = ran.exit.left_running > 0 || boxed.is_container();
            assert!(is_told, "{script}: {:?}", ran.exit);
            nothing_runs_with(&long).await;
        }
        let piped = boxed.run("exec > >(cat) 2>&1; echo through").await;
        assert_eq!((piped.out.as_str(), piped.exit.left_running), ("through\n", 0));
    }
}

#[tokio::test]
async fn sh_02_ending_a_program_ends_all_that_it_started() {
    for boxed in all("sh_02").await {
        let long = seconds(&boxed, "2");
        for script in [
            format!("echo up; sleep {long} | cat"),
            format!("trap '' TERM; echo up; sleep {long}"),
            format!("setsid sleep {long} & echo up; wait"),
            format!("mkfifo p; (while :; do echo c; sleep {long}; done) > p & echo up; cat p"),
            format!("echo up; kill -STOP $$; sleep {long}"),
        ] {
            let mut child = boxed.start(&script).await;
            let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
            assert_eq!(lines.next_line().await.expect("read").as_deref(), Some("up"));
            child.terminate().await;
            let exit = tokio::time::timeout(Duration::from_secs(30), child.wait()).await;
            exit.expect("it ends").expect("an exit");
            nothing_runs_with(&long).await;
            std::fs::remove_file(boxed.workspace.path().join("p")).unwrap_or_default();
        }
    }
}

#[tokio::test]
async fn sh_02_a_dropped_child_is_killed_with_all_that_it_started() {
    for boxed in all("dropped").await {
        let long = seconds(&boxed, "3");
        let script = format!("trap '' TERM; setsid sleep {long} & sleep {long} & echo up; wait");
        let mut child = boxed.start(&script).await;
        let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
        assert_eq!(lines.next_line().await.expect("read").as_deref(), Some("up"));
        assert!(runs_with(&long));
        drop(child);
        nothing_runs_with(&long).await;
    }
}

#[tokio::test]
async fn sh_03_a_program_that_asks_for_input_is_answered_with_its_end() {
    for boxed in all("sh_03").await {
        for (script, expect) in [
            ("cat; echo \"<$?>\"", "<0>\n"),
            ("read x; echo \"<$x>\"", "<>\n"),
            ("(exec </dev/tty) 2>/dev/null || echo none", "none\n"),
            ("$EDITOR file || echo failed", "failed\n"),
            ("echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM", "cat cat 0 dumb\n"),
            // Its own session: the sixth field, which is not that of the test.
            ("cut -d' ' -f7 /proc/self/stat", "0\n"),
        ] {
            assert_eq!(boxed.run(script).await.out, expect, "{script}");
        }
    }
}

#[tokio::test]
async fn a_program_whose_supervisor_is_killed_has_no_exit() {
    // Only the unconfined can reach their supervisor.
    let open = boxed(agentd_sandbox::Backend::None).await.expect("always there");
    let mut child = open.start("kill -9 $PPID").await;
    assert!(matches!(child.wait().await, Err(WaitError::NotStarted)));
}

/// Set for a process of this test that plays the daemon: the workspace, and what to sleep for.
const PLAYS_THE_DAEMON: &str = "SANDBOX_TEST_DAEMON";

#[tokio::test]
async fn sh_02_nothing_outlives_a_daemon_that_is_killed() {
    let name = "lifetime::sh_02_nothing_outlives_a_daemon_that_is_killed";
    if let Ok(long) = std::env::var(PLAYS_THE_DAEMON) {
        let mut children = Vec::new();
        for boxed in all("killed").await {
            let script =
                format!("trap '' TERM; setsid sleep {long} & sleep {long} & echo up; wait");
            let mut child = boxed.start(&script).await;
            let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
            assert_eq!(lines.next_line().await.expect("read").as_deref(), Some("up"));
            children.push((boxed, child, lines));
        }
        eprintln!("all up");
        std::future::pending::<()>().await;
    }
    let long = seconds(&open_air().await, "4");
    let mut daemon = tokio::process::Command::new(std::env::current_exe().expect("this test"))
        .args([name, "--exact", "--nocapture"])
        .env(PLAYS_THE_DAEMON, &long)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("a process");
    let mut lines = BufReader::new(daemon.stderr.take().expect("errors")).lines();
    let up = async {
        while lines.next_line().await.expect("read").expect("it is up first") != "all up" {}
    };
    tokio::time::timeout(Duration::from_secs(30), up).await.expect("it is up");
    assert!(runs_with(&long));
    daemon.kill().await.expect("it is killed");
    nothing_runs_with(&long).await;
}
