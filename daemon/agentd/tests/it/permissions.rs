//! Rules over the wire.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_proto::v1::permission_rule::Scope;
use agentd_proto::v1::rule_matcher::Matcher;
use agentd_testkit::{Daemon, LlmServer, Reply};
use serde_json::json;
use tonic::Code;

use crate::support::{asking, push_append, results};

fn add(effect: v1::RuleEffect, matcher: Matcher, author: v1::Author) -> v1::AddRuleRequest {
    v1::AddRuleRequest {
        effect: effect.into(),
        matcher: Some(v1::RuleMatcher { matcher: Some(matcher) }),
        workspace: String::new(),
        author: Some(author),
    }
}

#[tokio::test]
async fn rules_are_made_listed_held_to_and_taken_back() {
    let llm = LlmServer::start().await;
    let daemon = asking(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let mut rules = ann.client().permission();
    let tool = || Matcher::Tool("append_line".to_owned());
    let mut request = add(v1::RuleEffect::Allow, tool(), ann.author());
    request.workspace = ann.session().await.session.unwrap().workspace;
    let rule = rules.add_rule(request.clone()).await.unwrap().into_inner().rule.unwrap();
    assert!(matches!(&rule.scope, Some(Scope::Workspace(_))), "{rule:?}");
    assert_eq!(rule.by.as_ref().map(|by| by.name.as_str()), Some("ann"));
    let again = rules.add_rule(request).await.unwrap().into_inner().rule.unwrap();
    assert_eq!(again, rule);

    push_append(&llm, "A");
    ann.submit("write A").await;
    ann.wait_turn_end().await;
    assert_eq!(daemon.home().appended_lines(), ["A"]);
    assert_eq!(results(&ann)[0].status(), v1::ToolStatus::Success);

    // What denies is stronger.
    let deny = add(v1::RuleEffect::Deny, tool(), ann.author());
    let deny = rules.add_rule(deny).await.unwrap().into_inner().rule.unwrap();
    let of_session =
        v1::ListRulesRequest { session_id: ann.session_id().to_owned(), workspace: String::new() };
    let listed = rules.list_rules(of_session).await.unwrap().into_inner().rules;
    assert_eq!(listed, [rule.clone(), deny.clone()]);
    let elsewhere = v1::ListRulesRequest { session_id: String::new(), workspace: "/".to_owned() };
    let listed = rules.list_rules(elsewhere).await.unwrap().into_inner().rules;
    assert_eq!(listed, std::slice::from_ref(&deny), "the other one is another workspace's");
    push_append(&llm, "B");
    ann.submit("write B").await;
    ann.wait_turn_end().await;
    assert_eq!(daemon.home().appended_lines(), ["A"]);

    let delete = v1::DeleteRuleRequest {
        rule_id: deny.rule_id,
        session_id: String::new(),
        author: Some(ann.author()),
    };
    rules.delete_rule(delete.clone()).await.unwrap();
    let gone = rules.delete_rule(delete).await.unwrap_err();
    assert_eq!(gone.code(), Code::NotFound);
    let listed = rules.list_rules(v1::ListRulesRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().rules, [rule]);
    daemon.stop().await;
}

#[tokio::test]
async fn what_runs_later_is_asked_for_where_edits_are_not() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("permission.mode", "auto-edit").start().await;
    let mut ann = daemon.driver("ann").await;
    let write = |path: &str| {
        let arguments = json!({"path": path, "content": "x\n"}).to_string();
        llm.push(Reply::tool_call("write_file", &arguments));
        llm.push(Reply::text("done"));
    };
    write("src.txt");
    ann.ask("an edit").await;
    write(".github/workflows/ci.yml");
    ann.submit("a workflow").await;
    let asked =
        ann.wait_for("an approval", |body| matches!(body, Body::ApprovalRequested(_))).await;
    let Some(Body::ApprovalRequested(asked)) = asked.body else { panic!() };
    assert_eq!(asked.because, "it changes what runs later, outside of the sandbox");
    let summary = &asked.action.as_ref().unwrap().summary;
    assert_eq!(summary, "write .github/workflows/ci.yml (it runs later, outside of the sandbox)");
    let file = daemon.workspace().join(".github/workflows/ci.yml");
    assert!(!file.exists() && daemon.workspace().join("src.txt").exists());
    let request = v1::AnswerApprovalRequest {
        session_id: ann.session_id().to_owned(),
        approval_id: asked.approval_id,
        decision: v1::ApprovalDecision::Deny.into(),
        scope: v1::ApprovalScope::Once.into(),
        reason: String::new(),
        author: Some(ann.author()),
    };
    ann.client().approval().answer_approval(request).await.unwrap();
    ann.wait_turn_end().await;
    assert!(!file.exists());

    // Who lets everything happen is not asked, and sees it all the same.
    let mode = v1::UpdateSessionRequest {
        session_id: ann.session_id().to_owned(),
        permission_mode: Some(v1::PermissionMode::Full.into()),
        author: Some(ann.author()),
        ..Default::default()
    };
    ann.client().session().update_session(mode).await.unwrap();
    write(".github/workflows/ci.yml");
    ann.ask("again").await;
    assert!(file.exists());
    let marked = ann.bodies().any(|body| {
        let Body::ToolCallStarted(started) = body else { return false };
        started.action.as_ref().is_some_and(|action| action.summary.contains("it runs later"))
    });
    assert!(marked);
    daemon.stop().await;
}

#[tokio::test]
async fn a_rule_that_cannot_be_read_is_refused_by_its_field() {
    let daemon = Daemon::builder().start().await;
    let ann = daemon.driver("ann").await;
    let mut rules = ann.client().permission();
    let host = Matcher::Host("https://example.org".to_owned());
    let good = add(v1::RuleEffect::Deny, Matcher::Tool("x".to_owned()), ann.author());
    for (request, field) in [
        (add(v1::RuleEffect::Allow, host, ann.author()), "matcher"),
        (v1::AddRuleRequest { effect: 0, ..good.clone() }, "effect"),
        (v1::AddRuleRequest { matcher: None, ..good.clone() }, "matcher"),
        (v1::AddRuleRequest { author: None, ..good.clone() }, "author"),
        (v1::AddRuleRequest { workspace: "/no/such/place".to_owned(), ..good }, "workspace"),
    ] {
        let refused = rules.add_rule(request).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(format!("{refused:?}").contains(field), "{field}: {refused:?}");
    }
    assert_eq!(
        rules.list_rules(v1::ListRulesRequest::default()).await.unwrap().into_inner().rules,
        []
    );
    daemon.stop().await;
}
