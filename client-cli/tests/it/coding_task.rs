//! A coding task from its question to tests that pass: the real programs, two terminals that watch,
//! one of which says what may run.

use std::fs;
use std::os::unix::fs::chown;

use agentd_testkit::{LlmServer, Reply};

use crate::two_terminals::{agentd, chat, leave};

/// An ordinary user.
const NOBODY: u32 = 65_534;

const BROKEN: &str = "sum() { echo $(($1 - $2)); }\n";
const TEST: &str = ". ./sum.sh\n\
    if [ \"$(sum 2 3)\" = 5 ]; then echo 1 passed; else echo \"1 failed: sum 2 3 is $(sum 2 3)\"; exit 1; fi\n";

fn edit(old: &str, new: &str) -> Reply {
    let edits = serde_json::json!({ "path": "sum.sh", "edits": [{ "old": old, "new": new }] });
    Reply::tool_call("edit_file", &edits.to_string())
}

fn run_tests() -> Reply {
    Reply::tool_call("run_command", r#"{"command":"sh test.sh"}"#)
}

#[tokio::test]
async fn a_bug_is_located_changed_tested_and_changed_again_until_the_tests_pass() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "ask").start().await;
    let workspace = daemon.home().workspace();
    fs::write(workspace.join("sum.sh"), BROKEN).unwrap();
    fs::write(workspace.join("test.sh"), TEST).unwrap();
    if rustix::process::geteuid().is_root() {
        // Programs of a daemon that is root run as who owns the workspace.
        for path in [workspace.clone(), workspace.join("sum.sh"), workspace.join("test.sh")] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    llm.push(Reply::tool_calls(&[
        ("glob_files", r#"{"pattern":"**/*.sh"}"#),
        ("grep_files", r#"{"pattern":"sum"}"#),
        ("read_file", r#"{"path":"sum.sh"}"#),
        ("read_file", r#"{"path":"test.sh"}"#),
    ]));
    llm.push(edit("-", "*"));
    llm.push(run_tests());
    llm.push(edit("*", "+"));
    llm.push(run_tests());
    llm.push(Reply::text("answer: the sum is right now"));

    let ann = chat(daemon.home(), "ann", &["--new"]);
    ann.wait_for("❯").await;
    let bob = chat(daemon.home(), "bob", &["--continue"]);
    bob.wait_for("❯").await;
    ann.send("the sum is wrong, repair it\r");
    for (number, what) in [
        (1, "edit_file wants to"),
        (2, "run_command wants to: run sh test.sh"),
        (3, "edit_file wants to"),
        (4, "run_command wants to: run sh test.sh"),
    ] {
        let asked = format!("? #{number} {what}");
        for terminal in [&ann, &bob] {
            terminal.wait_for(&asked).await;
        }
        // Faster than one who reads, so that it has to name what it lets run.
        bob.send(&format!("y {number}\r"));
        ann.wait_until("bob's yes", |shown| shown.matches("allowed by bob").count() == number)
            .await;
    }
    for terminal in [&ann, &bob] {
        terminal.wait_for("answer: the sum is right now").await;
        let shown = terminal.text();
        // The change that did not do, what came of it, and the one that did.
        for seen in ["echo $(($1 * $2))", "1 failed: sum 2 3 is 6", "echo $(($1 + $2))", "1 passed"]
        {
            assert!(shown.contains(seen), "{seen}:\n{shown}");
        }
    }
    assert_eq!(fs::read_to_string(workspace.join("sum.sh")).unwrap(), BROKEN.replace('-', "+"));
    let told = llm.requests();
    assert_eq!(told.len(), 6);
    let results: Vec<String> = told.iter().map(|request| request.body.to_string()).collect();
    assert!(results[1].contains("sum.sh") && results[1].contains("sum 2 3"), "{}", results[1]);
    assert!(results[3].contains("1 failed: sum 2 3 is 6"), "{}", results[3]);
    assert!(results[5].contains("1 passed"), "{}", results[5]);
    assert_eq!(llm.violations(), Vec::<String>::new());
    leave(ann).await;
    leave(bob).await;
    daemon.terminate().await;
}
