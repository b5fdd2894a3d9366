//! `agentctl memory`, with the real programs.

use std::process::{Output, Stdio};

use agentd_testkit::{Home, LlmServer, Pty};
use tokio::process::Command;

use crate::two_terminals::{agentd, agentd_program, chat, leave};

async fn run(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command.env("AGENTD_HOME", home.dir()).env("AGENTD_BIN", agentd_program()).env("TZ", "UTC");
    command.current_dir(home.workspace()).stdin(Stdio::null()).args(["memory"]).args(arguments);
    command.output().await.unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

/// What a command prints that must succeed.
async fn good(home: &Home, arguments: &[&str]) -> String {
    let output = run(home, arguments).await;
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    stdout(&output).to_owned()
}

/// The end of the id with which a line begins.
fn id_of(line: &str) -> String {
    line.split(' ').next().unwrap().to_owned()
}

#[tokio::test]
async fn memories_are_added_found_changed_explained_and_brought_back() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let added =
        good(home, &["add", "likes", "green", "tea", "--priority", "high", "--tag", "drinks"]);
    let id = id_of(&added.await);
    assert_eq!(id.len(), 8);
    good(home, &["add", "the staging host is called anvil", "--workspace", "."]).await;
    let all = good(home, &["list"]).await;
    let lines: Vec<_> = all.lines().collect();
    assert_eq!(lines.len(), 3, "{all}");
    assert!(lines[0].starts_with("ID        PRIORITY  IMP  KIND     WHERE"), "{all}");
    assert!(lines[1].starts_with(&format!("{id}  high      3    general  everywhere")), "{all}");
    let found = good(home, &["search", "which", "tea", "--json"]).await;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found[0]["memory"]["content"], "likes green tea");
    assert_eq!(found[0]["memory"]["tags"], serde_json::json!(["drinks"]));
    assert_eq!(found.as_array().unwrap().len(), 1);

    good(home, &["edit", &id, "likes black tea", "--importance", "5"]).await;
    good(home, &["pin", &id]).await;
    let shown = good(home, &["show", &id]).await;
    assert!(shown.starts_with("likes black tea\n\nid  "), "{shown}");
    assert!(shown.contains("high, general, pinned, importance 5 of 5"), "{shown}");
    assert!(good(home, &["why", &id]).await.contains("will age    no: it is pinned"));
    good(home, &["unpin", &id]).await;
    let why = good(home, &["why", &id]).await;
    for part in [
        "retention   100 % (1/e after 30 days without use)",
        "  medium\n",
        "  low\n",
        "  no longer told\n",
        "    text: likes green tea → likes black tea\n",
        "    pinned: true → false\n",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }

    good(home, &["forget", &id]).await;
    assert!(!good(home, &["list"]).await.contains("black tea"));
    assert!(
        good(home, &["list", "--status", "forgotten"]).await.contains("(forgotten) likes black")
    );
    let undone = run(home, &["undo"]).await;
    assert!(stderr(&undone).contains("status: active → forgotten"), "{undone:?}");
    assert!(good(home, &["list"]).await.contains("black tea"));
    assert!(good(home, &["stats"]).await.starts_with("STATUS  ALL"));
    let dry = run(home, &["decay", "--dry-run", "--within", "61d"]).await;
    assert!(stdout(&dry).contains("high → medium  likes black tea"), "{dry:?}");
    assert!(stderr(&dry).contains("1 would age, 0 would end"), "{dry:?}");
    let swept = run(home, &["decay"]).await;
    assert!(stderr(&swept).contains("0 age, 0 end"), "{swept:?}");
    let dry = good(home, &["consolidate", "--dry-run"]).await;
    assert!(dry.contains("there is no model"), "{dry}");
    let done = good(home, &["consolidate"]).await;
    assert!(done.contains("0 pairs were compared") && done.contains("there is no model"), "{done}");
    assert!(good(home, &["stats"]).await.contains("order was last brought into them"));

    good(home, &["forget", &id, "--erase", "--yes"]).await;
    let gone = run(home, &["show", &id]).await;
    assert_eq!(gone.status.code(), Some(4), "{gone:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn what_cannot_be_remembered_is_refused_with_a_reason() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let secret = run(home, &["add", "my password is hunter22"]).await;
    assert_eq!(secret.status.code(), Some(1), "{secret:?}");
    assert!(stderr(&secret).contains("secrets are never kept"), "{secret:?}");
    assert!(!stderr(&secret).contains("hunter22"), "{secret:?}");
    for usage in [
        &["add", "x", "--expires", "soon"][..],
        &["edit", "00000000"],
        &["forget", "00000000", "--yes"],
        &["import", "notes.jsonl", "--format", "yaml"],
    ] {
        assert_eq!(run(home, usage).await.status.code(), Some(2), "{usage:?}");
    }
    for missing in [&["why", "0000ZZZZ"][..], &["confirm", "0000ZZZZ"], &["undo"], &["import", "x"]]
    {
        assert_eq!(run(home, missing).await.status.code(), Some(4), "{missing:?}");
    }
    let erase = run(home, &["add", "a b"]).await;
    let erase = run(home, &["forget", &id_of(stdout(&erase)), "--erase"]).await;
    assert_eq!(erase.status.code(), Some(2), "nobody can be asked: {erase:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn an_acknowledged_memory_survives_sigkill() {
    let daemon = agentd().start().await;
    let id = id_of(&good(daemon.home(), &["add", "the roof leaks"]).await);
    let home = daemon.kill().await;
    let again = agentd().home(&home).start().await;
    let shown = good(&home, &["why", &id]).await;
    assert!(shown.contains("text        the roof leaks"), "{shown}");
    assert!(shown.contains("added "), "its journal too: {shown}");
    again.terminate().await;
}

#[tokio::test]
async fn an_export_and_a_markdown_file_are_imported_once() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let notes = "Ann lives in Oslo.\n\n# Hosts\n\n- staging is anvil\n- production is forge\n";
    std::fs::write(home.workspace().join("notes.md"), notes).unwrap();
    let imported = good(home, &["import", "notes.md", "--workspace", "."]).await;
    assert!(imported.starts_with("3 new, 0 became part of others, 0 known"), "{imported}");
    let again = good(home, &["import", "notes.md", "--workspace", "."]).await;
    assert!(again.starts_with("0 new, 0 became part of others, 3 known"), "{again}");
    let hosts = good(home, &["list", "--tag", "hosts", "--json"]).await;
    let hosts: serde_json::Value = serde_json::from_str(&hosts).unwrap();
    assert_eq!(hosts.as_array().unwrap().len(), 2);
    assert_eq!(hosts[0]["memory"]["author"]["import_from"], "Markdown");

    good(home, &["export", "--output", "all.jsonl"]).await;
    let file = home.workspace().join("all.jsonl");
    let mut lines = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines.lines().count(), 3);
    assert_eq!(good(home, &["export"]).await, lines);
    lines.push_str("nonsense\n");
    std::fs::write(&file, lines).unwrap();
    let other = agentd().start().await;
    let taken = run(other.home(), &["import", file.to_str().unwrap()]).await;
    assert_eq!(taken.status.code(), Some(1), "a line was left out: {taken:?}");
    assert!(stdout(&taken).starts_with("3 new, "), "{taken:?}");
    assert!(stderr(&taken).contains("line 4: it is not JSON"), "{taken:?}");
    other.terminate().await;
    daemon.terminate().await;
}

#[tokio::test]
async fn the_memories_of_a_tea_agent_come_in_once_with_their_dates_and_what_cannot_is_told() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let file = home.workspace().join("chat_history.db");
    let database = rusqlite::Connection::open(&file).unwrap();
    database
        .execute_batch(
            "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT, priority INTEGER DEFAULT 2,
                 importance INTEGER DEFAULT 3, category TEXT DEFAULT 'general', tags TEXT, expires_at TEXT,
                 pinned INTEGER DEFAULT 0, created_at TEXT, is_active INTEGER DEFAULT 1);
             INSERT INTO memories (id, content, priority, category, tags, created_at, is_active) VALUES
                 ('u1', 'likes green tea', 1, 'preference', 'drinks, home', '2026-01-31 09:00:00', 1),
                 ('u2', '数据库在保险箱里', 0, 'fact', 'a,b', '2026-01-31T09:00:00', 1),
                 ('u3', 'undated', 2, 'fact', '', 'CURRENT_TIMESTAMP', 1),
                 ('u4', 'my password is hunter22', 2, 'fact', '', '2026-01-31 09:00:00', 1),
                 ('u5', 'long over', 2, 'fact', '', '2026-01-31 09:00:00', 0);",
        )
        .unwrap();
    drop(database);
    let dry = run(home, &["import", "chat_history.db", "--dry-run"]).await;
    assert_eq!(dry.status.code(), Some(1), "{dry:?}");
    assert!(stdout(&dry).starts_with("nothing was changed; this would be: 2 new, "), "{dry:?}");
    assert_eq!(good(home, &["list", "--json"]).await.trim(), "[]");

    let taken = run(home, &["import", "chat_history.db"]).await;
    assert!(stdout(&taken).starts_with("2 new, 0 became part of others, 0 known"), "{taken:?}");
    assert!(stdout(&taken).contains("2 left out"), "{taken:?}");
    assert!(
        stderr(&taken).contains("row 3: created_at: 'CURRENT_TIMESTAMP' is not a time"),
        "{taken:?}"
    );
    assert!(stderr(&taken).contains("row 4: "), "{taken:?}");
    assert!(stderr(&taken).contains("1 were forgotten where they are from"), "{taken:?}");
    assert!(!stderr(&taken).contains("hunter22"), "{taken:?}");
    let listed: serde_json::Value =
        serde_json::from_str(&good(home, &["list", "--tag", "home", "--json"]).await).unwrap();
    let memory = &listed[0]["memory"];
    assert_eq!(memory["created_at_ms"], 1_769_850_000_000_i64, "{memory}");
    assert_eq!((&memory["priority"], &memory["category"]), (&"high".into(), &"preference".into()));
    assert_eq!(memory["tags"], serde_json::json!(["drinks", "home"]));
    assert_eq!(
        (&memory["author"]["import_from"], &memory["status"]),
        (&"tea_agent".into(), &"active".into())
    );

    let again = run(home, &["import", "chat_history.db", "--undated", "--json"]).await;
    let again: serde_json::Value = serde_json::from_str(stdout(&again)).unwrap();
    let counts = ["new", "known", "forgotten"].map(|key| again[key].as_u64().unwrap());
    assert_eq!(counts, [1, 2, 1], "{again}");
    assert_eq!(again["left_out"][0]["line"], 4, "{again}");

    std::fs::write(home.workspace().join("chat_history.db-wal"), "x").unwrap();
    let unfinished = run(home, &["import", "chat_history.db"]).await;
    assert_eq!(unfinished.status.code(), Some(1), "{unfinished:?}");
    assert!(stderr(&unfinished).contains("wal_checkpoint"), "{unfinished:?}");
    daemon.terminate().await;
}

#[tokio::test]
async fn a_text_from_elsewhere_reaches_no_terminal_as_it_is() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let line = "{\"content\":\"hello \u{9b}31m\u{202e}there\",\"tags\":[\"a\u{202e}b\"]}\n";
    std::fs::write(home.workspace().join("x.jsonl"), line).unwrap();
    good(home, &["import", "x.jsonl"]).await;
    let listed = good(home, &["list"]).await;
    assert!(!listed.contains(['\u{9b}', '\u{202e}']), "{listed:?}");
    let id = id_of(listed.lines().nth(1).unwrap());
    let shown = Pty::builder(env!("CARGO_BIN_EXE_agentctl"))
        .env("AGENTD_HOME", home.dir())
        .env("AGENTD_BIN", agentd_program())
        .size(100, 30)
        .arg("memory")
        .arg("show")
        .arg(&id)
        .spawn();
    assert_eq!(shown.wait_exit().await, 0);
    assert!(!shown.text().contains(['\u{9b}', '\u{202e}']), "{}", shown.text());
    daemon.terminate().await;
}

#[tokio::test]
async fn a_chat_shows_what_is_told_in_its_session() {
    let llm = LlmServer::start().await;
    let daemon = agentd().llm(&llm).start().await;
    let home = daemon.home();
    good(home, &["add", "likes green tea"]).await;
    good(home, &["add", "builds with make", "--workspace", "."]).await;
    good(home, &["add", "elsewhere alone", "--workspace", "/"]).await;
    let ann = chat(home, "ann", &["--new"]);
    ann.wait_for("❯").await;
    ann.send("/memories\r");
    ann.wait_for("likes green tea").await;
    ann.wait_for("builds with make").await;
    assert!(!ann.text().contains("elsewhere alone"), "{}", ann.text());
    ann.send("/memories nonsense\r");
    ann.wait_for("no memories found").await;
    leave(ann).await;
    daemon.terminate().await;
}
