//! What has to be done now and then: closing connections of expired tokens, noting last uses, and
//! reading certificates again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Remote;
use crate::config::Config;

/// How often expired tokens are looked for: a stream outlives its token by at most this.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often the last uses of tokens are written.
const WRITE_EVERY: Duration = Duration::from_secs(20);

/// Runs until `stop`, then writes what is not written yet.
pub(crate) async fn keep_house(
    remote: Arc<Remote>,
    mut config: watch::Receiver<Config>,
    stop: CancellationToken,
) {
    let [mut looks, mut writes] = [LOOK_EVERY, WRITE_EVERY].map(|every| {
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks
    });
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = looks.tick() => remote.connections.close_where(|token| remote.tokens.is_good(token)),
            _ = writes.tick() => flush(&remote).await,
            Ok(()) = config.changed() => {
                let new = config.borrow_and_update().remote.clone();
                let Some(tls) = remote.tls.clone().filter(|_| new.has_tls()) else { continue };
                let reading = tokio::task::spawn_blocking(move || tls.reload(&new)).await;
                if let Err(error) = reading {
                    tracing::error!(%error, "reading the certificate broke off");
                }
            }
        }
    }
    flush(&remote).await;
}

async fn flush(remote: &Arc<Remote>) {
    let tokens = Arc::clone(&remote.tokens);
    match tokio::task::spawn_blocking(move || tokens.flush()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the last uses of tokens cannot be stored"),
        Err(error) => tracing::error!(%error, "storing the last uses of tokens broke off"),
    }
}

#[cfg(test)]
mod tests {
    use agentd_engine::RandomIds;
    use agentd_testkit::FakeClock;

    use super::*;
    use crate::access::{Scope, Tokens};
    use crate::config::RemoteConfig;
    use crate::environment::Environment;

    #[tokio::test(start_paused = true)]
    async fn connections_of_an_expired_token_are_closed_and_its_last_use_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tokens.json");
        let clock = Arc::new(FakeClock::at(1_700_000_000_000));
        let tokens = Tokens::load(&file, Arc::clone(&clock) as _, Arc::new(RandomIds)).unwrap();
        let (short, text) =
            tokens.create("short", Scope::Chat, Some(Duration::from_secs(60))).unwrap();
        let (long, _) = tokens.create("long", Scope::Chat, None).unwrap();
        let (remote, _) =
            Remote::open(&RemoteConfig::default(), Arc::new(tokens), &Environment::new()).unwrap();
        let (_config, changes) = watch::channel(Config::default());
        let stop = CancellationToken::new();
        let mut house = tokio::task::JoinSet::new();
        house.spawn(keep_house(Arc::clone(&remote), changes, stop.clone()));

        let admit = |token: &str| {
            let admission = remote.connections.admit("[::1]:1".parse().unwrap()).unwrap();
            drop(admission.peer().begin_call(token));
            admission
        };
        let (expiring, staying) = (admit(&short.id), admit(&long.id));
        remote.tokens.check(&text.reveal()).unwrap();
        clock.advance(60_000);
        // The clock is paused: time goes on when nothing else can be done.
        let closed = tokio::time::timeout(LOOK_EVERY * 2, expiring.peer().end.cancelled()).await;
        assert!(closed.is_ok(), "its time is over");
        assert!(!staying.peer().end.is_cancelled());
        stop.cancel();
        house.join_next().await.unwrap().unwrap();
        let again = Tokens::load(&file, clock, Arc::new(RandomIds)).unwrap();
        assert_eq!(again.list()[1].last_used_at_ms, 1_699_999_980_000);
    }
}
