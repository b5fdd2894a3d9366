//! All sessions at once over the wire.

use agentd_proto::v1;
use agentd_shared::{
    AttachPosition, Recovery, SessionBoard, SessionWatch, SessionWatchStream, WatchEvent,
};
use agentd_testkit::{Daemon, LlmServer, PATIENCE};
use tonic::Code;

use crate::support::{asking, check_error, push_append};

/// A client that shows all sessions.
struct Overview {
    stream: SessionWatchStream,
    board: SessionBoard,
    /// The connection has been lost and come back so often.
    restored: usize,
    lost: Vec<String>,
}

impl Overview {
    fn open(daemon: &Daemon) -> Self {
        let stream = SessionWatch::open(daemon.home().endpoint(), 0, Recovery::Wait);
        Self { stream, board: SessionBoard::default(), restored: 0, lost: Vec::new() }
    }

    async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !holds(self) {
                let event = self.stream.next().await.expect("the stream goes on");
                match &event {
                    WatchEvent::Failed(error) => panic!("refused: {error}"),
                    WatchEvent::Restored => self.restored += 1,
                    WatchEvent::Lost { error } => self.lost.push(error.reason.clone()),
                    _ => {}
                }
                drop(self.board.apply(&event));
            }
        });
        waited.await.unwrap_or_else(|_| panic!("did not come: {what}; {:?}", self.board));
    }

    async fn until_session(&mut self, id: &str, holds: impl Fn(&v1::Session) -> bool) {
        let shown = |overview: &Self| overview.session(id).is_some_and(&holds);
        self.until("the session as it should be", shown).await;
    }

    fn session(&self, id: &str) -> Option<&v1::Session> {
        self.board.get(id)?.session.as_ref()
    }
}

#[tokio::test]
async fn an_overview_shows_what_runs_what_waits_for_people_and_what_is_unread() {
    let llm = LlmServer::start().await;
    let daemon = asking(&llm).await;
    let mut overview = Overview::open(&daemon);
    overview.until("a snapshot", |overview| overview.board.is_filled()).await;
    assert_eq!(overview.board.tally(), agentd_shared::Tally::default());
    let mut ann = daemon.driver("ann").await;
    let id = ann.session_id().to_owned();
    overview.until_session(&id, |session| session.attached_clients == 1).await;
    push_append(&llm, "A");
    ann.submit("write A").await;
    overview.until_session(&id, |session| session.open_approvals == 1).await;
    let waiting = overview.session(&id).unwrap().clone();
    assert_eq!((waiting.title.as_str(), waiting.open_questions), ("write A", 0));
    assert!(waiting.waiting_since_ms >= waiting.created_at_ms);
    assert_eq!(waiting.status(), v1::SessionStatus::Running);
    assert_eq!(overview.board.tally().waiting, 1);
    // One session, its list and the overview say the same.
    let listed = ann.client().session().list_sessions(v1::ListSessionsRequest::default()).await;
    assert_eq!(listed.unwrap().into_inner().sessions, std::slice::from_ref(&waiting));
    assert_eq!(ann.session().await.session, Some(waiting));

    let open = ann.session().await.open_approvals.remove(0);
    let answer = v1::AnswerApprovalRequest {
        session_id: id.clone(),
        approval_id: open.approval_id,
        decision: v1::ApprovalDecision::Allow.into(),
        scope: v1::ApprovalScope::Once.into(),
        reason: String::new(),
        author: Some(ann.author()),
    };
    ann.client().approval().answer_approval(answer).await.unwrap();
    ann.wait_answer().await;
    overview.until("an unread answer", |overview| overview.board.tally().unread == 1).await;
    let answered = overview.session(&id).unwrap().clone();
    assert_eq!((answered.open_approvals, answered.waiting_since_ms), (0, 0));
    let read = v1::SetReadCursorRequest {
        session_id: id.clone(),
        client_id: "ann".to_owned(),
        seq: answered.news_seq,
    };
    ann.client().event().set_read_cursor(read).await.unwrap();
    overview.until("it is read", |overview| overview.board.tally().unread == 0).await;

    let deleted = v1::DeleteSessionRequest { session_id: id.clone() };
    ann.client().session().delete_session(deleted).await.unwrap();
    overview.until("it is gone", |overview| overview.session(&id).is_none()).await;
    daemon.stop().await;
}

#[tokio::test]
async fn an_overview_ends_with_the_daemon_and_begins_anew_with_the_next() {
    let mut daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let id = ann.session_id().to_owned();
    drop(ann);
    let mut overview = Overview::open(&daemon);
    overview.until_session(&id, |session| session.attached_clients == 0).await;
    daemon.restart().await;
    overview.until("the connection is back", |overview| overview.restored == 1).await;
    assert_eq!(overview.lost, ["DAEMON_STOPPING"], "the stream says why it ends");
    let _bob = daemon.attach_at("bob", &id, AttachPosition::OnlyNew).await;
    overview.until_session(&id, |session| session.attached_clients == 1).await;
    daemon.stop().await;
}

#[tokio::test]
async fn a_snapshot_has_as_many_sessions_as_are_asked_for() {
    let daemon = Daemon::builder().start().await;
    let first = daemon.driver("ann").await;
    let second = daemon.driver("ann").await;
    let mut client = first.client().session();
    let watch = |limit| v1::WatchSessionsRequest { limit };
    let mut stream = client.watch_sessions(watch(1)).await.unwrap().into_inner();
    let message = stream.message().await.unwrap().unwrap();
    let Some(v1::watch_sessions_response::Payload::Snapshot(snapshot)) = message.payload else {
        panic!("no snapshot: {message:?}")
    };
    let [newest] = &snapshot.sessions[..] else { panic!("{snapshot:?}") };
    assert_eq!(newest.session.as_ref().unwrap().session_id, second.session_id());
    assert!(snapshot.more);
    drop(stream);
    let refused = client.watch_sessions(watch(1001)).await.unwrap_err();
    check_error(&refused, Code::InvalidArgument, "1001 is more than 1000");
    daemon.stop().await;
}
