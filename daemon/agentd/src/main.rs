//! The command line of the daemon.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use agentd::config::{self, LogFormat};
use agentd::control::Overrides;
use agentd::logging::{self, LogRing};
use agentd::upgrade::{Handover, Relaunch, probe_line, probe_paths};
use agentd::{Daemon, DaemonOptions, Environment, Served, StartError, Supervisor, Traces};
use agentd_sandbox::{HELPER_COMMAND, remove_groups_of_process, run_helper};
use agentd_shared::Paths;
use agentd_tools::{PDF_COMMAND, run_pdf_helper};
use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

mod command;

/// Exit codes, as `--help` lists them.
mod exit {
    /// The daemon failed.
    pub(crate) const FAILED: u8 = 1;
    /// Flags or configuration are wrong.
    pub(crate) const USAGE: u8 = 2;
    /// Another daemon is running.
    pub(crate) const ALREADY_RUNNING: u8 = 3;
    /// The store cannot be opened, or `check` found damage.
    pub(crate) const STORE: u8 = 4;
}

/// An AI agent that lives on this machine as a service.
#[derive(Debug, Parser)]
#[command(
    name = "agentd",
    version,
    about,
    after_help = "Without a command the daemon runs in the foreground until SIGTERM or SIGINT; SIGHUP reads the \
                  configuration again.\n\nExit codes: 0 stopped in order, 1 failed, 2 wrong flags or \
                  configuration, 3 already running, 4 store not usable."
)]
struct Arguments {
    /// Keep configuration, data, state and socket under this folder.
    #[arg(long, env = "AGENTD_HOME", value_name = "DIR", global = true)]
    home: Option<PathBuf>,
    /// Listen on this socket.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Base URL of an OpenAI-compatible endpoint, before configuration and environment.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Default model, before configuration and environment.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Use the built-in offline engine.
    #[arg(long)]
    offline: bool,
    /// How log lines look, before configuration.
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Log level, before configuration.
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Print one line of JSON with socket and pid when ready.
    #[arg(long)]
    announce: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows or makes the configuration.
    #[command(subcommand)]
    Config(command::config::ConfigCommand),
    /// Makes certificates for remote clients.
    #[command(subcommand)]
    Tls(command::tls::TlsCommand),
    /// Checks every record of the store while no daemon runs.
    Check,
    /// Tells a daemon that runs whether this binary can take over from it.
    #[command(hide = true)]
    Probe,
}

fn main() -> ExitCode {
    // Started again beside a program of a tool: then it is that program's supervisor, or becomes it.
    if std::env::args_os().nth(1).is_some_and(|command| command == HELPER_COMMAND) {
        return run_helper(std::env::args_os().skip(2));
    }
    // Or started again beside the daemon to read one document.
    if std::env::args_os().nth(1).is_some_and(|command| command == PDF_COMMAND) {
        return run_pdf_helper();
    }
    // Before anything else: what was passed to this process must not be passed on.
    let supervisor = Supervisor::of_process();
    let arguments = Arguments::parse();
    let paths = match &arguments.home {
        Some(home) => std::path::absolute(home).map(Paths::under).map_err(anyhow::Error::from),
        None if matches!(arguments.command, Some(Command::Probe)) => {
            probe_paths().map_err(anyhow::Error::from)
        }
        None => Paths::of_service().map_err(anyhow::Error::from),
    };
    let paths = match paths {
        Ok(paths) => paths,
        Err(error) => return fail(exit::USAGE, &error.to_string(), "set AGENTD_HOME"),
    };
    match arguments.command {
        Some(Command::Config(ref config)) => command::config::run(config, &paths),
        Some(Command::Tls(ref tls)) => command::tls::run(tls, &paths),
        Some(Command::Check) => command::check::run(&paths),
        Some(Command::Probe) => probe(&paths),
        None => match supervisor {
            Ok(supervisor) => run(arguments, paths, supervisor),
            Err(error) => fail(exit::USAGE, &error.to_string(), error.hint()),
        },
    }
}

/// Looks at configuration, certificates and tokens as a start would, and tells what this binary is.
fn probe(paths: &Paths) -> ExitCode {
    match agentd::check_start(paths, &Environment::of_process()) {
        Ok(()) => {
            command::print(&format!("{}\n", probe_line()));
            ExitCode::SUCCESS
        }
        Err(error) => fail(exit::USAGE, &error.to_string(), error.hint()),
    }
}

fn run(arguments: Arguments, paths: Paths, mut supervisor: Supervisor) -> ExitCode {
    let gives_back = agentd::allocator::give_back_what_is_freed();
    let env = Environment::of_process();
    let loaded = match config::load(&paths.config_file(), &env) {
        Ok(loaded) => loaded,
        Err(error) => return fail(exit::USAGE, &error.to_string(), error.hint()),
    };
    let mut log = loaded.config.log;
    log.level = arguments.log_level.clone().unwrap_or(log.level);
    log.format = arguments.log_format.unwrap_or(log.format);
    let log_ring = LogRing::default();
    let traces = Traces::of(&loaded.config.otel, &env);
    let log_level = match logging::init(&log, &log_ring, traces.layer()) {
        Ok(log_level) => log_level,
        Err(error) => return fail(exit::USAGE, &error.to_string(), "see `agentd config show`"),
    };
    if !gives_back {
        tracing::warn!(
            "the C library took no settings of its allocator: memory may be held for longer"
        );
    }
    // Whatever the daemon makes is its user's alone.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(exit::FAILED, &error.to_string(), "check the limits of threads"),
    };
    let relaunch = Relaunch::of_process(std::mem::take(&mut supervisor.kept));
    let mut options = DaemonOptions::new(paths);
    options.relaunch = match relaunch {
        Ok(relaunch) => Some(relaunch),
        Err(error) => {
            tracing::warn!(%error, "the program's own path is not known: no upgrade while it runs");
            None
        }
    };
    options.sandbox_helper = match std::env::current_exe() {
        Ok(program) => Some(program),
        Err(error) => {
            tracing::warn!(%error, "the program's own path is not known: no commands are run");
            None
        }
    };
    options.supervisor = supervisor;
    options.socket = arguments.socket;
    options.env = env;
    options.overrides = Overrides {
        base_url: arguments.base_url,
        model: arguments.model,
        offline: arguments.offline,
        log_level: arguments.log_level,
    };
    options.log_level = Some(log_level);
    options.log_ring = Some(log_ring);
    options.traces = Some(traces);
    let ended = runtime.block_on(serve(options, arguments.announce));
    // Threads that still block, such as in a slow name look-up, are not waited for.
    runtime.shutdown_background();
    match ended {
        Ended::Exit(code) => {
            remove_groups_of_process();
            code
        }
        Ended::HandOver(handover) => {
            let error = handover.exec();
            fail(exit::FAILED, &format!("no binary could take over: {error}"), "start agentd again")
        }
    }
}

/// What is left to do for the process.
enum Ended {
    Exit(ExitCode),
    HandOver(Box<Handover>),
}

async fn serve(options: DaemonOptions, announce: bool) -> Ended {
    let fail = |code, message: &str, hint: &str| Ended::Exit(fail(code, message, hint));
    // First, so that a signal during a long start is not the end of the process.
    let signals = signal(SignalKind::terminate()).and_then(|term| {
        Ok((term, signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?))
    });
    let (mut term, mut interrupt, mut hangup) = match signals {
        Ok(signals) => signals,
        Err(error) => {
            return fail(exit::FAILED, &error.to_string(), "check the limits of the process");
        }
    };
    let daemon = match Daemon::start(options).await {
        Ok(daemon) => daemon,
        Err(error) => {
            let code = match &error {
                StartError::Lock(agentd_store::LockError::Held { .. }) => exit::ALREADY_RUNNING,
                StartError::Config(_) | StartError::Paths(_) | StartError::Remote(_) => exit::USAGE,
                StartError::Store(_) | StartError::Lock(_) => exit::STORE,
                StartError::Listen(_)
                | StartError::Tokens(_)
                | StartError::Tools(_)
                | StartError::Broken(_) => exit::FAILED,
            };
            let message = match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            };
            return fail(code, &message, error.hint());
        }
    };
    if announce {
        let line = serde_json::json!({ "socket": daemon.socket(), "pid": std::process::id() });
        // Whoever asked may have stopped waiting; the daemon runs all the same.
        let _listener_gone = writeln!(std::io::stdout(), "{line}");
    }
    let control = daemon.control().clone();
    let models = daemon.models();
    let mut serving = std::pin::pin!(daemon.serve_to_the_end());
    let mut asked_to_stop = false;
    loop {
        tokio::select! {
            served = &mut serving => {
                return match served {
                    Served::InOrder => Ended::Exit(ExitCode::SUCCESS),
                    Served::CutOff | Served::BrokeOff => Ended::Exit(ExitCode::from(exit::FAILED)),
                    Served::HandOver(handover) => Ended::HandOver(handover),
                };
            }
            _ = hangup.recv() => {
                if let Err(error) = control.reload(&models) {
                    tracing::error!(%error, hint = error.hint(), "the configuration was not changed");
                }
            }
            () = async { tokio::select! { _ = term.recv() => {}, _ = interrupt.recv() => {} } } => {
                if asked_to_stop {
                    tracing::warn!("told to stop twice: stopping at once");
                    return Ended::Exit(ExitCode::from(exit::FAILED));
                }
                asked_to_stop = true;
                control.stop();
            }
        }
    }
}

/// Says what is wrong and what to do.
fn fail(code: u8, message: &str, hint: &str) -> ExitCode {
    command::complain(message, hint);
    ExitCode::from(code)
}
