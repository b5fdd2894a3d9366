//! Commands in the background, and the tool `job`.

use agentd::config::SandboxConfig;
use agentd_domain::{SessionId, ToolStatus};
use agentd_proto::v1;
use agentd_testkit::{Daemon, Driver, LlmServer, PATIENCE, ProcessDaemon, RecordedRequest, Reply};
use agentd_tools::ToolContext;
use serde_json::json;

use crate::programs::{Place, boxed, boxed_with, long, runs_with};

/// Waits for something that is soon so.
async fn soon(what: impl Fn() -> bool) {
    let so = async {
        while !what() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, so).await.expect("it is soon so");
}

/// Reads a job until its output holds these words.
async fn read_until(place: &Place, id: &str, words: &str) -> String {
    let mut output = String::new();
    while !output.contains(words) {
        output = place.look("read", id).await.output;
        tokio::task::yield_now().await;
    }
    output
}

#[tokio::test]
async fn a_job_is_read_piece_by_piece_and_tells_its_end() {
    let place = boxed();
    let id = place.job("mkfifo go; echo one; read x < go; echo two >&2; exit 3").await;
    let read = read_until(&place, &id, "one").await;
    assert!(read.starts_with(&format!("one\n[job {id} is running, ")), "{read}");
    let nothing = place.look("read", &id).await;
    assert!(nothing.output.starts_with("[no new output]\n[job "), "{nothing:?}");
    assert_eq!((nothing.status, nothing.exit_code), (ToolStatus::Success, None));
    assert_eq!(place.bash("echo > go").await.exit_code, Some(0));
    let end = place.look("wait", &id).await;
    assert_eq!((end.status, end.exit_code), (ToolStatus::Partial, Some(3)), "{end:?}");
    assert!(end.output.starts_with(&format!("[stderr]\ntwo\n[job {id} ended after ")), "{end:?}");
    assert!(end.output.ends_with("with exit code 3]") && end.workspace_changed, "{end:?}");
    let list = place.call("job", json!({ "action": "list" })).await.output;
    assert!(list.starts_with(&format!("{id}: run in the background mkfifo go;")), "{list}");
    assert!(list.contains("with exit code 3]\n[Jobs end with the daemon"), "{list}");
}

#[tokio::test]
async fn sh_02_a_job_that_is_ended_leaves_nothing_running() {
    let place = boxed();
    let long = long(1);
    let id = place.job(&format!("trap '' TERM; setsid sleep {long} & echo up; wait")).await;
    read_until(&place, &id, "up").await;
    assert!(runs_with(&long));
    let ended = place.look("kill", &id).await;
    assert!(ended.output.contains(&format!("[job {id} was ended after ")), "{ended:?}");
    assert_eq!(ended.status, ToolStatus::Success);
    assert!(!runs_with(&long));
}

#[tokio::test]
async fn a_job_whose_time_is_over_is_ended() {
    let place = boxed();
    let arguments = json!({ "command": "sleep 600", "background": true, "timeout_s": 1 });
    let started = place.call("run_command", arguments).await;
    assert!(started.output.contains("is ended after 1 s."), "{started:?}");
    let id = started.output.split_whitespace().nth(4).unwrap();
    let end = place.look("wait", id).await;
    assert!(end.output.ends_with("was ended after 1 s: its time was over]"), "{end:?}");
    let arguments = json!({ "command": "ls", "background": true, "timeout_s": 3_601 });
    let refused = place.call("run_command", arguments).await;
    assert!(refused.output.contains("give 1 to 3600"), "{refused:?}");
}

#[tokio::test]
async fn en_01_the_output_of_a_job_keeps_its_head_and_its_tail() {
    let place = boxed();
    let id = place.job("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end").await;
    let end = place.look("wait", &id).await;
    assert!(end.output.contains("bytes are left out") && end.output.contains("x\nend\n"));
    assert!(end.output.len() < 66 * 1024, "{}", end.output.len());
}

#[tokio::test]
async fn a_session_has_its_own_jobs_and_no_more_than_it_may() {
    let mut config = SandboxConfig::default();
    config.limits.jobs = 1;
    let place = boxed_with(&config);
    let id = place.job("sleep 600").await;
    let arguments = json!({ "command": "ls", "background": true });
    let refused = place.call("run_command", arguments.clone()).await;
    assert_eq!(refused.error_code, "TOO_MANY_JOBS", "{refused:?}");
    let other = ToolContext { session: SessionId::from_parts(1, 2), ..place.context() };
    let action = |action: &str, id: &str| json!({ "action": action, "id": id });
    let refused = place.call_in(&other, "job", action("read", &id)).await;
    assert_eq!(refused.error_code, "NO_SUCH_JOB", "{refused:?}");
    let list = place.call_in(&other, "job", json!({ "action": "list" })).await;
    assert!(list.output.starts_with("[no jobs]\n[Jobs end with the daemon"), "{list:?}");
    let refused = place.call("job", json!({ "action": "wait" })).await;
    assert_eq!(refused.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED", "{refused:?}");
    let planned = place.planned("job", &action("kill", &id)).await.unwrap();
    assert_eq!((planned.summary, planned.targets), (format!("end job {id}"), Vec::new()));
    place.registry.end_session(None).await;
    assert_eq!(place.call("run_command", arguments).await.status, ToolStatus::Success);
}

/// A daemon that permits everything, and whose commands nothing shuts in: the tests may be root's.
async fn daemon(llm: &LlmServer) -> Daemon {
    Daemon::builder()
        .llm(llm)
        .programs(env!("CARGO_BIN_EXE_agentd"))
        .set("permission.mode", "full")
        .set("sandbox.backend", "none")
        .start()
        .await
}

/// Lets the model start a job.
async fn start(llm: &LlmServer, ann: &mut Driver, command: &str) {
    let arguments = json!({ "command": command, "background": true }).to_string();
    llm.push(Reply::tool_call("run_command", &arguments));
    llm.push(Reply::text("it runs"));
    assert_eq!(ann.ask("run it").await, "it runs");
}

#[tokio::test]
async fn a_job_outlives_its_turn_and_its_end_is_told_once() {
    let llm = LlmServer::start().await;
    let daemon = daemon(&llm).await;
    let mut ann = daemon.driver("ann").await;
    start(&llm, &mut ann, "until [ -e go ]; do sleep 0.01; done; exit 5").await;
    std::fs::write(daemon.workspace().join("go"), "").unwrap();
    llm.set_default(|_| Reply::text("ok"));
    let notes = |request: &RecordedRequest| {
        request.body.to_string().matches("run in the background until").count()
    };
    let told = async {
        loop {
            ann.ask("and now?").await;
            if llm.requests().last().is_some_and(|request| notes(request) > 0) {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("it is told");
    ann.ask("and now?").await;
    let last = llm.requests().pop().unwrap();
    assert_eq!(notes(&last), 1);
    assert!(last.body.to_string().contains("with exit code 5.]"), "{}", last.body);
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn sh_02_jobs_end_with_their_session_and_with_the_daemon() {
    let llm = LlmServer::start().await;
    let daemon = daemon(&llm).await;
    let (one, other) = (long(2), long(3));
    let (mut ann, mut bob) = (daemon.driver("ann").await, daemon.driver("bob").await);
    for (driver, long) in [(&mut ann, &one), (&mut bob, &other)] {
        start(&llm, driver, &format!("setsid sleep {long} & wait")).await;
        soon(|| runs_with(long)).await;
    }
    let request = v1::DeleteSessionRequest { session_id: ann.session_id().to_owned() };
    ann.client().session().delete_session(request).await.unwrap();
    assert!(!runs_with(&one) && runs_with(&other));
    daemon.stop().await;
    assert!(!runs_with(&other));
}

#[tokio::test]
async fn sh_02_jobs_end_with_a_daemon_that_is_killed() {
    let llm = LlmServer::start().await;
    let daemon = ProcessDaemon::builder(env!("CARGO_BIN_EXE_agentd"))
        .llm(&llm)
        .set("permission.mode", "full")
        .set("sandbox.backend", "none")
        .start()
        .await;
    let mut ann = daemon.driver("ann").await;
    let long = long(4);
    start(&llm, &mut ann, &format!("trap '' TERM; setsid sleep {long} & sleep {long}")).await;
    soon(|| runs_with(&long)).await;
    daemon.kill().await;
    soon(|| !runs_with(&long)).await;
}
