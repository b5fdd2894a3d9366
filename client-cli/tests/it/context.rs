//! What requests are made of, with the real `agentctl` and the real `agentd`.

use serde_json::Value;

use crate::tools::{run, stderr, stdout};
use crate::two_terminals::agentd;

#[tokio::test]
async fn what_requests_are_made_of_is_shown_and_texts_are_pinned_and_unpinned() {
    let daemon = agentd().start().await;
    let home = daemon.home();
    let sent = run(home, &["send", "what is 1 + 1?"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let shown = run(home, &["context"]).await;
    assert!(stdout(&shown).starts_with("context of \""), "{shown:?}");
    assert!(stdout(&shown).contains("  instructions "), "{shown:?}");

    let pinned = run(home, &["context", "pin", "keep", "to", "tabs"]).await;
    assert_eq!(stdout(&pinned), "pinned:\n    1  keep to tabs\n", "{pinned:?}");
    let whole = run(home, &["context", "last", "--json"]).await;
    let whole: Value = serde_json::from_str(stdout(&whole)).unwrap();
    assert_eq!(whole["pins"][0], "keep to tabs");
    assert_eq!(whole["layers"][0]["kind"], "system");
    let gone = run(home, &["context", "unpin", "2"]).await;
    assert_eq!(gone.status.code(), Some(4), "{gone:?}");
    assert!(stderr(&gone).contains("there is no pin 2: there is one"), "{gone:?}");
    let none = run(home, &["context", "unpin", "1"]).await;
    assert_eq!(stdout(&none), "nothing is pinned\n", "{none:?}");

    let empty = run(home, &["context", "expand"]).await;
    assert_eq!(stdout(&empty), "no turns were folded into a summary yet\n", "{empty:?}");
    let early = run(home, &["context", "expand", "1"]).await;
    assert!(!early.status.success(), "{early:?}");
    assert!(stderr(&early).contains("were folded into a summary yet"), "{early:?}");
    let wrong = run(home, &["context", "no-such-session"]).await;
    assert_eq!(wrong.status.code(), Some(4), "{wrong:?}");
    daemon.terminate().await;
}
