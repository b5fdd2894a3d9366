//! `agentctl logs`: what the daemon logs.

use std::time::Duration;

use agentd_proto::v1;
use agentd_proto::v1::diagnostics_service_client::DiagnosticsServiceClient;
use agentd_shared::format::Role;
use agentd_shared::{Client, RpcError, ids};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tonic::Streaming;

use crate::app::{App, rpc_failure};
use crate::exit::{Exit, Failure};
use crate::json::LogRecordView;
use crate::signals::Signals;

/// Options of `logs`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LogsArgs {
    /// Go on with what comes later
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Newest records to print first
    #[arg(
        long,
        short = 'n',
        value_name = "LINES",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(..=10_000)
    )]
    pub(crate) lines: u32,
    /// The least grave to print
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    pub(crate) level: LogLevel,
    /// Only what concerns this session: an id, a unique beginning, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// How grave a log record is. What is not logged, by `log.level`, cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LogLevel {
    /// Something failed.
    Error,
    /// Somebody should look.
    Warn,
    /// What the daemon does.
    #[default]
    Info,
    /// How it does it.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for v1::LogLevel {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::Error,
            LogLevel::Warn => Self::Warn,
            LogLevel::Info => Self::Info,
            LogLevel::Debug => Self::Debug,
            LogLevel::Trace => Self::Trace,
        }
    }
}

/// Pause between two looks for a daemon that went away.
const PAUSE: Duration = Duration::from_millis(500);
/// What a daemon that has just started is asked for: everything that it has said.
const EVERYTHING: u32 = 10_000;

/// Prints the newest records, and follows if asked to.
pub(super) async fn run(args: &LogsArgs, app: &App) -> Result<Exit, Failure> {
    let client = running(app).await?;
    let session_id = match &args.session {
        Some(session) => ids::resolve(&client, session).await?,
        None => String::new(),
    };
    let mut request = v1::TailLogsRequest {
        lines: args.lines,
        follow: args.follow,
        level: v1::LogLevel::from(args.level).into(),
        session_id,
    };
    let mut signals = Signals::new()
        .map_err(|error| Failure::new(Exit::Failed, "cannot listen for signals").because(error))?;
    let mut client = Some(client);
    loop {
        tokio::select! {
            _ = signals.next() => return Ok(Exit::CtrlC),
            ended = follow(app, client.as_ref(), &request, args.json) => match ended? {
                None => return Ok(Exit::Ok),
                Some(error) => app.output.note(&error.loss()),
            }
        }
        client = tokio::select! {
            _ = signals.next() => return Ok(Exit::CtrlC),
            found = wait_for_daemon(app) => Some(found),
        };
        app.output.note("connected again");
        request.lines = EVERYTHING;
    }
}

/// The daemon that runs. Its last words are in a file when none does.
async fn running(app: &App) -> Result<Client, Failure> {
    let file = app.paths().log_file();
    app.running_client().await.map_err(|failure| {
        if file.exists() {
            failure.hint(format!("what the last one logged may be in {}", file.display()))
        } else {
            failure
        }
    })
}

/// Prints until the stream ends. An outage while following is told, so that the caller goes on.
async fn follow(
    app: &App,
    client: Option<&Client>,
    request: &v1::TailLogsRequest,
    json: bool,
) -> Result<Option<RpcError>, Failure> {
    let Some(client) = client else { return Ok(None) };
    let failed = |error: RpcError| -> Result<Option<RpcError>, Failure> {
        if request.follow && error.is_outage() {
            Ok(Some(error))
        } else {
            Err(rpc_failure("cannot read the daemon's log", error))
        }
    };
    let channel = match client.open_stream_channel().await {
        Ok(channel) => channel,
        // It went away as soon as it was found.
        Err(error) if request.follow => {
            return Ok(Some(tonic::Status::unavailable(error.to_string()).into()));
        }
        Err(error) => {
            let what = "cannot reach the daemon";
            return Err(Failure::new(Exit::Unreachable, what).because(&error).hint(error.hint()));
        }
    };
    let mut diagnostics = DiagnosticsServiceClient::new(channel);
    let mut stream = match diagnostics.tail_logs(request.clone()).await {
        Ok(answer) => answer.into_inner(),
        Err(status) => return failed(status.into()),
    };
    match print(app, &mut stream, json).await? {
        Ok(()) => Ok(None),
        Err(status) => failed(status.into()),
    }
}

async fn print(
    app: &App,
    stream: &mut Streaming<v1::TailLogsResponse>,
    json: bool,
) -> Result<Result<(), tonic::Status>, Failure> {
    loop {
        let v1::TailLogsResponse { records, dropped } = match stream.message().await {
            Ok(Some(page)) => page,
            Ok(None) => return Ok(Ok(())),
            Err(status) => return Ok(Err(status)),
        };
        if dropped > 0 {
            app.output.note(&format!("{dropped} records came faster than they were read"));
        }
        for record in &records {
            if json {
                app.output.json_line(&LogRecordView::from(record))?;
            } else {
                let (role, line) = line(record);
                let line = app.output.clean(&line);
                app.output.line(&app.output.paint(role, &line))?;
            }
        }
    }
}

async fn wait_for_daemon(app: &App) -> Client {
    loop {
        // Why it is not there yet does not matter: somebody waits for it to come back.
        if let Ok(Some(client)) = app.try_running_client().await {
            return client;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A record as a line for people. It holds foreign text.
fn line(record: &v1::LogRecord) -> (Role, String) {
    let (role, level) = match record.level() {
        v1::LogLevel::Error => (Role::Error, "ERROR"),
        v1::LogLevel::Warn => (Role::Warn, "WARN "),
        v1::LogLevel::Unspecified | v1::LogLevel::Info => (Role::Plain, "INFO "),
        v1::LogLevel::Debug => (Role::Dim, "DEBUG"),
        v1::LogLevel::Trace => (Role::Dim, "TRACE"),
    };
    let at = match Timestamp::from_millisecond(record.at_ms) {
        Ok(at) => {
            at.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()
        }
        Err(_out_of_range) => record.at_ms.to_string(),
    };
    // A map of the wire has no order.
    let mut fields: Vec<_> = record.fields.iter().collect();
    fields.sort();
    let v1::LogRecord { target, message, .. } = record;
    let mut line = format!("{at} {level} {target}: {message}");
    for (name, value) in fields {
        line.extend([" ", name, "=", value]);
    }
    (role, line.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line() {
        let record = v1::LogRecord {
            at_ms: 0,
            level: v1::LogLevel::Warn.into(),
            target: "agentd::daemon".to_owned(),
            message: "two\nlines".to_owned(),
            fields: [("b", "2"), ("a", "1")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        };
        let (_, line) = line(&record);
        assert!(line.ends_with(" WARN  agentd::daemon: two lines a=1 b=2"), "{line}");
    }
}
