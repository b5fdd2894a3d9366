//! The daemon helper itself: what it must notice, and that it is deterministic where it says so.

use agentd_domain::{Clock as _, IdSource, TimestampMs};
use agentd_testkit::{Daemon, FakeClock, SeqIds};
use tokio::task::JoinSet;

/// Whether a test that does `work` and then stops its daemon fails.
async fn fails(work: impl FnOnce(&Daemon) + Send + 'static) -> bool {
    let mut test = JoinSet::new();
    test.spawn(async move {
        let daemon = Daemon::builder().start().await;
        work(&daemon);
        daemon.stop().await;
    });
    test.join_next().await.expect("the task").is_err()
}

#[tokio::test]
async fn a_test_fails_on_an_error_in_the_log_that_it_did_not_announce() {
    assert!(!fails(|_| tracing::warn!("a warning is no error")).await);
    assert!(
        !fails(|daemon| {
            daemon.announce_error("wanted");
            tracing::error!(what = "x", "this is wanted");
        })
        .await
    );
    assert!(fails(|_| tracing::error!("nobody expected this")).await);
}

#[test]
fn a_fake_clock_stands_until_it_is_set_and_ids_count() {
    let clock = FakeClock::at(1_000);
    assert_eq!((clock.now(), clock.now()), (TimestampMs(1_000), TimestampMs(1_000)));
    clock.advance(5);
    assert_eq!(clock.now(), TimestampMs(1_005));
    clock.set(10);
    assert_eq!(clock.now(), TimestampMs(10));
    let (one, two) = (SeqIds::default(), SeqIds::default());
    let three = |ids: &dyn IdSource| [0, 1, 2].map(|ms| ids.session_id(TimestampMs(ms)));
    assert_eq!(three(&one), three(&two));
    let [first, second, third] = three(&one);
    assert!(first != second && second != third);
}
