//! All sessions at a glance and one as lines: `agentctl watch` and `agentctl tail`.

use std::process::Stdio;

use agentd_testkit::{Home, LlmServer, PATIENCE, Pty, Reply};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::tools::{run, stdout};
use crate::two_terminals::{agentd, agentd_program};

/// A command whose output is read line by line.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
        command.env("AGENTD_HOME", home.dir()).env("AGENTD_BIN", agentd_program());
        command.current_dir(home.workspace()).stdin(Stdio::null()).args(arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn until(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                let line = self.lines.next_line().await.unwrap().unwrap();
                if wanted(&line) {
                    return line;
                }
            }
        });
        found.await.map_err(|_elapsed| format!("did not come: {what}")).unwrap()
    }

    async fn until_json(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let parse = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
        parse(&self.until(what, |line| wanted(&parse(line))).await)
    }

    /// Ctrl-C, and the exit code.
    async fn interrupt(mut self) -> Option<i32> {
        let pid = Pid::from_raw(i32::try_from(self.child.id().unwrap()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        self.child.wait().await.unwrap().code()
    }
}

fn terminal(home: &Home, arguments: &[&str]) -> Pty {
    let mut builder = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", agentd_program())
        .current_dir(&home.workspace())
        .size(90, 20);
    for argument in arguments {
        builder = builder.arg(argument);
    }
    builder.spawn()
}

#[tokio::test]
async fn an_overview_is_redrawn_in_place_and_goes_on_after_the_daemon_was_killed() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    llm.push(Reply::text("hello"));
    let sent = run(daemon.home(), &["send", "what is up"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let watch = terminal(daemon.home(), &["--no-start", "watch"]);
    watch.wait_for("1 sessions: 0 waiting for you, 0 running, 1 unread").await;
    llm.push(Reply::sse().text_delta("busy").stall());
    let sent = run(daemon.home(), &["send", "--no-wait", "--continue", "and now"]).await;
    assert!(sent.status.success(), "{sent:?}");
    watch.wait_for("running unread").await;
    let one = |text: &str| text.matches("what is up").count() == 1 && !text.contains("0 running");
    assert!(one(&watch.text()), "drawn in place: {}", watch.text());

    let home = daemon.kill().await;
    watch.wait_for("connection lost; waiting for the daemon").await;
    let daemon = agentd().home(&home).llm(&llm).start().await;
    watch
        .wait_until("the session that waits now", |text| {
            text.contains("waits") && !text.contains("connection lost")
        })
        .await;
    watch.send("\x03");
    assert_eq!(watch.wait_exit().await, 130);
    assert!(watch.text().contains("1 waiting for you"), "it stays: {}", watch.text());
    assert_eq!(watch.modes(), watch.modes_at_start());
    daemon.terminate().await;
}

#[tokio::test]
async fn an_overview_in_a_pipe_is_lines_or_json() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let home = daemon.home();
    let mut json = Running::start(home, &["watch", "--json"]);
    let snapshot = json.until_json("a snapshot", |line| line["kind"] == "snapshot").await;
    assert_eq!(snapshot, serde_json::json!({"kind": "snapshot", "sessions": [], "more": false}));
    let mut lines = Running::start(home, &["watch"]);
    lines.until("how many there are", |line| line.starts_with("0 sessions: ")).await;
    llm.push(Reply::text("hello"));
    let sent = run(home, &["send", "what is up"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let unread = json.until_json("an unread answer", |line| line["unread"] == true).await;
    assert_eq!(unread["kind"], "changed");
    let session = &unread["session"];
    assert_eq!((&session["title"], &session["status"]), (&"what is up".into(), &"idle".into()));
    lines.until("it runs", |line| line.contains("  running  ")).await;
    let line = lines.until("it is unread", |line| line.contains("  unread  ")).await;
    assert!(line.ends_with("  what is up"), "{line}");
    let once = run(home, &["watch", "--once"]).await;
    assert!(once.status.success() && stdout(&once).contains("1 unread"), "{once:?}");

    let id = session["session_id"].as_str().unwrap();
    let deleted = run(home, &["sessions", "delete", "--yes", id]).await;
    assert!(deleted.status.success(), "{deleted:?}");
    let gone = json.until_json("it is gone", |line| line["kind"] == "deleted").await;
    assert_eq!(gone["session_id"], id);
    lines.until("it is gone", |line| line.contains("  deleted  ")).await;
    assert_eq!(json.interrupt().await, Some(130));
    assert_eq!(lines.interrupt().await, Some(130));
    daemon.terminate().await;
}

#[tokio::test]
async fn the_events_of_a_session_are_lines_and_the_newest_come_first_when_asked_for() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let home = daemon.home();
    llm.push(Reply::text("hello"));
    let sent = run(home, &["send", "what is up"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let all = run(home, &["tail", "-n", "100", "--json"]).await;
    let kinds: Vec<String> = stdout(&all)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().into())
        .collect();
    assert_eq!(kinds.first().unwrap(), "session_created", "{kinds:?}");
    assert!(kinds.iter().any(|kind| kind == "turn_completed"), "{kinds:?}");
    let two = run(home, &["tail", "-n", "2", "last"]).await;
    assert_eq!(stdout(&two).lines().count(), 2, "{two:?}");
    let none = run(home, &["tail", "01JZZZZZZZZZZZZZZZZZZZZZZZ"]).await;
    assert_eq!(none.status.code(), Some(4), "{none:?}");

    let mut follow = Running::start(home, &["tail", "-f", "-n", "1", "last"]);
    follow.lines.next_line().await.unwrap().unwrap();
    llm.push(Reply::text("fine"));
    let sent = run(home, &["send", "--continue", "and you"]).await;
    assert!(sent.status.success(), "{sent:?}");
    follow.until("the message", |line| line.ends_with("message_accepted    and you")).await;
    follow.until("the answer", |line| line.ends_with("assistant_message   fine")).await;
    assert_eq!(follow.interrupt().await, Some(130));
    daemon.terminate().await;
}
