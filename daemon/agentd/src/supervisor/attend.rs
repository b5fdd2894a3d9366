//! Signs of life for systemd, and the line that `systemctl status` shows.
//!
//! A sign of life is sent only after the store's writer and the engine's runtime have answered: a
//! timer of its own would go on pinging for a daemon that does nothing any more.

use std::sync::Arc;
use std::time::Duration;

use agentd_engine::{Engine, EngineStats};
use agentd_store::{Batch, Store};
use tokio::sync::oneshot;

use super::Notifier;

/// How often the status line is looked at where no watchdog waits.
const STATUS_INTERVAL: Duration = Duration::from_secs(10);
/// Looks for each interval in which a sign of life must come: one may fail without consequence.
const LOOKS_PER_INTERVAL: u32 = 3;

/// What is attended to.
#[derive(Debug)]
pub(crate) struct Attended {
    /// Who is told.
    pub(crate) notifier: Notifier,
    /// How often a sign of life is wanted.
    pub(crate) watchdog: Option<Duration>,
    /// Must answer.
    pub(crate) store: Arc<dyn Store>,
    /// Must answer.
    pub(crate) engine: Engine,
}

/// Runs until it is dropped.
pub(crate) async fn attend(attended: Attended) {
    let Attended { notifier, watchdog, store, engine } = attended;
    if notifier.is_heard() {
        tell(&notifier, watchdog, || probe(&*store, &engine)).await;
    }
}

/// Longest time for which a start is believed to go on without an answer of anybody.
const LONGEST_START: Duration = Duration::from_secs(300);

/// Gives signs of life for a start in the place of an earlier run, from which systemd goes on waiting
/// for them, until this is dropped; a start that hangs is given up after a while.
pub(crate) async fn outlast_start(notifier: Notifier, watchdog: Option<Duration>) {
    let Some(interval) = watchdog else { return };
    let pause = interval / LOOKS_PER_INTERVAL;
    let _over = tokio::time::timeout(LONGEST_START, async {
        loop {
            notifier.alive();
            tokio::time::sleep(pause).await;
        }
    })
    .await;
}

/// Tells what each probe finds, and nothing while one does not answer.
async fn tell<F>(notifier: &Notifier, watchdog: Option<Duration>, probe: impl Fn() -> F)
where
    F: Future<Output = EngineStats>,
{
    let pause = watchdog.map_or(STATUS_INTERVAL, |interval| interval / LOOKS_PER_INTERVAL);
    let mut told = String::new();
    loop {
        match tokio::time::timeout(pause, probe()).await {
            Ok(stats) => {
                if watchdog.is_some() {
                    notifier.alive();
                }
                let line = status_line(stats);
                if line != told {
                    notifier.status(&line);
                    told = line;
                }
            }
            Err(_no_answer) => {
                tracing::warn!(
                    within_ms = pause.as_millis(),
                    "store or engine do not answer: no sign of life is sent"
                );
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// What `systemctl status` shows of a daemon that serves.
pub(crate) fn status_line(stats: EngineStats) -> String {
    let EngineStats { live_sessions, running_turns, attached_clients, .. } = stats;
    format!("{live_sessions} sessions live, {running_turns} turns, {attached_clients} terminals")
}

/// Returns when both have answered. An empty commit goes through the writer's queue and thread and
/// touches no file; that it is refused, on a full disk for instance, is an answer too.
async fn probe(store: &dyn Store, engine: &Engine) -> EngineStats {
    let _answered = store.commit(Batch::default()).await;
    let (reply, answer) = oneshot::channel();
    let asked = engine.clone();
    engine.tasks().spawn("probe", async move {
        let _nobody_waits = reply.send(asked.stats());
    });
    // A task that was dropped has met the end of the runtime.
    answer.await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(30);

    /// All messages so far.
    fn heard(socket: &UnixDatagram) -> Vec<String> {
        let mut all = Vec::new();
        let mut buffer = [0; 1024];
        while let Ok(length) = socket.recv(&mut buffer) {
            all.push(String::from_utf8(buffer[..length].to_vec()).unwrap());
        }
        all
    }

    fn notifier() -> (tempfile::TempDir, UnixDatagram, Notifier) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        let notifier = Notifier::to(path.as_os_str()).unwrap();
        (dir, socket, notifier)
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_in_an_earlier_runs_place_gives_signs_of_life_and_not_for_ever() {
        let (_dir, socket, notifier) = notifier();
        outlast_start(notifier.clone(), None).await;
        assert_eq!(heard(&socket), [""; 0], "nobody waits for any");
        let begin = tokio::time::Instant::now();
        let start = outlast_start(notifier, Some(INTERVAL));
        tokio::pin!(start);
        for _ in 0..9 {
            let _goes_on = tokio::time::timeout(INTERVAL, &mut start).await;
            let messages = heard(&socket);
            assert!(!messages.is_empty() && messages.iter().all(|m| m == "WATCHDOG=1"));
        }
        start.await;
        assert_eq!(begin.elapsed(), LONGEST_START);
    }

    #[tokio::test(start_paused = true)]
    async fn a_daemon_that_answers_gives_signs_of_life_and_one_that_hangs_gives_none() {
        let (_dir, socket, notifier) = notifier();
        let hangs = Cell::new(false);
        let probe = || async {
            if hangs.get() {
                std::future::pending::<()>().await;
            }
            EngineStats::default()
        };
        let mut telling = std::pin::pin!(tell(&notifier, Some(INTERVAL), probe));
        let one_interval = tokio::time::timeout(INTERVAL, &mut telling).await;
        assert!(one_interval.is_err(), "it goes on");
        let signs = heard(&socket).iter().filter(|message| *message == "WATCHDOG=1").count();
        assert!(signs >= 3, "{signs} in an interval");
        hangs.set(true);
        let _goes_on = tokio::time::timeout(INTERVAL * 10, &mut telling).await;
        assert_eq!(heard(&socket), Vec::<String>::new());
        hangs.set(false);
        let _goes_on = tokio::time::timeout(INTERVAL, &mut telling).await;
        assert!(heard(&socket).contains(&"WATCHDOG=1".to_owned()), "it has recovered");
    }

    #[tokio::test(start_paused = true)]
    async fn the_status_line_is_told_when_it_changes_and_no_sign_of_life_that_nobody_wants() {
        let (_dir, socket, notifier) = notifier();
        let live = Cell::new(1);
        let probe = || async { EngineStats { live_sessions: live.get(), ..Default::default() } };
        let mut telling = std::pin::pin!(tell(&notifier, None, probe));
        let _goes_on = tokio::time::timeout(STATUS_INTERVAL * 3, &mut telling).await;
        live.set(2);
        let _goes_on = tokio::time::timeout(STATUS_INTERVAL * 3, &mut telling).await;
        assert_eq!(
            heard(&socket),
            [
                "STATUS=1 sessions live, 0 turns, 0 terminals",
                "STATUS=2 sessions live, 0 turns, 0 terminals"
            ]
        );
    }
}
