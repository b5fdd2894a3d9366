//! Goals by hand, with the real `agentctl` and the real `agentd`.

use serde_json::Value;

use crate::tools::{run, stderr, stdout};
use crate::two_terminals::agentd;

#[tokio::test]
async fn goals_are_set_listed_done_and_dropped() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let none = run(home, &["goals", "list"]).await;
    assert_eq!((stdout(&none), stderr(&none)), ("", "no goal is open\n"), "{none:?}");
    let added = run(home, &["goals", "add", "port", "it", "--priority", "1"]).await;
    let shown = stdout(&added);
    assert!(shown.contains("  1  port it  (in "), "{added:?}");
    let id = shown.split(' ').next().unwrap();
    let again = run(home, &["goals", "add", "port it"]).await;
    assert!(stderr(&again).contains("it is open already"), "{again:?}");
    assert!(stdout(&again).starts_with(&format!("{id}  1  ")), "{again:?}");
    let everywhere =
        run(home, &["goals", "add", "--everywhere", "learn \u{1b}[2J", "--json"]).await;
    let everywhere: Value = serde_json::from_str(stdout(&everywhere)).unwrap();
    assert_eq!(everywhere["workspace"], "");
    assert_eq!(everywhere["priority"], 2);
    assert_eq!(everywhere["by"]["session_id"], "");
    assert!(everywhere["by"]["person"]["name"].is_string(), "{everywhere}");

    let listed = run(home, &["goals", "list", "--workspace", "."]).await;
    let lines: Vec<&str> = stdout(&listed).lines().collect();
    assert_eq!(lines.len(), 2, "{listed:?}");
    assert!(lines[0].starts_with(id) && lines[1].contains("(everywhere, "), "{listed:?}");
    assert!(!stdout(&listed).contains('\u{1b}'), "{listed:?}");
    // A model would see the same, by hand too.
    let tool = run(home, &["tools", "run", "manage_goals", "action=check"]).await;
    assert!(stdout(&tool).starts_with("2 goals are open"), "{tool:?}");

    let done = run(home, &["goals", "done", id]).await;
    assert!(stdout(&done).contains(", done "), "{done:?}");
    let open = run(home, &["goals", "list", "--json"]).await;
    let open: Vec<Value> = serde_json::from_str(stdout(&open)).unwrap();
    assert_eq!(open, [everywhere]);
    let all = run(home, &["goals", "list", "--done"]).await;
    assert_eq!(stdout(&all).lines().count(), 2, "{all:?}");
    let dropped = run(home, &["goals", "drop", id]).await;
    assert!(dropped.status.success(), "{dropped:?}");
    for action in ["done", "drop"] {
        let unknown = run(home, &["goals", action, id]).await;
        assert_eq!(unknown.status.code(), Some(4), "{unknown:?}");
        assert!(stderr(&unknown).contains(&format!("there is no goal {id}")), "{unknown:?}");
        assert!(stderr(&unknown).contains("agentctl goals list --done"), "{unknown:?}");
    }
    for wrong in [&["goals", "add", "x", "--priority", "4"][..], &["goals", "add"]] {
        let refused = run(home, wrong).await;
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
    let blank = run(home, &["goals", "add", " "]).await;
    assert_eq!(blank.status.code(), Some(1), "{blank:?}");
    assert!(stderr(&blank).contains("the content of the goal is empty"), "{blank:?}");
    daemon.terminate().await;
}
