//! Tools by hand and what they changed, with the real `agentctl` and the real `agentd`.

use std::process::{Output, Stdio};

use agentd_testkit::{Home, LlmServer, Pty, Reply};
use tokio::process::Command;

use crate::two_terminals::{agentd, agentd_program, chat, leave};

pub(crate) async fn run(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command.env("AGENTD_HOME", home.dir()).env("AGENTD_BIN", agentd_program());
    command.current_dir(home.workspace()).stdin(Stdio::null()).args(arguments);
    command.output().await.unwrap()
}

pub(crate) fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[tokio::test]
async fn a_tool_is_listed_shown_and_run_by_hand() {
    let daemon = agentd().set("permission.mode", "ask").start().await;
    let home = daemon.home();
    let listed = run(home, &["tools", "list"]).await;
    assert!(stdout(&listed).lines().any(|line| line.starts_with("calculator  ")), "{listed:?}");
    let shown = run(home, &["tools", "show", "write_file"]).await;
    assert!(stdout(&shown).contains("  path (string)"), "{shown:?}");
    let unknown = run(home, &["tools", "show", "nonsense"]).await;
    assert_eq!(unknown.status.code(), Some(4), "{unknown:?}");
    let sum = run(home, &["tools", "run", "calculator", "expression=2^10"]).await;
    assert_eq!((stdout(&sum), sum.status.code()), ("1024\n", Some(0)), "{sum:?}");
    assert!(stderr(&sum).starts_with("✓ calculator expression=2^10 → 1024 ·"), "{sum:?}");

    let write = ["tools", "run", "write_file", "path=a.txt", "content=one"];
    let asked = run(home, &write).await;
    assert_eq!(asked.status.code(), Some(2), "nobody can be asked: {asked:?}");
    assert!(stderr(&asked).contains("write_file wants to: write a.txt"), "{asked:?}");
    assert!(stderr(&asked).contains("| +one"), "{asked:?}");
    assert!(!home.workspace().join("a.txt").exists());
    let written = run(home, &[&write[..], &["--yes", "--json"]].concat()).await;
    assert!(written.status.success(), "{written:?}");
    let kinds: Vec<String> = stdout(&written)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|step| step["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["planned", "planned", "finished"], "asked for, then approved");
    assert_eq!(std::fs::read_to_string(home.workspace().join("a.txt")).unwrap(), "one");
    let wrong = run(home, &["tools", "run", "read_file", "line=1", "path=a.txt"]).await;
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    assert!(stderr(&wrong).contains("TOOL_ARGUMENT_VALIDATION_FAILED"), "{wrong:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn what_a_session_has_changed_is_shown_and_taken_back_in_a_chat_and_outside() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "auto-edit").start().await;
    let home = daemon.home();
    let ann = chat(home, "ann", &["--new"]);
    ann.wait_for("❯").await;
    for name in ["a.txt", "b.txt"] {
        let arguments = serde_json::json!({ "path": name, "content": "one\n" });
        llm.push(Reply::tool_call("write_file", &arguments.to_string()));
        llm.push(Reply::text(&format!("made {name}")));
        ann.send(&format!("make {name}\r"));
        ann.wait_for(&format!("✓ write_file path={name} content=")).await;
        ann.wait_for(&format!("made {name}")).await;
    }
    ann.send("/diff\r");
    ann.wait_for("2 files +2 -0").await;
    ann.send("/undo 1\r");
    ann.wait_for("a.txt (removed)").await;
    ann.send("/tools undo_edit\r");
    ann.wait_for("change (integer, optional)").await;
    leave(ann).await;

    let diff = run(home, &["diff"]).await;
    assert!(stdout(&diff).starts_with("b.txt (new)\n@@ -0,0 +1,1 @@\n+one\n"), "{diff:?}");
    // Ctrl-C is an answer: nothing is changed.
    let ask = ["permissions", "ask", "--workspace", "."];
    let rule = run(home, &[&ask[..], &["tool", "undo_edit"]].concat()).await;
    let rule = stdout(&rule).split(' ').next().unwrap().to_owned();
    let asked = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", agentd_program())
        .size(90, 40)
        .arg("undo")
        .spawn();
    asked.wait_for("Run it? [y/N]").await;
    assert!(asked.text().contains("remove b.txt"), "{}", asked.text());
    asked.send("\x03");
    assert_eq!(asked.wait_exit().await, 130);
    assert!(home.workspace().join("b.txt").exists());
    let removed = run(home, &["permissions", "remove", &rule]).await;
    assert!(removed.status.success(), "{removed:?}");

    // Nothing has to be asked for any more, and what is changed is shown all the same.
    let undone = run(home, &["undo"]).await;
    assert!(undone.status.success(), "{undone:?}");
    assert!(stderr(&undone).contains("\n  remove b.txt\n  | "), "{undone:?}");
    assert!(stdout(&undone).contains("b.txt (removed)\n"), "{undone:?}");
    let again = run(home, &["undo", "--yes"]).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(stderr(&again).contains("NOTHING_TO_UNDO"), "{again:?}");
    assert_eq!(std::fs::read_dir(home.workspace()).unwrap().count(), 0);
    daemon.terminate().await;
}

#[tokio::test]
async fn sc_03_a_file_with_secrets_is_read_when_a_rule_names_it_and_as_long_as_it_does() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "full").start().await;
    let home = daemon.home();
    std::fs::write(home.workspace().join(".env"), "KEY=hush").unwrap();
    let read = ["tools", "run", "read_file", "path=.env"];
    let allow = async |glob: &str| {
        let allow = ["permissions", "allow", "--workspace", ".", "read", glob];
        let made = run(home, &allow).await;
        assert!(made.status.success(), "{made:?}");
        stdout(&made).split(' ').next().unwrap().to_owned()
    };
    allow("**").await;
    let refused = run(home, &read).await;
    assert!(stderr(&refused).contains("PROTECTED_FILE"), "{refused:?}");
    assert!(!stdout(&refused).contains("hush"), "{refused:?}");

    let rule = allow(".env").await;
    let shown = run(home, &read).await;
    assert_eq!((stdout(&shown), shown.status.code()), ("KEY=hush\n", Some(0)), "{shown:?}");
    // A model may read it too, and nobody may write it.
    llm.push(Reply::tool_call("read_file", r#"{"path": ".env"}"#));
    llm.push(Reply::text("done"));
    let sent = run(home, &["send", "--new", "look"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let told = llm.requests().last().unwrap().body.to_string();
    assert!(told.contains("KEY=hush"), "{told}");
    let write = ["tools", "run", "write_file", "path=.env", "content=x", "overwrite=true", "--yes"];
    assert!(stderr(&run(home, &write).await).contains("PROTECTED_FILE"));

    let removed = run(home, &["permissions", "remove", &rule]).await;
    assert!(removed.status.success(), "{removed:?}");
    let refused = run(home, &read).await;
    assert!(stderr(&refused).contains("PROTECTED_FILE"), "{refused:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_session_is_begun_with_further_directories_and_shows_them() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).set("permission.mode", "full").start().await;
    let home = daemon.home();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [one, two] = [&one, &two].map(|dir| dir.path().canonicalize().unwrap());
    std::fs::write(two.join("a.txt"), "from two").unwrap();
    let path = two.join("a.txt").display().to_string();
    llm.push(Reply::tool_call("read_file", &serde_json::json!({ "path": path }).to_string()));
    llm.push(Reply::text("done"));
    let dirs = ["--add-dir", one.to_str().unwrap(), "--add-dir", two.to_str().unwrap()];
    let sent = run(home, &[&["send", "--new"], &dirs[..], &["look"]].concat()).await;
    assert!(sent.status.success(), "{sent:?}");
    let told = llm.requests().last().unwrap().body.to_string();
    assert!(told.contains("from two"), "{told}");
    let shown = run(home, &["sessions", "show", "last"]).await;
    let lines = format!("\nand        {}\nand        {}\n", one.display(), two.display());
    assert!(stdout(&shown).contains(&lines), "{shown:?}");
    let shown = run(home, &["sessions", "show", "last", "--json"]).await;
    let json: serde_json::Value = serde_json::from_str(stdout(&shown)).unwrap();
    let roots = json["session"]["further_roots"].as_array().unwrap();
    assert_eq!(*roots, [one.to_str().unwrap(), two.to_str().unwrap()]);
    // Those of a session that exists stay as they are.
    let late = run(home, &[&["send", "--session", "last"], &dirs[..], &["look"]].concat()).await;
    assert_eq!(late.status.code(), Some(2), "{late:?}");
    assert!(stderr(&late).contains("--add-dir"), "{late:?}");
    let gone = run(home, &["send", "--new", "--add-dir", "none", "look"]).await;
    assert_eq!(gone.status.code(), Some(4), "{gone:?}");
    daemon.terminate().await;
}
