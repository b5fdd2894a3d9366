//! Modes and approvals over the wire.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, LlmServer};
use tonic::Code;

use crate::support::{asking, push_append, results};

fn answer(request: &v1::OpenApproval, author: v1::Author) -> v1::AnswerApprovalRequest {
    v1::AnswerApprovalRequest {
        session_id: request.session_id.clone(),
        approval_id: request.request.as_ref().unwrap().approval_id.clone(),
        decision: v1::ApprovalDecision::Allow.into(),
        scope: v1::ApprovalScope::Once.into(),
        reason: String::new(),
        author: Some(author),
    }
}

#[tokio::test]
async fn a_call_waits_in_the_inbox_until_somebody_allows_it() {
    let llm = LlmServer::start().await;
    let daemon = asking(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let created = ann.session().await.session.unwrap();
    assert_eq!(created.permission_mode(), v1::PermissionMode::Ask);
    push_append(&llm, "A");
    ann.submit("write A").await;
    ann.wait_for("an approval", |body| matches!(body, Body::ApprovalRequested(_))).await;
    assert!(daemon.home().appended_lines().is_empty());
    let mut inbox = ann.client().approval();
    let listed = inbox.list_approvals(v1::ListApprovalsRequest::default()).await.unwrap();
    let [open] = &listed.into_inner().approvals[..] else { panic!("not one") };
    assert_eq!(open.session_id, ann.session_id());
    assert_eq!(open.request.as_ref(), ann.session().await.open_approvals.first());

    let nothing = v1::AnswerApprovalRequest { decision: 0, ..answer(open, ann.author()) };
    let refused = inbox.answer_approval(nothing).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let always = v1::AnswerApprovalRequest {
        scope: v1::ApprovalScope::Session.into(),
        ..answer(open, ann.author())
    };
    let refused = inbox.answer_approval(always).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition, "no rule can name what it does");
    inbox.answer_approval(answer(open, ann.author())).await.unwrap();
    let late = inbox.answer_approval(answer(open, ann.author())).await.unwrap_err();
    assert_eq!(late.code(), Code::AlreadyExists);
    assert!(late.message().contains("by ann"), "{}", late.message());
    ann.wait_turn_end().await;
    assert_eq!(daemon.home().appended_lines(), ["A"]);
    assert_eq!(results(&ann)[0].status(), v1::ToolStatus::Success);
    daemon.stop().await;
}

#[tokio::test]
async fn modes_are_set_shown_and_kept_over_a_restart() {
    let mut daemon = Daemon::builder().set("permission.mode", "auto-edit").start().await;
    let mut ann = daemon.driver("ann").await;
    let mut sessions = ann.client().session();
    let change = |permission: i32, work: v1::WorkMode| v1::UpdateSessionRequest {
        session_id: ann.session_id().to_owned(),
        permission_mode: Some(permission),
        work_mode: Some(work.into()),
        author: Some(ann.author()),
        ..Default::default()
    };
    let modes = |session: v1::Session| (session.permission_mode(), session.work_mode());
    let created = ann.session().await.session.unwrap();
    assert_eq!(modes(created), (v1::PermissionMode::AutoEdit, v1::WorkMode::Develop));
    for wrong in [0, 77] {
        let refused = sessions.update_session(change(wrong, v1::WorkMode::Docs)).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
    }
    let plan = change(v1::PermissionMode::Plan.into(), v1::WorkMode::Review);
    sessions.update_session(plan).await.unwrap();
    let changed =
        ann.wait_for("the change", |body| matches!(body, Body::PermissionModeChanged(_))).await;
    let Some(Body::PermissionModeChanged(changed)) = changed.body else { panic!() };
    assert_eq!(changed.by.unwrap().name, "ann");
    let id = ann.session_id().to_owned();
    daemon.restart().await;
    let client = daemon.client().await;
    let request = v1::GetSessionRequest { session_id: id };
    let session = client.session().get_session(request).await.unwrap().into_inner().session;
    assert_eq!(modes(session.unwrap()), (v1::PermissionMode::Plan, v1::WorkMode::Review));
    daemon.stop().await;
}
