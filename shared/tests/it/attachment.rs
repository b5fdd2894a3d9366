use std::collections::HashMap;
use std::path::Path;

use agentd_proto::v1;
use agentd_proto::v1::attach_request::Position;
use agentd_proto::v1::attach_response::Payload;
use agentd_shared::{
    AttachEvent, AttachPosition, AttachStream, AttachTarget, Attachment, Endpoint, ErrorKind,
    Identity, Paths, Recovery, StartOptions,
};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::home::Home;
use crate::scripted_daemon::{Script, ScriptedDaemon};

fn open(socket: &Path, position: AttachPosition) -> AttachStream {
    let identity = Identity { client_id: "desk".to_owned(), name: "ann@pts/3".to_owned() };
    let target = AttachTarget { session_id: "S".to_owned(), identity, position };
    Attachment::open(Endpoint::new(socket), target, Recovery::Wait)
}

/// Opens an attachment that may start the daemon in a home of its own.
fn open_in(paths: &Paths, options: StartOptions) -> AttachStream {
    let identity = Identity { client_id: "desk".to_owned(), name: "desk".to_owned() };
    let position = AttachPosition::FromSeq(1);
    let target = AttachTarget { session_id: "S".to_owned(), identity, position };
    let recovery = Recovery::Restart { paths: paths.clone(), options };
    Attachment::open(Endpoint::new(paths.socket()), target, recovery)
}

fn attached(from_seq: u64) -> Payload {
    Payload::Attached(v1::Attached { from_seq, ..v1::Attached::default() })
}

fn events(seqs: &[u64]) -> Payload {
    let events = seqs.iter().map(|seq| v1::Event { seq: *seq, ..v1::Event::default() });
    Payload::Events(v1::EventBatch { events: events.collect() })
}

fn name(event: &AttachEvent) -> String {
    match event {
        AttachEvent::Attached(attached) => format!("attached {}", attached.from_seq),
        AttachEvent::Event(event) => format!("event {}", event.seq),
        AttachEvent::CaughtUp { seq } => format!("caught up {seq}"),
        AttachEvent::Lagged { resume_seq } => format!("lagged {resume_seq}"),
        AttachEvent::Lost { error } => format!("lost {}", error.message),
        AttachEvent::Restored => "restored".to_owned(),
        AttachEvent::Failed(error) => format!("failed {}", error.message),
    }
}

async fn check(stream: &mut AttachStream, expect: &[&str]) {
    for expected in expect {
        let event = stream.next().await.unwrap();
        assert_eq!(name(&event), *expected);
    }
}

#[tokio::test]
async fn a_broken_stream_goes_on_after_the_last_durable_event() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let caught_up = Payload::CaughtUp(v1::CaughtUp { seq: 4 });
    let lagged = Payload::Lagged(v1::Lagged { resume_seq: 6 });
    let daemon = ScriptedDaemon::new(vec![
        Script::Break(vec![attached(3), events(&[3, 4]), caught_up, events(&[0])]),
        Script::Refuse(Status::unavailable("starting")),
        Script::Break(vec![attached(5), events(&[5, 0]), lagged]),
        Script::Stay(vec![attached(6)]),
    ]);
    let _listening = daemon.listen(&socket);
    let mut stream = open(&socket, AttachPosition::LastTurns(2));
    check(&mut stream, &["attached 3", "event 3", "event 4", "caught up 4", "event 0"]).await;
    check(&mut stream, &["lost shutting down", "restored", "attached 5"]).await;
    check(&mut stream, &["event 5", "event 0", "lagged 6", "lost shutting down"]).await;
    check(&mut stream, &["restored", "attached 6"]).await;
    let asked: Vec<_> = daemon.requests().into_iter().map(|request| request.position).collect();
    assert_eq!(
        asked,
        [
            Some(Position::LastTurns(2)),
            Some(Position::FromSeq(5)),
            Some(Position::FromSeq(5)),
            Some(Position::FromSeq(6)),
        ]
    );
    let author = daemon.requests().remove(0).author.unwrap();
    assert_eq!((author.client_id.as_str(), author.name.as_str()), ("desk", "ann@pts/3"));
}

#[tokio::test]
async fn a_start_that_the_daemon_chose_is_kept_when_nothing_came_before_the_loss() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let daemon = ScriptedDaemon::new(vec![
        Script::Break(vec![attached(9), events(&[0])]),
        Script::Stay(vec![attached(9)]),
    ]);
    let _listening = daemon.listen(&socket);
    let mut stream = open(&socket, AttachPosition::OnlyNew);
    check(&mut stream, &["attached 9", "event 0", "lost shutting down", "restored"]).await;
    let asked: Vec<_> = daemon.requests().into_iter().map(|request| request.position).collect();
    assert_eq!(asked, [Some(Position::OnlyNew(true)), Some(Position::FromSeq(9))]);
}

#[tokio::test]
async fn a_terminal_waits_for_a_daemon_that_does_not_run_yet() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let mut stream = open(&socket, AttachPosition::ReadCursor);
    let lost = stream.next().await.unwrap();
    assert!(matches!(&lost, AttachEvent::Lost { error } if error.reason == "DAEMON_NOT_RUNNING"));
    let daemon = ScriptedDaemon::new(vec![Script::Stay(vec![attached(1)])]);
    let _listening = daemon.listen(&socket);
    check(&mut stream, &["restored", "attached 1"]).await;
    assert_eq!(daemon.requests().remove(0).position, None);
}

#[tokio::test]
async fn what_the_daemon_refuses_for_good_ends_the_attachment() {
    let dir = tempfile::tempdir().unwrap();
    for (index, status, kind) in [
        (0, Status::not_found("no such session"), ErrorKind::NotFound),
        (1, Status::permission_denied("not yours"), ErrorKind::Denied),
        (2, Status::invalid_argument("malformed id"), ErrorKind::Invalid),
        (3, Status::unauthenticated("who are you"), ErrorKind::Denied),
        (4, Status::data_loss("the log is damaged"), ErrorKind::Corrupt),
        (5, Status::failed_precondition("not now"), ErrorKind::Conflict),
    ] {
        let socket = dir.path().join(format!("{index}.sock"));
        let daemon = ScriptedDaemon::new(vec![Script::Refuse(status)]);
        let _listening = daemon.listen(&socket);
        let mut stream = open(&socket, AttachPosition::FromSeq(1));
        let AttachEvent::Failed(error) = stream.next().await.unwrap() else { panic!("{kind:?}") };
        assert_eq!(error.kind(), kind);
        assert_eq!(stream.next().await, None);
        assert_eq!(daemon.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_reason_that_waiting_may_not_cure_is_told_during_an_outage_too() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let daemon = ScriptedDaemon::new(vec![
        Script::Break(vec![attached(1)]),
        Script::Refuse(Status::internal("a fault")),
        Script::Refuse(Status::internal("a fault")),
        Script::Stay(vec![attached(1)]),
    ]);
    let _listening = daemon.listen(&socket);
    let mut stream = open(&socket, AttachPosition::FromSeq(1));
    check(&mut stream, &["attached 1", "lost shutting down", "lost a fault"]).await;
    check(&mut stream, &["restored", "attached 1"]).await;
}

#[tokio::test]
async fn a_client_that_reads_late_gets_everything_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let seqs: Vec<u64> = (1..=2_000).collect();
    let batches = seqs.chunks(100).map(events);
    let script = std::iter::once(attached(1)).chain(batches).collect();
    let daemon = ScriptedDaemon::new(vec![Script::Stay(script)]);
    let _listening = daemon.listen(&socket);
    let mut stream = open(&socket, AttachPosition::FromSeq(1));
    check(&mut stream, &["attached 1"]).await;
    for seq in seqs {
        assert_eq!(name(&stream.next().await.unwrap()), format!("event {seq}"));
    }
}

#[tokio::test]
async fn a_daemon_that_is_gone_is_started_when_the_client_may() {
    let home = Home::new();
    let (told, go) = (home.fifo("told"), home.fifo("go"));
    let socket = home.paths.socket();
    let options = home.program(&format!(
        "echo now > {}; cat {} >/dev/null; echo '{{\"socket\":\"{}\",\"pid\":1}}'",
        told.display(),
        go.display(),
        socket.display()
    ));
    let mut stream = open_in(&home.paths, options);
    tokio::task::spawn_blocking(move || std::fs::read(told).unwrap()).await.unwrap();
    let daemon = ScriptedDaemon::new(vec![Script::Stay(vec![attached(1)])]);
    let _listening = daemon.listen(&socket);
    tokio::task::spawn_blocking(move || std::fs::write(go, "").unwrap()).await.unwrap();
    check(&mut stream, &["attached 1"]).await;
}

#[tokio::test]
async fn a_daemon_that_does_not_start_is_a_loss_with_its_reason() {
    let home = Home::new();
    let mut stream = open_in(&home.paths, home.program("echo disk full >&2; exit 1"));
    let lost = stream.next().await.unwrap();
    let AttachEvent::Lost { error } = lost else { panic!("{lost:?}") };
    assert_eq!(error.reason, "DAEMON_START");
    assert!(error.to_string().contains("disk full"), "{error}");
}

/// Opens a terminal at a daemon that ends its stream with `status` and is gone, and that may start
/// another; returns what the terminal is told next.
async fn after_the_end(home: &Home, status: Status) -> (AttachStream, String) {
    let socket = home.paths.socket();
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let daemon = ScriptedDaemon::new(vec![Script::End(vec![attached(1)], status)]);
    let mut listening = daemon.listen(&socket);
    let program = home.program("echo started >&2; exit 1");
    let mut stream = open_in(&home.paths, program);
    check(&mut stream, &["attached 1"]).await;
    listening.abort_all();
    while listening.join_next().await.is_some() {}
    std::fs::remove_file(&socket).unwrap();
    let lost = name(&stream.next().await.unwrap());
    (stream, lost)
}

#[tokio::test]
async fn a_daemon_that_was_stopped_is_not_started_again_by_a_terminal() {
    let home = Home::new();
    let details = ErrorDetails::with_error_info("DAEMON_STOPPING", "agentd", HashMap::new());
    let stopping = Status::with_error_details(Code::Unavailable, "the daemon is stopping", details);
    let (mut stream, lost) = after_the_end(&home, stopping).await;
    assert_eq!(lost, "lost the daemon is stopping");
    tokio::time::pause();
    let more = tokio::time::timeout(std::time::Duration::from_mins(1), stream.next()).await;
    tokio::time::resume();
    assert!(more.is_err(), "{more:?}");
    assert!(!home.paths.spawn_lock().exists(), "nobody has tried to start it");
    let daemon = ScriptedDaemon::new(vec![Script::Stay(vec![attached(1)])]);
    let _listening = daemon.listen(&home.paths.socket());
    check(&mut stream, &["restored", "attached 1"]).await;
}

#[tokio::test]
async fn a_daemon_that_broke_off_is_started_again_by_a_terminal() {
    let home = Home::new();
    let (mut stream, lost) = after_the_end(&home, Status::unavailable("broke off")).await;
    assert_eq!(lost, "lost broke off");
    let AttachEvent::Lost { error } = stream.next().await.unwrap() else { panic!("no loss") };
    assert_eq!(error.reason, "DAEMON_START");
    assert!(home.paths.spawn_lock().exists());
}
