//! Messages that arrive while a turn runs: queued, steering, interrupting, withdrawn, repeated.

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Daemon, Driver, Gate, LlmServer, PATIENCE, Reply, SlowRead};
use tokio::task::JoinSet;
use tonic::Code;

use crate::support::{check_error, check_gap_free, durable, kinds};

/// A turn that runs until the gate is released.
async fn busy(llm: &LlmServer, driver: &mut Driver) -> Gate {
    let gate = Gate::new();
    let reply = Reply::sse().text_delta("busy").wait(&gate).text_delta("!").finish("stop");
    llm.push(reply.usage(1, 1).done());
    driver.submit("be busy").await;
    driver.wait_live_text("busy").await;
    gate
}

async fn withdraw(driver: &Driver, item_id: &str) -> Result<u64, tonic::Status> {
    let request = v1::WithdrawMessageRequest {
        session_id: driver.session_id().to_owned(),
        item_id: item_id.to_owned(),
        author: Some(driver.author()),
    };
    Ok(driver.client().turn().withdraw_message(request).await?.into_inner().seq)
}

#[tokio::test]
async fn queued_messages_run_one_after_the_other_in_the_order_of_acceptance() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let mut bob = daemon.attach("bob", ann.session_id()).await;
    let gate = busy(&llm, &mut ann).await;
    let mut positions = Vec::new();
    for text in ["one", "two", "three"] {
        positions.push(bob.submit(text).await.queue_position);
    }
    assert_eq!(positions, [1, 2, 3]);
    let session = ann.session().await;
    let previews: Vec<_> = session.queue.iter().map(|queued| queued.preview.as_str()).collect();
    assert_eq!(previews, ["one", "two", "three"]);
    assert_eq!(session.session.unwrap().queued_messages, 3);
    gate.release();
    assert_eq!(ann.wait_answer().await, "busy!");
    for text in ["one", "two", "three"] {
        // The scripted server echoes.
        assert_eq!(ann.wait_answer().await, text);
    }
    for _ in 0..4 {
        bob.wait_answer().await;
    }
    assert_eq!(ann.transcript().items(), bob.transcript().items());
    assert_eq!(ann.transcript().queue().count(), 0);
    daemon.stop().await;
}

#[tokio::test]
async fn a_steering_message_reaches_the_model_at_the_next_tool_boundary() {
    let llm = LlmServer::start().await;
    let gate = Gate::new();
    let daemon = Daemon::builder().llm(&llm).tool(SlowRead::new(&gate)).start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("slow_read", "{}"));
    llm.push(Reply::text("as you wish"));
    ann.submit("read it").await;
    gate.reached().await;
    ann.submit_as("only the headings", v1::Delivery::Steer).await;
    gate.release();
    assert_eq!(ann.wait_answer().await, "as you wish");
    let request = llm.wait_for_request(2).await;
    let roles: Vec<_> = request.messages().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(request.last_user_text(), "only the headings");
    assert!(kinds(&durable(&ann)).contains(&"delivered"));
    assert_eq!(llm.requests().len(), 2, "it starts no turn of its own");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn a_steering_message_that_meets_no_tool_boundary_runs_as_a_turn() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let gate = busy(&llm, &mut ann).await;
    ann.submit_as("steer", v1::Delivery::Steer).await;
    gate.release();
    assert_eq!(ann.wait_answer().await, "busy!");
    assert_eq!(ann.wait_answer().await, "steer");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn an_interrupting_message_cuts_the_turn_and_runs_before_the_queue() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let bob = daemon.attach("bob", ann.session_id()).await;
    let _never_released = busy(&llm, &mut ann).await;
    ann.submit("queued").await;
    bob.submit_as("stop and do this", v1::Delivery::Interrupt).await;
    let Body::TurnInterrupted(interrupted) = ann.wait_turn_end().await else { panic!("no end") };
    assert_eq!(interrupted.reason(), v1::InterruptReason::NewMessage);
    assert_eq!(interrupted.by.unwrap().name, "bob");
    assert_eq!(ann.wait_answer().await, "stop and do this");
    assert_eq!(ann.wait_answer().await, "queued");
    assert_eq!(llm.violations(), Vec::<String>::new());
    daemon.stop().await;
}

#[tokio::test]
async fn a_withdrawn_message_never_runs_and_can_be_withdrawn_once() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let gate = busy(&llm, &mut ann).await;
    let one = ann.submit("one").await;
    ann.submit("two").await;
    withdraw(&ann, &one.item_id).await.unwrap();
    let again = withdraw(&ann, &one.item_id).await.unwrap_err();
    check_error(&again, Code::NotFound, "is not in the queue");
    gate.release();
    assert_eq!(ann.wait_answer().await, "busy!");
    assert_eq!(ann.wait_answer().await, "two");
    let texts: Vec<_> = llm.requests().iter().map(|request| request.last_user_text()).collect();
    assert_eq!(texts, ["be busy", "two"]);
    daemon.stop().await;
}

#[tokio::test]
async fn a_message_sent_twice_under_one_id_runs_once_also_across_a_restart() {
    let llm = LlmServer::start().await;
    let mut daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let first = ann.try_submit("my-id", "hello", v1::Delivery::Queue).await.unwrap();
    let second = ann.try_submit("my-id", "hello", v1::Delivery::Queue).await.unwrap();
    assert!(!first.duplicate && second.duplicate);
    assert_eq!((&first.item_id, first.seq), (&second.item_id, second.seq));
    ann.wait_answer().await;
    daemon.restart().await;
    let ann = daemon.attach("ann", ann.session_id()).await;
    let third = ann.try_submit("my-id", "hello", v1::Delivery::Queue).await.unwrap();
    assert!(third.duplicate);
    assert_eq!((&first.item_id, first.seq), (&third.item_id, third.seq));
    let accepted = kinds(&durable(&ann)).iter().filter(|kind| **kind == "accepted").count();
    assert_eq!(accepted, 1);
    assert_eq!(llm.requests().len(), 1);
    daemon.stop().await;
}

#[tokio::test]
async fn a_full_queue_says_when_to_come_back() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("session.queue_limit", 2).start().await;
    let mut ann = daemon.driver("ann").await;
    let gate = busy(&llm, &mut ann).await;
    ann.submit("one").await;
    ann.submit("two").await;
    let refused = ann.try_submit("three", "three", v1::Delivery::Queue).await.unwrap_err();
    check_error(&refused, Code::ResourceExhausted, "2 messages are waiting");
    gate.release();
    ann.wait_answer().await;
    ann.wait_answer().await;
    assert_eq!(ann.wait_answer().await, "two");
    daemon.stop().await;
}

#[tokio::test]
async fn sl_03_fifty_messages_of_two_clients_at_once_run_one_by_one_in_the_order_of_acceptance() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::start(&llm).await;
    let mut ann = daemon.driver("ann").await;
    let session_id = ann.session_id().to_owned();
    let (one, two) = (daemon.client().await, daemon.client().await);
    let mut submits = JoinSet::new();
    for n in 0..50 {
        let client = if n % 2 == 0 { one.clone() } else { two.clone() };
        let request = v1::SubmitMessageRequest {
            unattended: false,
            priority: 0,
            ttl_ms: 0,
            session_id: session_id.clone(),
            client_message_id: format!("m{n}"),
            text: format!("message {n}"),
            delivery: v1::Delivery::Queue.into(),
            author: Some(v1::Author { client_id: format!("c{}", n % 2), name: String::new() }),
        };
        submits.spawn(async move {
            client.turn().submit_message(request).await.map(|answer| answer.into_inner().seq)
        });
    }
    let mut seqs: Vec<u64> =
        submits.join_all().await.into_iter().collect::<Result<_, _>>().unwrap();
    seqs.sort_unstable();
    for _ in 0..50 {
        ann.wait_answer().await;
    }
    let log = ann.log().await;
    check_gap_free(&log);
    let mut accepted = Vec::new();
    let mut started = Vec::new();
    let mut open = 0;
    for event in &log {
        match event.body.as_ref().unwrap() {
            Body::MessageAccepted(message) => accepted.push((event.seq, message.item_id.clone())),
            Body::TurnStarted(turn) => {
                open += 1;
                started.extend(turn.item_ids.clone());
            }
            Body::TurnCompleted(_) => open -= 1,
            _ => {}
        }
        assert!(open <= 1, "two turns at once at {event:?}");
    }
    assert_eq!(accepted.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), seqs);
    assert_eq!(accepted.into_iter().map(|(_, id)| id).collect::<Vec<_>>(), started);
    daemon.stop().await;
}

#[tokio::test]
async fn sl_03_a_second_daemon_on_the_same_data_is_refused_and_told_the_pid() {
    let daemon = Daemon::builder().start().await;
    let refused = Daemon::builder().home(daemon.home()).try_start().await.unwrap_err();
    assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");
    assert!(!refused.hint().is_empty());
    // The first one still answers.
    let mut ann = daemon.driver("ann").await;
    tokio::time::timeout(PATIENCE, ann.ask("2+2")).await.expect("an answer");
    daemon.stop().await;
}

#[tokio::test]
async fn a_new_message_makes_the_question_of_a_suspended_turn_void() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("session.rounds_limit", 1).start().await;
    let mut ann = daemon.driver("ann").await;
    llm.push(Reply::tool_call("calculator", r#"{"expression":"1+1"}"#));
    ann.submit("count").await;
    let question = ann.wait_question().await;
    llm.push(Reply::text("new"));
    ann.submit("something new").await;
    assert!(matches!(ann.wait_turn_end().await, Body::TurnInterrupted(_)));
    assert_eq!(ann.wait_answer().await, "new");
    assert_eq!(ann.transcript().open_questions().count(), 0);
    let late = ann.answer(&question.question_id, "continue").await.unwrap_err();
    check_error(&late, Code::AlreadyExists, "answered already");
    daemon.stop().await;
}

#[tokio::test]
async fn the_first_answer_to_a_question_wins_and_the_second_is_told() {
    let llm = LlmServer::start().await;
    let daemon = Daemon::builder().llm(&llm).set("session.rounds_limit", 1).start().await;
    let mut ann = daemon.driver("ann").await;
    let mut bob = daemon.attach("bob", ann.session_id()).await;
    llm.push(Reply::tool_call("calculator", r#"{"expression":"1+1"}"#));
    llm.push(Reply::text("2"));
    ann.submit("count").await;
    let question = ann.wait_question().await;
    let wrong = ann.answer(&question.question_id, "perhaps").await.unwrap_err();
    check_error(&wrong, Code::InvalidArgument, "continue, stop");
    ann.answer(&question.question_id, "continue").await.unwrap();
    let second = bob.answer(&question.question_id, "stop").await.unwrap_err();
    check_error(&second, Code::AlreadyExists, "answered already");
    let answered =
        bob.wait_for("the answer", |body| matches!(body, Body::QuestionAnswered(_))).await;
    let Some(Body::QuestionAnswered(answered)) = answered.body else { unreachable!() };
    assert_eq!((answered.choice.as_str(), answered.by.unwrap().name.as_str()), ("continue", "ann"));
    assert_eq!(ann.wait_answer().await, "2");
    daemon.stop().await;
}
