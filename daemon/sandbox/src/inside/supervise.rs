//! The process beside the program: it reaps, ends what is left, and reports.
//!
//! Its input is a connection to the daemon. A byte on it asks to end the program; its end, which
//! also comes when the daemon is killed, ends everything at once.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, setsid, wait};

use super::{CONFINE, CONFINE_TERMINAL, Confinement, HELPER_COMMAND, Input, processes};
use crate::egress::port;
use crate::environment;
use crate::process_run::Report;

/// How long what the program leaves running may take to end by itself, such as a `tee` behind it.
const LINGER: Duration = Duration::from_millis(300);

/// Between TERM and KILL.
const TERM_GRACE: Duration = Duration::from_millis(500);

/// Between two rounds of KILL; a round misses what is started during it.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// Events that wait: there are few.
const WAITING: usize = 8;

enum Event {
    /// The program itself ended.
    Exited(WaitStatus),
    /// Nothing of it runs any more.
    AllGone,
    /// The daemon wants it to end.
    Terminate,
    /// The daemon is gone or wants nothing more of it.
    Abandoned,
}

/// What is done about what runs.
enum Step {
    /// The program runs.
    Run,
    /// It ended and others may follow.
    Linger,
    /// They were asked to end.
    Terminating,
    /// They are killed.
    Killing,
}

pub(super) fn supervise(
    confinement: &Confinement,
    argv: &[OsString],
    input: Input,
) -> Result<ExitCode, String> {
    // Where the box made a session already this fails, as it should.
    let _leads_one = setsid();
    set_child_subreaper(Some(getpid()))
        .map_err(|error| format!("orphans cannot be adopted: {error}"))?;
    let control = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map(UnixStream::from)
        .map_err(|error| format!("there is no connection to the daemon: {error}"))?;
    let text = serde_json::to_string(confinement).map_err(|error| error.to_string())?;
    let mut program = Command::new("/proc/self/exe");
    match input {
        // What it does to its group is not done to this process.
        Input::None => {
            program.arg(HELPER_COMMAND).arg(CONFINE).stdin(Stdio::null()).process_group(0)
        }
        Input::Terminal => {
            let terminal = std::io::stdout()
                .as_fd()
                .try_clone_to_owned()
                .map_err(|error| format!("there is no terminal: {error}"))?;
            // It makes a session of its own, which a leader of a group cannot.
            program.arg(HELPER_COMMAND).arg(CONFINE_TERMINAL).stdin(terminal)
        }
    };
    if confinement.egress {
        let port = port::open(&control)
            .map_err(|error| format!("no port can be opened in the box: {error}"))?;
        program.envs(environment::through(port));
    }
    let program = program
        .args([&text, "--"])
        .args(argv)
        .spawn()
        .map_err(|error| format!("no process can be started: {error}"))?;
    let (events, happened) = sync_channel(WAITING);
    listen(&control, &events)?;
    reap(program.id(), events);
    let report = see_to_the_end(&happened);
    let mut line = serde_json::to_vec(&report).map_err(|error| error.to_string())?;
    line.push(b'\n');
    // The daemon may be gone.
    let _unheard = (&control).write_all(&line);
    Ok(ExitCode::SUCCESS)
}

/// Ends what runs when it should, and waits until nothing does.
fn see_to_the_end(happened: &Receiver<Event>) -> Report {
    let mut report = Report::default();
    let mut step = Step::Run;
    loop {
        let patience = match step {
            Step::Run => Duration::MAX,
            Step::Linger => LINGER,
            Step::Terminating => TERM_GRACE,
            Step::Killing => KILL_AGAIN,
        };
        match happened.recv_timeout(patience) {
            Ok(Event::Exited(status)) => {
                report.code = status.exit_status();
                report.signal = status.terminating_signal();
                if matches!(step, Step::Run) {
                    step = Step::Linger;
                }
            }
            Ok(Event::AllGone) | Err(RecvTimeoutError::Disconnected) => return report,
            Ok(Event::Terminate) => {
                processes::signal(Signal::TERM);
                // What is stopped would take the signal only when it goes on.
                processes::signal(Signal::CONT);
                step = Step::Terminating;
            }
            Ok(Event::Abandoned) => {
                processes::signal(Signal::KILL);
                step = Step::Killing;
            }
            Err(RecvTimeoutError::Timeout) => match step {
                Step::Run => {}
                Step::Linger => {
                    report.left_running = processes::descendants().len();
                    processes::signal(Signal::TERM);
                    step = Step::Terminating;
                }
                Step::Terminating | Step::Killing => {
                    processes::signal(Signal::KILL);
                    step = Step::Killing;
                }
            },
        }
    }
}

/// Waits for the daemon's word.
fn listen(control: &UnixStream, events: &SyncSender<Event>) -> Result<(), String> {
    let mut control = control.try_clone().map_err(|error| error.to_string())?;
    let events = events.clone();
    thread::spawn(move || {
        let mut byte = [0];
        while matches!(control.read(&mut byte), Ok(1)) {
            let _over = events.send(Event::Terminate);
        }
        let _over = events.send(Event::Abandoned);
    });
    Ok(())
}

/// Waits for the program and for all orphans of its, which this process adopts.
fn reap(program: u32, events: SyncSender<Event>) {
    thread::spawn(move || {
        // An error: there is nothing to wait for any more.
        while let Ok(ended) = wait(WaitOptions::empty()) {
            let Some((pid, status)) = ended else { continue };
            if u32::try_from(pid.as_raw_nonzero().get()) == Ok(program) {
                let _over = events.send(Event::Exited(status));
            }
        }
        let _over = events.send(Event::AllGone);
    });
}
