//! A connection for a stream that is made anew, with growing pauses, whenever it breaks.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use crate::attachment::Recovery;
use crate::connect::{ConnectError, DaemonChannel, Endpoint, connect};
use crate::start::ensure_running;
use crate::status_error::RpcError;

/// Longest wait for the daemon to open a stream and send its first message.
pub(crate) const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after the first failure; it doubles, with jitter.
const MIN_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause: people wait for it.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// Longest pause that the daemon may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// See the page.
pub(crate) struct Lasting {
    endpoint: Endpoint,
    recovery: Recovery,
    /// Pauses between attempts while the connection is lost.
    outage: Option<ExponentialBackoff>,
    /// Why the connection is lost, as the client was told.
    told: Option<RpcError>,
    /// Somebody has stopped the daemon. Whoever did that does not want us to start it again.
    stopped: bool,
}

/// What to do about a loss.
pub(crate) struct Loss {
    /// The client does not know of it yet.
    pub(crate) is_news: bool,
    /// How long to wait before the next attempt.
    pub(crate) pause: Duration,
}

impl Lasting {
    pub(crate) fn new(endpoint: Endpoint, recovery: Recovery) -> Self {
        Self { endpoint, recovery, outage: None, told: None, stopped: false }
    }

    /// Connects, and starts the daemon first where that is wanted.
    pub(crate) async fn channel(&mut self) -> Result<DaemonChannel, RpcError> {
        match (connect(&self.endpoint).await, &self.recovery) {
            (Err(ConnectError::NotRunning { .. }), Recovery::Restart { paths, options })
                if !self.stopped =>
            {
                self.endpoint =
                    ensure_running(paths, options).await.map_err(|error| RpcError::from(&error))?;
                Ok(connect(&self.endpoint).await?)
            }
            (connected, _) => Ok(connected?),
        }
    }

    /// The stream has begun. True: it had been lost.
    pub(crate) fn has_begun(&mut self) -> bool {
        self.told = None;
        self.stopped = false;
        self.outage.take().is_some()
    }

    /// The stream has ended, or could not begin.
    pub(crate) fn lost(&mut self, why: &RpcError) -> Loss {
        self.stopped |= why.is_stopping();
        let asked = why.retry_after.unwrap_or_default().min(MAX_RETRY_AFTER);
        // Once for each loss, and again when there is a reason that waiting may not cure.
        let is_news = match &self.told {
            None => true,
            Some(told) => !why.is_outage() && told.message != why.message,
        };
        if is_news {
            self.told = Some(why.clone());
        }
        let outage = self.outage.get_or_insert_with(|| pauses().build());
        let pause = outage.next().unwrap_or(MAX_PAUSE);
        Loss { is_news, pause: pause.max(asked) }
    }
}

fn pauses() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(MIN_PAUSE)
        .with_max_delay(MAX_PAUSE)
        .without_max_times()
        .with_jitter()
}
