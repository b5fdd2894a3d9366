//! Every promise on every backend that this machine has, by the same attempts that
//! `agentctl sandbox test` makes.

use agentd_sandbox::{Attempts, Promise, Verdict, attempt, prove};

use crate::boxes::{Boxed, CONFINING, PATIENCE, boxed, confining, open_air, policy};

async fn proof(boxed: &Boxed, promise: Promise) -> Verdict {
    let policy = policy(vec![boxed.secrets.path().to_owned()]);
    tokio::time::timeout(4 * PATIENCE, prove(&*boxed.sandbox, &policy, promise))
        .await
        .expect("it ends")
}

#[tokio::test]
async fn sb_04_what_a_backend_promises_holds() {
    for boxed in confining("promises").await {
        let backend = boxed.sandbox.backend();
        for promise in Promise::ALL {
            let verdict = proof(&boxed, promise).await;
            println!("{backend}: {}: {verdict:?}", promise.name());
            match promise.unpromised(backend, &boxed.sandbox.accounting()) {
                None => {
                    assert!(matches!(verdict, Verdict::Held { .. }), "{promise:?}: {verdict:?}");
                }
                Some(why) => {
                    let Verdict::NotGiven { reason, remedy } = verdict else {
                        panic!("{promise:?} is not promised: {verdict:?}")
                    };
                    assert_eq!((reason, remedy.as_str()), (why.reason, why.remedy));
                }
            }
        }
    }
}

#[tokio::test]
async fn without_a_box_only_limits_are_promised_and_they_hold() {
    let open = open_air().await;
    let mut given = Vec::new();
    for promise in Promise::ALL {
        match proof(&open, promise).await {
            Verdict::Held { .. } => given.push(promise.name()),
            Verdict::NotGiven { .. } => {}
            wrong => panic!("{promise:?}: {wrong:?}"),
        }
    }
    // Those of a control group are where there is one.
    given.retain(|name| !["total-memory", "cpu-share"].contains(name));
    let limits = [
        "environment",
        "process-count",
        "memory",
        "cpu-time",
        "file-size",
        "wall-time",
        "leftovers",
    ];
    assert_eq!(given, limits);
}

/// What a machine may refuse to anybody: tracing (Yama), other names for files of others, and what
/// only root could read.
const OFTEN_REFUSED: &[&str] =
    &["its memory", "tracing it", "passwords of the system", "keys of the user"];

#[tokio::test]
async fn every_attempt_succeeds_without_a_box() {
    let open = open_air().await;
    let policy = policy(vec![open.secrets.path().to_owned()]);
    std::fs::write(open.secrets.path().join("key"), "x").expect("a file");
    for promise in Promise::ALL {
        let Some(attempts) = attempt(&*open.sandbox, &policy, promise).await else { continue };
        let Attempts { got_out, held, is_whole } = attempts.expect("they are made");
        let is_wrong = |name: &&String| !OFTEN_REFUSED.contains(&name.as_str());
        let wrong: Vec<&String> = held.iter().filter(is_wrong).collect();
        assert!(is_whole && wrong.is_empty(), "{promise:?}: attempts are wrong: {wrong:?}");
        assert!(!got_out.is_empty(), "{promise:?}");
    }
}

/// The line that tells on what all of this was run; the build server shows it.
#[tokio::test]
async fn it_is_told_which_backends_were_run_and_which_not_and_why() {
    let mut run_on = Vec::new();
    for backend in CONFINING {
        match boxed(backend).await {
            Ok(boxed) => {
                println!("escape suite: run on {backend}, {}", boxed.sandbox.accounting());
                run_on.push(backend);
            }
            Err(reason) => println!("escape suite: NOT run on {backend}: {reason}"),
        }
    }
    assert!(!run_on.is_empty(), "nothing has been tried to get out of");
}
