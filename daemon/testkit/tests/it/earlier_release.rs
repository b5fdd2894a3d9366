//! A store as the first release left it: this one opens it, lists its sessions and goes on with them.
//!
//! `first_release/` is the data directory of a daemon of that release, which had talked in two sessions
//! with its offline engine and copied one: the store's own files, so that its keys and values and sled's
//! format count. Only locks are left out, and the zeros behind what sled had written.

use std::fs;
use std::path::Path;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, Driver, Home, LlmServer, Reply};

use crate::support::check_log;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/first_release");

/// How long sled's file is with its zeros.
const DB_BYTES: u64 = 524_287;

/// Copies a directory with what is below it.
fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("make a directory");
    for entry in fs::read_dir(from).expect("the fixture") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its type").is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copy a file");
        }
    }
}

#[tokio::test]
async fn a_store_of_the_first_release_is_opened_listed_and_continued() {
    let llm = LlmServer::start().await;
    let home = Home::new();
    copy_dir(Path::new(FIXTURE), &home.paths().data_dir);
    let db = fs::OpenOptions::new().write(true).open(home.paths().store_dir().join("db"));
    db.and_then(|db| db.set_len(DB_BYTES)).expect("the zeros behind it");
    let mut daemon = Daemon::builder().home(&home).llm(&llm).start().await;

    let client = daemon.client().await;
    let status = client.admin().get_status(v1::GetStatusRequest {}).await.expect("the status");
    assert_eq!(status.into_inner().warnings, Vec::<String>::new());
    let listed = client.session().list_sessions(v1::ListSessionsRequest::default()).await;
    let listed = listed.expect("a list").into_inner().sessions;
    let shown: Vec<_> = listed
        .iter()
        .map(|session| (session.title.as_str(), session.turns, session.last_seq))
        .collect();
    let expect = [("its copy", 1, 11), ("a sum", 1, 10), ("what is 17% of 2400?", 2, 16)];
    assert_eq!(shown, expect);

    // What was said goes to the model, and the log goes on where it ended.
    let old = &listed[2];
    llm.push(Reply::text("It was 408."));
    let mut ann = daemon.attach("ann", &old.session_id).await;
    let is_replayed = |driver: &Driver| driver.events().any(|event| event.seq == old.last_seq);
    ann.wait_until("the old log", is_replayed).await;
    ann.skip_seen();
    assert_eq!(ann.ask("What was it?").await, "It was 408.");
    let request = llm.wait_for_request(1).await;
    let messages = request.messages();
    let roles: Vec<_> =
        messages.iter().map(|message| message["role"].as_str().expect("a role")).collect();
    assert_eq!(
        roles.join(" "),
        "system user assistant tool assistant user assistant tool assistant user"
    );
    assert_eq!(messages[1]["content"], "what is 17% of 2400?");
    let call = &messages[2]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], r#"{"expression":"17% of 2400"}"#);
    assert_eq!(messages[3]["tool_call_id"], call["id"]);
    assert_eq!(messages[3]["content"], "408");
    assert_eq!(messages[9]["content"], "What was it?");
    let log = ann.log().await;
    check_log(&log, "a session of the first release");
    assert!(log.len() as u64 > old.last_seq);
    daemon.restart().await;
    let ann = daemon.attach("ann", &old.session_id).await;
    assert_eq!(ann.log().await, log, "nothing of it changes with a restart");
    let ends = log.iter().filter(|event| matches!(event.body, Some(Body::TurnCompleted(_))));
    assert_eq!(ends.count(), 3);
    daemon.stop().await;
}
