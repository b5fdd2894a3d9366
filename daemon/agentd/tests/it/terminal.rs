//! The tool `terminal`.

use agentd::config::SandboxConfig;
use agentd_domain::{ActionTarget, SessionId, ToolResult, ToolStatus};
use agentd_testkit::PATIENCE;
use agentd_tools::ToolContext;
use serde_json::json;

use crate::programs::{Place, boxed, boxed_with, long, open, runs_with};

/// Opens a terminal and gives its id.
async fn opened(place: &Place) -> String {
    let result = place.call("terminal", json!({ "action": "open" })).await;
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    let line = result.output.lines().last().unwrap();
    line.split_whitespace().nth(1).unwrap().to_owned()
}

async fn send(place: &Place, id: &str, text: &str) -> ToolResult {
    let arguments = json!({ "action": "send", "id": id, "text": text, "keys": ["enter"] });
    place.call("terminal", arguments).await
}

/// Reads a terminal until it shows these words. Reading waits for what comes.
async fn until(place: &Place, id: &str, words: &str) -> String {
    let mut shown = String::new();
    let reading = async {
        while !shown.contains(words) {
            let arguments = json!({ "action": "read", "id": id, "timeout_s": 1 });
            shown = place.call("terminal", arguments).await.output;
        }
    };
    let late = tokio::time::timeout(PATIENCE, reading).await.is_err();
    assert!(!late, "no {words:?} in {shown:?}");
    shown
}

#[tokio::test]
async fn a_terminal_stays_open_between_calls_and_shows_text() {
    for place in [boxed(), open()] {
        let id = opened(&place).await;
        send(&place, &id, "x=41; mkdir d; cd d; read -p 'name? ' name").await;
        until(&place, &id, "name? ").await;
        send(&place, &id, "Ann").await;
        let typed = send(&place, &id, r"printf '\e[1;31m%s\e[0m-%s\n' $name $((x+1))").await;
        assert!(typed.workspace_changed, "{typed:?}");
        let shown = until(&place, &id, "\nAnn-42").await;
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        assert!(shown.ends_with(&format!("[terminal {id} is open]")), "{shown}");
        send(&place, &id, "for i in $(seq 60); do echo line-$i; done; cat").await;
        // What has scrolled off is not lost, and what runs is ended by its key.
        until(&place, &id, "line-60").await;
        let keys = json!({ "action": "send", "id": id, "keys": ["ctrl-c"] });
        place.call("terminal", keys).await;
        send(&place, &id, "echo still-$((1+1))").await;
        until(&place, &id, "still-2").await;
        let closed = place.call("terminal", json!({ "action": "close", "id": id })).await;
        assert!(closed.output.ends_with(&format!("[terminal {id} is closed]")), "{closed:?}");
        assert_eq!(send(&place, &id, "ls").await.error_code, "TERMINAL_CLOSED");
    }
}

#[tokio::test]
async fn sh_02_what_runs_in_a_terminal_ends_with_it_and_with_its_session() {
    let place = boxed();
    let (one, other) = (long(5), long(6));
    let (first, second) = (opened(&place).await, opened(&place).await);
    for (id, long) in [(&first, &one), (&second, &other)] {
        send(&place, id, &format!("(trap '' TERM HUP; exec setsid sleep {long}) & echo u''p"))
            .await;
        until(&place, id, "\nup").await;
        let started = async {
            while !runs_with(long) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, started).await.expect("it is started");
    }
    let refused = place.call("terminal", json!({ "action": "open" })).await;
    assert_eq!(refused.error_code, "TOO_MANY_TERMINALS", "{refused:?}");
    place.call("terminal", json!({ "action": "close", "id": first })).await;
    assert!(!runs_with(&one) && runs_with(&other));
    place.registry.end_session(Some(place.context().session)).await;
    assert!(!runs_with(&other));
}

#[tokio::test]
async fn typing_is_planned_as_what_runs_and_looking_is_not() {
    let place = boxed();
    let shell = place.planned("terminal", &json!({ "action": "open" })).await.unwrap();
    let [ActionTarget::Run { argv, .. }] = &shell.targets[..] else { panic!("{shell:?}") };
    assert_eq!(argv.join(" "), "bash --noprofile --norc");
    let id = opened(&place).await;
    let typing = json!({ "action": "send", "id": id, "text": "rm -r x", "keys": ["enter"] });
    let action = place.planned("terminal", &typing).await.unwrap();
    assert_eq!(action.summary, format!("type into terminal {id}: rm -r x enter"));
    let [ActionTarget::Run { argv, confinement: Some(inside), .. }] = &action.targets[..] else {
        panic!("{action:?}")
    };
    assert_eq!(argv[2..], ["rm -r x", "enter"]);
    assert!(inside.writes && !inside.network);
    let reading = json!({ "action": "read", "id": id });
    assert!(place.planned("terminal", &reading).await.unwrap().targets.is_empty());
    let other = ToolContext { session: SessionId::from_parts(1, 2), ..place.context() };
    let refused = place.call_in(&other, "terminal", reading).await;
    assert_eq!(refused.error_code, "NO_SUCH_TERMINAL", "{refused:?}");
    for (text, keys, words) in [
        ("", vec![], "give text or keys"),
        ("\u{1b}[A", vec![], "holds a control character"),
        ("x", vec!["f99"], "there is no key 'f99'; there are backspace,"),
    ] {
        let arguments = json!({ "action": "send", "id": id, "text": text, "keys": keys });
        let refused = place.call("terminal", arguments).await;
        assert!(refused.output.contains(words), "{refused:?}");
    }
}

#[tokio::test]
async fn a_terminal_whose_time_is_over_is_closed() {
    let mut config = SandboxConfig::default();
    config.limits.job_s = 1;
    let place = boxed_with(&config);
    let id = opened(&place).await;
    let shown = until(&place, &id, "its time was over").await;
    assert!(shown.contains("was closed after 1 s"), "{shown}");
}
