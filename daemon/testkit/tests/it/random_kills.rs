//! A daemon that is killed at random again and again loses nothing that it acknowledged.

use std::collections::BTreeMap;
use std::ops::Range;

use agentd_proto::v1;
use agentd_proto::v1::event::Body;
use agentd_testkit::{Driver, Home, LlmServer};

use crate::support::{agentd, append_then_answer, check_lines, check_log, wait_idle};

/// More rounds than by default.
const ROUNDS: &str = "AGENTD_KILL_ROUNDS";
const SESSIONS: usize = 2;
/// Rounds after which new sessions and a new model take over, so that a long run does not slow down
/// with the length of its logs.
const ROUNDS_PER_SESSION: usize = 10;
/// Most messages that one sender has accepted in a round: more than the kill lets be answered.
const MESSAGES: usize = 20;

/// Sends messages to one session until the daemon is gone; returns what was acknowledged.
async fn send_until_killed(driver: Driver, round: usize) -> BTreeMap<String, (String, u64)> {
    let mut acknowledged = BTreeMap::new();
    for n in 0..MESSAGES {
        let id = format!("r{round}-{n}");
        let line = format!("{id} of {}", driver.session_id());
        let Ok(answer) = driver.try_submit(&id, &line, v1::Delivery::Queue).await else {
            break;
        };
        acknowledged.insert(id, (answer.item_id, answer.seq));
    }
    acknowledged
}

#[derive(Default)]
struct Session {
    id: String,
    acknowledged: BTreeMap<String, (String, u64)>,
}

async fn check(home: &Home, llm: &LlmServer, sessions: &[Session], what: &str) {
    let daemon = agentd().home(home).llm(llm).start().await;
    for session in sessions {
        let mut driver = daemon.attach("checker", &session.id).await;
        wait_idle(&mut driver).await;
        let log = driver.log().await;
        check_log(&log, what);
        let accepted: BTreeMap<_, _> = log
            .iter()
            .filter_map(|event| match &event.body {
                Some(Body::MessageAccepted(message)) => {
                    Some((message.client_message_id.clone(), (message.item_id.clone(), event.seq)))
                }
                _ => None,
            })
            .collect();
        for (id, answer) in &session.acknowledged {
            assert_eq!(accepted.get(id), Some(answer), "{what}: the acknowledged {id} is lost");
        }
    }
    check_lines(home, what);
    daemon.terminate().await;
}

#[tokio::test]
async fn a_daemon_killed_at_random_loses_nothing_that_it_acknowledged_and_repeats_no_effect() {
    let rounds: usize = std::env::var(ROUNDS).map_or(12, |rounds| rounds.parse().unwrap());
    let mut home = Home::new();
    home.set("session.auto_resume", "always");
    home.set("session.queue_limit", 10_000);
    let mut acknowledged = 0;
    for first in (0..rounds).step_by(ROUNDS_PER_SESSION) {
        let these = first..rounds.min(first + ROUNDS_PER_SESSION);
        acknowledged += kill_and_check(&home, these).await;
    }
    assert!(acknowledged > rounds, "only {acknowledged} messages were ever acknowledged");
}

/// Kills the daemon once a round, each time at work on the same sessions; returns how many messages
/// were acknowledged.
async fn kill_and_check(home: &Home, rounds: Range<usize>) -> usize {
    let llm = LlmServer::start().await;
    llm.set_default(append_then_answer);
    let mut sessions: Vec<Session> = Vec::new();
    for round in rounds {
        let daemon = agentd().home(home).llm(&llm).start().await;
        let mut senders = tokio::task::JoinSet::new();
        for n in 0..SESSIONS {
            let driver = if let Some(session) = sessions.get(n) {
                daemon.attach("ann", &session.id).await
            } else {
                let driver = daemon.driver("ann").await;
                let id = driver.session_id().to_owned();
                sessions.push(Session { id, ..Default::default() });
                driver
            };
            senders.spawn(async move { (n, send_until_killed(driver, round).await) });
        }
        // The kill comes after a random number of requests to the model, at a random moment of the
        // work that follows.
        let requests = llm.requests().len() + fastrand::usize(1..12);
        llm.wait_for_request(requests).await;
        for _ in 0..fastrand::usize(0..200) {
            tokio::task::yield_now().await;
        }
        daemon.kill().await;
        while let Some(sent) = senders.join_next().await {
            let (n, acknowledged) = sent.expect("the sender ran to its end");
            sessions[n].acknowledged.extend(acknowledged);
        }
        check(home, &llm, &sessions, &format!("round {round}")).await;
    }
    assert_eq!(llm.violations(), Vec::<String>::new());
    sessions.iter().map(|session| session.acknowledged.len()).sum()
}
