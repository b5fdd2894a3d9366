//! Several terminals on one session, in which everybody does everything at the same time, end with the
//! same transcript: that of the stored log.

use agentd_shared::Transcript;
use agentd_shared::transcript::Item;
use agentd_testkit::{Gate, Home, LlmServer, PATIENCE, Passage, Pty, Reply};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::support::{READY, WITHDRAW, agentctl, agentd, chat, follower, leave, opened, sees, tui};

/// `agentctl attach --json`, which reads along.
struct Follower {
    /// Killed when it is dropped.
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Follower {
    fn start(home: &Home, session_id: &str) -> Self {
        let mut child = follower(home, session_id).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        Self { _child: child, lines: BufReader::new(stdout).lines() }
    }

    /// The events of the log that it has told, up to the one with this number.
    async fn read_to(mut self, last: u64) -> Vec<Value> {
        let mut events: Vec<Value> = Vec::new();
        let read = tokio::time::timeout(PATIENCE, async {
            while events.last().and_then(seq) != Some(last) {
                let line = self.lines.next_line().await.unwrap().expect("it goes on");
                let event: Value = serde_json::from_str(&line).unwrap();
                // Others are text that is being written, and who comes and goes.
                if seq(&event) != Some(0) {
                    events.push(event);
                }
            }
        });
        assert!(read.await.is_ok(), "event {last} did not come: {events:?}");
        events
    }
}

fn seq(event: &Value) -> Option<u64> {
    event.get("seq")?.as_u64()
}

/// The rows of the transcript, of a window that holds all of it. Who did something is told to all but
/// themselves.
fn rows(terminal: &Pty) -> Vec<String> {
    let rows = terminal.screen_now().rows();
    let composer = rows.iter().rposition(|row| row.starts_with('›')).expect("a composer");
    // Above it is the place of a notice, above all the header.
    let rows = rows.get(1..composer - 1).expect("room for a transcript");
    let end = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
    let unnamed = |row: &String| {
        ["ann", "bob", "cat"]
            .iter()
            .fold(row.clone(), |row, name| row.replace(&format!(" by {name}"), ""))
    };
    rows.iter().take(end).map(unnamed).collect()
}

/// What was said, of the transcript of the log, line by line: users with a mark.
fn said(transcript: &Transcript) -> Vec<String> {
    let mut said = Vec::new();
    for item in transcript.items() {
        match item {
            Item::User(message) => said.push(format!("▸ {}", message.text)),
            Item::Assistant(message) => {
                let lines = message.text.lines().filter(|line| !line.is_empty());
                said.extend(lines.map(str::to_owned));
            }
            Item::Turn(_) | Item::Question(_) | Item::Note(_) => {}
        }
    }
    said
}

/// Checks that these texts stand in these rows, in this order.
#[track_caller]
fn assert_in_order(who: &str, rows: &[String], wanted: &[String]) {
    let mut left = rows.iter();
    for text in wanted {
        let found = left.any(|row| row.trim_start_matches(['●', ' ']).starts_with(text.as_str()));
        assert!(found, "{who} misses {text:?} in its place:\n{}", rows.join("\n"));
    }
}

#[tokio::test]
async fn whatever_all_terminals_do_at_once_they_end_with_the_transcript_of_the_log() {
    let llm = LlmServer::start().await;
    let mut daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    let home = daemon.home().clone();
    let session_id = daemon.driver("eve").await.session_id().to_owned();
    llm.set_default(|request| {
        let text = request.last_user_text();
        Reply::text(&format!("answer to {}\n", text.lines().last().unwrap_or_default()))
    });
    let dir = tempfile::tempdir().unwrap();
    let mut passage = Passage::open(dir.path().join("s"), home.paths().socket());
    let here = |builder: agentd_testkit::PtyBuilder| builder.arg("--session").arg(&session_id);
    let ann = opened(here(tui(&home, "ann"))).await;
    let bob = opened(here(tui(&home, "bob")).arg("--socket").arg(passage.socket())).await;
    let cat = here(chat(&home, "cat")).spawn();
    cat.wait_for("❯").await;
    let dan = Follower::start(&home, &session_id);

    // All send, of which one is answered and two wait.
    let gate = Gate::new();
    llm.push(
        Reply::sse()
            .text_delta("answer alpha 使用 one\n\n")
            .wait(&gate)
            .text_delta("answer alpha two\n\n")
            .stall(),
    );
    ann.send("from ann 使用\r");
    bob.send("from bob\r");
    cat.send("from cat\r");
    for terminal in [&ann, &bob] {
        sees(terminal, "answer alpha 使用 one").await;
        sees(terminal, "2 queued").await;
    }
    cat.wait_for("answer alpha 使用 one").await;

    // One changes its size while text comes, another misses that text.
    passage.cut().await;
    sees(&bob, "reconnecting").await;
    ann.resize(50, 14);
    gate.release();
    sees(&ann, "answer alpha two").await;
    cat.wait_for("answer alpha two").await;
    ann.resize(98, 40);
    passage.reopen();
    sees(&bob, "answer alpha two").await;

    // One breaks the turn off, one takes a message back that waits, one sends another.
    let arguments = r#"{"path":"a.txt","content":"one\n"}"#;
    llm.push(Reply::tool_call("write_file", arguments));
    // What is written is not replaced by a message that comes back.
    bob.send("x");
    sees(&bob, "› x").await;
    bob.send(WITHDRAW);
    sees(&bob, "take a message back").await;
    ann.send("\x1b");
    bob.send("\r");
    cat.send("cat once more\r");
    for terminal in [&ann, &bob] {
        sees(terminal, "■ interrupted").await;
    }
    bob.send("\x7f");

    // All answer an approval, each in another way.
    for terminal in [&ann, &bob] {
        sees(terminal, "y once").await;
    }
    cat.wait_for("y) allow once").await;
    ann.send("y");
    bob.send("n");
    cat.send("n 1\r");
    for terminal in [&ann, &bob] {
        sees(terminal, "answer to cat once more").await;
        sees(terminal, READY).await;
    }
    cat.wait_for("answer to cat once more").await;
    // A key that came when the approval was decided already is a letter of a message.
    ann.send("\x7f");
    bob.send("\x7f");

    // The daemon is killed in the middle of an answer, and all answer what becomes of the turn.
    llm.push(Reply::sse().text_delta("answer gamma one\n\n").stall());
    ann.send("survive\r");
    for terminal in [&ann, &bob] {
        sees(terminal, "answer gamma one").await;
    }
    cat.wait_for("answer gamma one").await;
    let home = daemon.kill().await;
    for terminal in [&ann, &bob] {
        sees(terminal, "reconnecting").await;
    }
    cat.wait_for("connection lost").await;
    bob.resize(50, 14);
    daemon = agentd().home(&home).llm(&llm).start().await;
    bob.resize(98, 40);
    for terminal in [&ann, &bob] {
        sees(terminal, "number or Enter chooses").await;
    }
    cat.wait_for("Go on with it?").await;
    ann.send("1");
    bob.send("2");
    cat.send("continue\r");
    let mut eve = daemon.attach("eve", &session_id).await;
    eve.wait_until("the end of all turns", |eve| {
        let transcript = eve.transcript();
        let is_over = |turn: &agentd_shared::transcript::TurnMarker| turn.state.is_over();
        transcript.last_turn().is_some_and(is_over) && transcript.queue().next().is_none()
    })
    .await;
    for terminal in [&ann, &bob] {
        sees(terminal, READY).await;
        terminal.send("\x7f");
    }
    ann.send("the end\r");
    for terminal in [&ann, &bob] {
        sees(terminal, "answer to the end").await;
        sees(terminal, READY).await;
        terminal.resize(98, 200);
        terminal
            .wait_screen("the bar in the last row", |screen| {
                let rows = screen.rows();
                let is_drawn = |from_end: usize, text: &str| {
                    rows.iter().rev().nth(from_end).is_some_and(|row| row.contains(text))
                };
                rows.len() == 200 && is_drawn(0, READY) && is_drawn(1, "›")
            })
            .await;
    }
    cat.wait_for("answer to the end").await;

    // The log, folded, is what the stream came to.
    let log = eve.log().await;
    let last = log.last().unwrap().seq;
    eve.wait_until("the end of the log", |eve| eve.transcript().last_seq() == last).await;
    let mut folded = Transcript::default();
    for event in &log {
        folded.apply(event);
    }
    assert_eq!(eve.transcript().items(), folded.items());

    // The two screens are the same, and tell what the log tells.
    let wanted = said(&folded);
    let bars = |terminal: &Pty| terminal.screen_now().rows().last().cloned();
    assert_eq!(rows(&ann), rows(&bob), "{:?} {:?}", bars(&ann), bars(&bob));
    assert_in_order("ann", &rows(&ann), &wanted);

    // The lines of the chat are these as well, but for what the daemon lost with its life.
    let answers = |lines: &[String]| -> Vec<String> {
        let answers = lines.iter().filter(|line| line.starts_with("answer "));
        answers.filter(|line| *line != "answer gamma one").cloned().collect()
    };
    let lines: Vec<String> = cat.text().lines().map(|line| line.trim_end().to_owned()).collect();
    assert_eq!(answers(&lines), answers(&wanted), "{}", cat.text());

    // And so are the events of the one that read along, over the outage.
    let told = agentctl(&home, &["tail", &session_id, "-n", "100000", "--json"]).await;
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(dan.read_to(last).await, told);

    assert_eq!(llm.violations(), Vec::<String>::new());
    drop(eve);
    leave(ann).await;
    leave(bob).await;
    cat.send("\x04");
    assert_eq!(cat.wait_exit().await, 0);
    daemon.terminate().await;
}
