//! The real daemon with tools whose effects can be counted, points at which it kills itself, and a
//! count of its heap, which it tells on SIGUSR1.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentd::config::{LogConfig, LogFormat};
use agentd::logging::{self, LogRing};
use agentd::{CrashPoints, Daemon, DaemonOptions};
use agentd_shared::Paths;
use agentd_testkit::{AppendLine, CRASH_AT, CountingAllocator, HeapUse, LOG_RECORDS};
use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> anyhow::Result<ExitCode> {
    anyhow::ensure!(agentd::allocator::give_back_what_is_freed(), "the allocator has no settings");
    let home = home().context("give --home DIR --announce")?;
    let log = LogConfig { level: "info".to_owned(), format: LogFormat::Human };
    let log_ring = log_ring()?;
    logging::init(&log, &log_ring, None)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(serve(Paths::under(home), log_ring))?;
    runtime.shutdown_background();
    Ok(code)
}

fn home() -> Option<PathBuf> {
    let mut args = std::env::args_os().skip(1);
    let home = (args.next()? == "--home").then(|| args.next())?;
    home.map(PathBuf::from)
}

async fn serve(paths: Paths, log_ring: LogRing) -> anyhow::Result<ExitCode> {
    let mut options = DaemonOptions::new(paths);
    options.extra_tools.push(Arc::new(AppendLine::new()));
    options.crash_points = crash_points()?;
    options.log_ring = Some(log_ring);
    let daemon = Daemon::start(options).await?;
    let mut term = signal(SignalKind::terminate())?;
    let mut ask_heap = signal(SignalKind::user_defined1())?;
    writeln!(std::io::stdout(), "ready {}", daemon.socket().display())?;
    let control = daemon.control().clone();
    let mut serving = std::pin::pin!(daemon.serve());
    loop {
        tokio::select! {
            orderly = &mut serving => {
                return Ok(if orderly { ExitCode::SUCCESS } else { ExitCode::FAILURE });
            }
            _ = term.recv() => control.stop(),
            _ = ask_heap.recv() => {
                let HeapUse { bytes, blocks } = HeapUse::now();
                writeln!(std::io::stdout(), "heap {bytes} {blocks}")?;
            }
        }
    }
}

/// As many log records as the environment says, else as many as `agentd` keeps.
fn log_ring() -> anyhow::Result<LogRing> {
    let Ok(records) = std::env::var(LOG_RECORDS) else { return Ok(LogRing::default()) };
    Ok(LogRing::of_records(records.parse().context("a number of log records")?))
}

/// The hook that kills this process at the point that the environment names.
fn crash_points() -> anyhow::Result<CrashPoints> {
    let Ok(point) = std::env::var(CRASH_AT) else { return Ok(CrashPoints::default()) };
    let (wanted, count) = match point.split_once(':') {
        Some((name, count)) => (name.to_owned(), count.parse().context("a number of passes")?),
        None => (point, 1),
    };
    let left = AtomicU64::new(count);
    Ok(CrashPoints::new(move |name| {
        if name == wanted && left.fetch_sub(1, Ordering::SeqCst) == 1 {
            kill_this_process();
        }
    }))
}

/// Returns never: the kernel ends the process.
fn kill_this_process() {
    let me = rustix::process::getpid();
    if let Err(error) = rustix::process::kill_process(me, rustix::process::Signal::KILL) {
        tracing::error!(%error, "the process could not kill itself");
    }
    loop {
        std::thread::park();
    }
}
