//! A plan as terminals show it.

use std::fs;

use agentd_testkit::{LlmServer, Reply};

use crate::two_terminals::{agentd, chat, leave};

fn plan(arguments: &str) -> (&'static str, String) {
    ("call_tool", format!(r#"{{"name":"manage_plan","arguments":{arguments}}}"#))
}

#[tokio::test]
async fn all_terminals_see_the_plan_and_its_progress_and_later_ones_ask_for_it() {
    let llm = LlmServer::start().await;
    let daemon = agentd()
        .llm(&llm)
        .set("permission.mode", "full")
        .set("sandbox.backend", "none")
        .start()
        .await;
    let workspace = daemon.home().workspace();
    fs::write(workspace.join("test.sh"), "echo 'test result: ok. 2 passed; 0 failed;'\n").unwrap();
    let create = plan(
        r#"{"action":"create","goal":"mend it","steps":[
            {"id":"look","objective":"find it","verify":{"tool":"run_command","text":"sh test.sh"}},
            {"id":"tell","objective":"tell it","needs":["look"],"verify":{"tool":"write_file"}}]}"#,
    );
    let begin = plan(r#"{"action":"begin","step":"look"}"#);
    let done = plan(r#"{"action":"done","step":"look"}"#);
    let answer = |calls: &[(&'static str, String)]| {
        let calls: Vec<(&str, &str)> =
            calls.iter().map(|(name, arguments)| (*name, arguments.as_str())).collect();
        Reply::tool_calls(&calls)
    };
    llm.push(answer(&[create, begin]));
    let run = ("run_command", r#"{"command":"sh test.sh"}"#.to_owned());
    llm.push(answer(&[run, done]));
    llm.push(Reply::text("answer: found"));

    let ann = chat(daemon.home(), "ann", &["--new"]);
    ann.wait_for("❯").await;
    let bob = chat(daemon.home(), "bob", &["--continue"]);
    bob.wait_for("❯").await;
    ann.send("mend it\r");
    for terminal in [&ann, &bob] {
        terminal.wait_for("answer: found").await;
        let shown = terminal.text();
        for seen in [
            "◆ plan: mend it: 0 of 2 done",
            "· tell: tell it (after look)",
            "▸ look: find it (to be proven by run_command sh test.sh)",
            "◆ plan: mend it: 1 of 2 done",
            "✓ look: find it (run_command: exit code 0, 2 tests passed, 0 failed)",
        ] {
            assert!(shown.contains(seen), "{seen}:\n{shown}");
        }
    }
    let before = bob.text().matches("◆ plan: mend it: 1 of 2 done").count();
    bob.send("/plan\r");
    bob.wait_until("the plan", |shown| {
        shown.matches("◆ plan: mend it: 1 of 2 done").count() > before
    })
    .await;
    assert_eq!(llm.violations(), Vec::<String>::new());
    leave(ann).await;
    leave(bob).await;
    daemon.terminate().await;
}
