//! Sends the newest log records, then follows.

use std::pin::Pin;
use std::sync::Arc;

use agentd_domain::{ErrorKind, SessionId};
use agentd_proto::v1;
use futures_util::{Stream, stream};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tracing::Level;

use crate::grpc::{Context, from_proto, status};
use crate::logging::{LogRecord, LogRing};

pub(super) type LogStream =
    Pin<Box<dyn Stream<Item = Result<v1::TailLogsResponse, Status>> + Send>>;

/// Most records that may be asked for first.
const MAX_LINES: u32 = 10_000;
/// Most records of one message.
const PAGE: usize = 500;

pub(super) fn handle(ctx: &Context, request: v1::TailLogsRequest) -> Result<LogStream, Status> {
    let v1::TailLogsRequest { lines, follow, level, session_id } = request;
    if lines > MAX_LINES {
        return Err(status::bad_field(
            "lines",
            &format!("{lines} is more than {MAX_LINES}"),
            "ask for fewer; the log file or the journal has all",
        ));
    }
    let wanted = Wanted {
        level: read_level(level)?,
        session_id: from_proto::optional_id("session_id", &session_id)?,
    };
    let ring = ctx.log_ring.clone().ok_or_else(|| {
        status::error(
            ErrorKind::Precondition,
            "this daemon keeps no log records",
            "look where its standard error goes",
            None,
        )
    })?;
    let next =
        ring.start_of_newest(usize::try_from(lines).unwrap_or(0), |record| wanted.takes(record));
    let tail = Tail { ring, wanted, next, follow, stop: ctx.control.stop_token().clone() };
    Ok(Box::pin(stream::unfold(Some(tail), |tail| async move { tail?.message().await })))
}

/// Which records are asked for.
struct Wanted {
    level: Level,
    session_id: Option<SessionId>,
}

impl Wanted {
    fn takes(&self, record: &LogRecord) -> bool {
        // The graver, the smaller.
        record.level <= self.level
            && self.session_id.is_none_or(|id| {
                record.fields.get("session_id").is_some_and(|of| *of == id.to_string())
            })
    }
}

struct Tail {
    ring: LogRing,
    wanted: Wanted,
    next: u64,
    follow: bool,
    stop: CancellationToken,
}

impl Tail {
    /// The next message that holds something; none at the end. A stop ends the stream, but only when
    /// what was logged before it is sent.
    async fn message(mut self) -> Option<(Result<v1::TailLogsResponse, Status>, Option<Self>)> {
        loop {
            let is_stopping = self.stop.is_cancelled();
            let page = self.ring.read(self.next, PAGE);
            let is_end = page.records.is_empty();
            self.next = page.next;
            let records: Vec<_> = page
                .records
                .iter()
                .filter(|record| self.wanted.takes(record))
                .map(to_proto)
                .collect();
            if !records.is_empty() || page.dropped > 0 {
                let response = v1::TailLogsResponse { records, dropped: page.dropped };
                return Some((Ok(response), Some(self)));
            }
            if !is_end {
                continue;
            }
            if !self.follow {
                return None;
            }
            if is_stopping {
                return Some((Err(status::stopping()), None));
            }
            tokio::select! {
                () = self.ring.wait_for(self.next) => {}
                () = self.stop.cancelled() => {}
            }
        }
    }
}

fn read_level(number: i32) -> Result<Level, Status> {
    match v1::LogLevel::try_from(number) {
        Ok(v1::LogLevel::Error) => Ok(Level::ERROR),
        Ok(v1::LogLevel::Warn) => Ok(Level::WARN),
        Ok(v1::LogLevel::Unspecified | v1::LogLevel::Info) => Ok(Level::INFO),
        Ok(v1::LogLevel::Debug) => Ok(Level::DEBUG),
        Ok(v1::LogLevel::Trace) => Ok(Level::TRACE),
        Err(_unknown) => Err(status::bad_field(
            "level",
            &format!("{number} is not a log level"),
            "use LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG or LOG_LEVEL_TRACE",
        )),
    }
}

fn to_proto(record: &Arc<LogRecord>) -> v1::LogRecord {
    let LogRecord { at, level, target, message, fields } = &**record;
    let level = match *level {
        Level::ERROR => v1::LogLevel::Error,
        Level::WARN => v1::LogLevel::Warn,
        Level::INFO => v1::LogLevel::Info,
        Level::DEBUG => v1::LogLevel::Debug,
        Level::TRACE => v1::LogLevel::Trace,
    };
    v1::LogRecord {
        at_ms: at.0,
        level: level.into(),
        target: target.clone(),
        message: message.clone(),
        fields: fields.clone().into_iter().collect(),
    }
}
