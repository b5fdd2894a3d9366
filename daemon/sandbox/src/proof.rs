//! Proving a promise on this machine: trying to break it.
//!
//! What a backend promises stands in `promise`; `stage` is what attempts are made on, `attempts` are
//! those to get out, `limits` those to use too much and to stay.

mod attempts;
mod limits;
mod stage;

use std::time::Duration;

use agentd_domain::cut_line;
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

pub use self::attempts::Attempts;
use self::stage::Stage;
use crate::sandbox::MAX_REASON;
use crate::{
    AllowList, Command, Exit, Grant, Limits, Network, Policy, Profile, Promise, Sandbox, WaitError,
};

/// Longest run of attempts; they take less than a second on a machine that is not busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// Most of what attempts write that is read.
const MAX_OUTPUT: u64 = 64 * 1024;

/// What came of a promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was tried to break it, and it held.
    Held {
        /// What was tried, or what the limit was.
        detail: String,
    },
    /// It was broken.
    NotHeld {
        /// By what.
        detail: String,
    },
    /// This backend does not make it here.
    NotGiven {
        /// Why.
        reason: String,
        /// What to do to get it.
        remedy: String,
    },
    /// It could not be tried, so nothing is shown.
    NotTried {
        /// Why.
        reason: String,
        /// What to do.
        remedy: String,
    },
}

impl Verdict {
    fn not_tried(reason: impl Into<String>) -> Self {
        let remedy = "see to it that bash and the usual commands run in the sandbox".to_owned();
        Self::NotTried { reason: cut_line(&reason.into(), MAX_REASON), remedy }
    }
}

/// Tries to break a promise. It takes seconds at most where it holds; where it does not, the attempt
/// is ended after half a minute.
///
/// # Cancel safety
/// Dropping it ends what it runs.
pub async fn prove(sandbox: &dyn Sandbox, policy: &Policy, promise: Promise) -> Verdict {
    let backend = sandbox.backend();
    if let Some(unpromised) = promise.unpromised(backend, &sandbox.accounting()) {
        return Verdict::NotGiven {
            reason: unpromised.reason,
            remedy: unpromised.remedy.to_owned(),
        };
    }
    let stage = match Stage::set() {
        Ok(stage) => stage,
        Err(error) => return Verdict::not_tried(format!("nothing can be set up: {error}")),
    };
    match attempts_on(sandbox, policy, promise, &stage).await {
        None => limits::prove(sandbox, promise, &stage).await,
        Some(Err(reason)) => Verdict::not_tried(reason),
        Some(Ok(attempts)) => judge(&attempts, &stage),
    }
}

/// Makes the attempts against a promise and tells which of them succeeded, whatever the backend
/// promises; none: this promise is about other things than attempts.
///
/// # Errors
/// One line when they could not be made.
pub async fn attempt(
    sandbox: &dyn Sandbox,
    policy: &Policy,
    promise: Promise,
) -> Option<Result<Attempts, String>> {
    match Stage::set() {
        Ok(stage) => attempts_on(sandbox, policy, promise, &stage).await,
        Err(error) => Some(Err(error.to_string())),
    }
}

async fn attempts_on(
    sandbox: &dyn Sandbox,
    policy: &Policy,
    promise: Promise,
    stage: &Stage,
) -> Option<Result<Attempts, String>> {
    let script = attempts::script(promise, stage, policy)?;
    let profile = match promise {
        Promise::ReadOnly => Profile::ReadOnly,
        _ => Profile::WorkspaceWrite,
    };
    let network = match promise {
        Promise::Hosts => some_hosts(stage),
        _ => Network::None,
    };
    let command =
        Command { profile, network: network.clone(), ..command(&script, stage, Limits::BUILD) };
    let ran = match run(sandbox, &command).await {
        Ok(ran) => ran,
        Err(reason) => return Some(Err(reason)),
    };
    let mut attempts = Attempts::read(&ran.out);
    if !attempts.is_whole {
        let said = ran.errors.trim();
        return Some(Err(format!("the attempts broke off: {said}")));
    }
    if matches!(promise, Promise::Network | Promise::Hosts) {
        let got_out = datagram_arrives(sandbox, stage, network).await;
        let list = if got_out { &mut attempts.got_out } else { &mut attempts.held };
        list.push("UDP".to_owned());
    }
    Some(Ok(attempts))
}

/// One host by two names, of which the owner has named one: the other leads to no public address.
fn some_hosts(stage: &Stage) -> Network {
    let named = AllowList::new(&[format!("127.0.0.1:{}", stage.tcp_port)]);
    Network::Hosts(Grant::of(["127.0.0.1", "localhost"].map(str::to_owned).into(), named))
}

/// A datagram is sent without an answer, so that only its receiver can tell.
async fn datagram_arrives(sandbox: &dyn Sandbox, stage: &Stage, network: Network) -> bool {
    let Ok(port) = stage.udp.local_addr().map(|address| address.port()) else { return false };
    let send = format!("echo x > /dev/udp/127.0.0.1/{port}");
    let command = Command { network, ..command(&send, stage, Limits::BUILD) };
    let _ended = run(sandbox, &command).await;
    stage.udp.recv(&mut [0; 8]).is_ok()
}

fn judge(attempts: &Attempts, stage: &Stage) -> Verdict {
    if let Some(touched) = stage.touched() {
        return Verdict::NotHeld { detail: format!("{} was changed", touched.display()) };
    }
    if attempts.got_out.is_empty() {
        let mut tried = attempts.held.clone();
        tried.dedup();
        return Verdict::Held { detail: format!("tried in vain: {}", tried.join(", ")) };
    }
    Verdict::NotHeld { detail: format!("got out: {}", attempts.got_out.join(", ")) }
}

/// A script for bash.
fn command(script: &str, stage: &Stage, limits: Limits) -> Command {
    Command {
        argv: ["bash", "-c", script].map(str::to_owned).into(),
        workspace: stage.workspace.path().to_owned(),
        further_roots: Vec::new(),
        cwd: std::path::PathBuf::new(),
        profile: Profile::WorkspaceWrite,
        network: Network::None,
        limits,
    }
}

/// What came of a command.
#[derive(Debug)]
struct Ran {
    out: String,
    errors: String,
    exit: Exit,
}

/// Runs a command to its end.
///
/// # Errors
/// One line, when it cannot be run or does not end.
async fn run(sandbox: &dyn Sandbox, command: &Command) -> Result<Ran, String> {
    let mut child = sandbox.spawn(command).await.map_err(|error| error.to_string())?;
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let reading = async {
        // What is no text is shown as none; what is too much ends the program by a broken pipe.
        if let Some(stdout) = stdout {
            let _end = stdout.take(MAX_OUTPUT).read_to_end(&mut out).await;
        }
    };
    let reading_errors = async {
        if let Some(stderr) = stderr {
            let _end = stderr.take(MAX_OUTPUT).read_to_end(&mut errors).await;
        }
    };
    let ended = timeout(PATIENCE, async { tokio::join!(reading, reading_errors, child.wait()).2 });
    let ended = ended.await.map_err(|_late| format!("it ran longer than {} s", PATIENCE.as_secs()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&out), text(&errors));
    let exit = ended?.map_err(|error: WaitError| format!("{error}: {}", errors.trim()))?;
    Ok(Ran { out, errors, exit })
}
