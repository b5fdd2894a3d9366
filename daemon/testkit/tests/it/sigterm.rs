//! SIGTERM at awkward moments.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{LlmServer, Reply};

use crate::support::{agentd, check_log};

#[tokio::test]
async fn dl_02_sigterm_while_a_tool_with_effects_runs_ends_in_order_and_does_not_repeat_it() {
    for policy in ["ask", "always", "never"] {
        let llm = LlmServer::start().await;
        let daemon = agentd().llm(&llm).set("session.auto_resume", policy).start().await;
        let mut ann = daemon.driver("ann").await;
        let session_id = ann.session_id().to_owned();
        llm.push(Reply::tool_call("append_line", r#"{"line":"A","then_wait":true}"#));
        ann.submit("write").await;
        ann.wait_for("the tool's start", |body| matches!(body, Body::ToolCallStarted(_))).await;
        // The line tells that it is running.
        let home = daemon.home().clone();
        while home.appended_lines().is_empty() {
            tokio::task::yield_now().await;
        }
        daemon.terminate().await;
        drop(ann);

        llm.push(Reply::text("I see"));
        let daemon = agentd().home(&home).llm(&llm).start().await;
        let mut ann = daemon.attach("ann", &session_id).await;
        match policy {
            "ask" => {
                let question = ann.wait_question().await;
                assert_eq!(question.kind(), v1::QuestionKind::ResumeTurn);
                ann.answer(&question.question_id, "continue").await.unwrap();
                assert_eq!(ann.wait_answer().await, "I see");
            }
            "always" => assert_eq!(ann.wait_answer().await, "I see"),
            _ => {
                let end = ann.wait_turn_end().await;
                let Body::TurnInterrupted(interrupted) = end else { panic!("{end:?}") };
                assert_eq!(interrupted.reason(), v1::InterruptReason::NotResumed);
                assert_eq!(ann.ask("and now?").await, "I see");
            }
        }
        assert_eq!(home.appended_lines(), ["A"], "{policy}");
        check_log(&ann.log().await, policy);
        assert_eq!(llm.violations(), Vec::<String>::new(), "{policy}");
        daemon.terminate().await;
    }
}
