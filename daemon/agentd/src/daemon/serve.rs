//! From the first client to the last: serving, and stopping in order or handing over.

use std::sync::Arc;
use std::time::Duration;

use agentd_engine::Engine;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::sandbox::try_sandbox;
use super::{Daemon, LONG_START, Served};
use crate::config::Config;
use crate::control::{Control, Topic};
use crate::grpc::{Services, serve_local, serve_remote};
use crate::metrics::{Gauges, Metrics, MetricsServer};
use crate::remote::keep_house;
use crate::supervisor::{Attended, HandedOver, attend, status_line};
use crate::traces::FLUSH_LIMIT;
use crate::upgrade::Handover;
use crate::upkeep::{AtRest, Reminders};

/// How long connections have to end once everything else has.
const CONNECTION_GRACE: Duration = Duration::from_secs(1);

impl Daemon {
    /// Serves until the control says stop, then stops. False: a server broke off, or the stop took
    /// longer than allowed and was cut off; everything acknowledged is durable all the same.
    pub async fn serve(self) -> bool {
        // Inside another program nobody can take over, so that this is a stop like any other.
        !matches!(self.serve_to_the_end().await, Served::CutOff | Served::BrokeOff)
    }

    /// The same, and tells when another program is to take over.
    pub async fn serve_to_the_end(self) -> Served {
        let Self {
            engine,
            control,
            context,
            store,
            door,
            listeners,
            place,
            peers,
            socket,
            config,
            locks,
            notifier,
            watchdog,
            was_handed_over,
            starting,
            backups,
            upkeep,
            embedding,
            metrics,
            traces,
        } = self;
        let exporting = traces.start();
        let accepting = CancellationToken::new();
        let mut server = JoinSet::new();
        // Before anybody else uses the engine: what looks unfinished then, is. Who connects waits in
        // the backlog.
        let opened = if was_handed_over {
            engine.resume_after_handover().await
        } else {
            engine.resume_unfinished().await
        };
        match opened {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "sessions with unfinished work opened"),
            Err(error) => {
                control.warn(
                    Topic::Sessions,
                    format!("unfinished sessions could not be looked for: {error}"),
                );
            }
        }
        let remote = Arc::clone(&context.remote);
        let programs = context.programs.clone();
        let services = Services::new(context).await;
        let keepalive = Duration::from_millis(config.borrow().daemon.keepalive_ms);
        server.spawn(serve_local(services.clone(), door, peers, keepalive, accepting.clone()));
        if remote.is_wanted {
            let keepalive = Duration::from_millis(config.borrow().remote.keepalive_ms);
            tracing::info!(addresses = ?remote.addresses(), tls = remote.tls.is_some(), "remote clients are served");
            server.spawn(serve_remote(services, listeners, keepalive, accepting.clone()));
        }
        let mut house = JoinSet::new();
        house.spawn(keep_house(Arc::clone(&remote), config.clone(), accepting.clone()));
        // Dropped at the end, and with them what they do.
        let mut background = JoinSet::new();
        background.spawn(attend(Attended {
            notifier: notifier.clone(),
            watchdog,
            store: Arc::clone(&store),
            engine: engine.clone(),
        }));
        drop(starting);
        if let Some(programs) = programs {
            background.spawn(try_sandbox(programs));
        }
        let backups = background.spawn(backups.run());
        let reminders = Reminders { memories: upkeep.memories.clone(), engine: engine.clone() };
        let reminders = background.spawn(reminders.run());
        let at_rest = AtRest { engine: engine.clone(), config: upkeep.config.clone() };
        let at_rest = background.spawn(at_rest.run());
        let upkeep = background.spawn(upkeep.run());
        let embedding = background.spawn(embedding.run());
        if let Some(metrics) = metrics_server(&config, &engine, &control, metrics).await {
            background.spawn(metrics.serve());
        }
        notifier.ready(&status_line(engine.stats()));
        tracing::info!(socket = %socket.display(), pid = std::process::id(), "ready");
        let broke_off = !until_told(control.stop_token(), &mut server).await;
        let limit = Duration::from_millis(config.borrow().daemon.shutdown_timeout_ms);
        let successor = control.successor();
        if let Some(successor) = &successor {
            tracing::info!(program = %successor.program.display(), version = successor.version, "handing over");
            notifier.reloading("handing over to a new binary");
            notifier.extend(limit + LONG_START);
        } else {
            tracing::info!("stopping");
            notifier.stopping(limit + CONNECTION_GRACE);
            place.close();
        }
        backups.abort();
        upkeep.abort();
        embedding.abort();
        reminders.abort();
        at_rest.abort();
        let stops_at = Instant::now() + limit;
        let orderly = tokio::time::timeout_at(stops_at, async {
            accepting.cancel();
            engine.stop().await;
            // A client that never finishes its handshake must not hold up the rest.
            let ended = tokio::time::timeout(CONNECTION_GRACE, async {
                while server.join_next().await.is_some() {}
            });
            if ended.await.is_err() {
                tracing::info!("connections that did not end are dropped");
                server.shutdown().await;
            }
            while house.join_next().await.is_some() {}
            if let Err(error) = store.close().await {
                tracing::error!(%error, "the store could not be closed");
            }
        })
        .await
        .is_ok();
        if !orderly {
            tracing::error!(limit_ms = limit.as_millis(), "the stop took too long and was cut off");
        }
        // Now that all turns have ended. It is no part of what must be done for a stop in order.
        let left = stops_at.saturating_duration_since(Instant::now());
        exporting.flush(left.min(FLUSH_LIMIT)).await;
        // Read anew: a stop that came meanwhile outweighs the handover.
        let handover = control.successor().zip(control.relaunch().cloned());
        if let Some((successor, relaunch)) = handover
            && let Some(listener) = place.hand_over()
        {
            let open = HandedOver::new(listener, locks.data, locks.socket);
            return Served::HandOver(Box::new(Handover { successor, relaunch, open, notifier }));
        }
        place.remove_file();
        drop(locks);
        if !orderly {
            return Served::CutOff;
        }
        tracing::info!("stopped");
        if broke_off { Served::BrokeOff } else { Served::InOrder }
    }
}

/// Waits to be told to stop. False: a server ended by itself, and without it nobody can reach the
/// daemon; stopping frees the lock for another, which the supervisor starts.
async fn until_told(stop: &CancellationToken, servers: &mut JoinSet<()>) -> bool {
    tokio::select! {
        biased;
        () = stop.cancelled() => true,
        ended = servers.join_next() => {
            let error = ended.and_then(Result::err).map(|error| error.to_string());
            tracing::error!(error, "a server ended by itself");
            false
        }
    }
}

/// Listens for who wants the figures. That they cannot be had is no reason not to run.
async fn metrics_server(
    config: &watch::Receiver<Config>,
    engine: &Engine,
    control: &Control,
    metrics: Arc<Metrics>,
) -> Option<MetricsServer> {
    let address = config.borrow().metrics.address()?;
    let started_at_ms = control.facts().started_at_ms;
    let gauges = Gauges { engine: engine.clone(), metrics, started_at_ms };
    match MetricsServer::bind(address, gauges).await {
        Ok(server) => {
            let address = server.address().unwrap_or(address);
            tracing::info!(%address, "figures at /metrics");
            Some(server)
        }
        Err(error) => {
            let why = std::error::Error::source(&error).map(|why| format!(": {why}"));
            control.warn(
                Topic::Metrics,
                format!("there are no figures: {error}{}", why.unwrap_or_default()),
            );
            None
        }
    }
}

#[cfg(test)]
mod tests;
