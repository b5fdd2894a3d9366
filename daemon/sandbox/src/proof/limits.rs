//! Attempts to use too much, and to stay.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::{sleep, timeout};

use super::{PATIENCE, Ran, Stage, Verdict, command, run};
use crate::{Limits, Promise, Sandbox, environment};

const MIB: u64 = 1024 * 1024;

/// Processes that the attempt may have, and how many it tries to start.
const PROCESSES: u64 = 24;
const FORKS: u64 = 200;

/// Longest time until what was ended is gone; a moment is usual.
const UNTIL_GONE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Variables that a shell adds by itself, and a container.
const OF_THE_SHELL: &[&str] = &["_", "OLDPWD", "PWD", "SHLVL", "HOSTNAME"];

/// Tries one of the promises that are not about getting out.
pub(super) async fn prove(sandbox: &dyn Sandbox, promise: Promise, stage: &Stage) -> Verdict {
    let done = match promise {
        Promise::Rights => rights(sandbox, stage).await,
        Promise::Environment => variables(sandbox, stage).await,
        Promise::ProcessCount => forks(sandbox, stage).await,
        Promise::Memory => memory(sandbox, stage).await,
        Promise::TotalMemory => total_memory(sandbox, stage).await,
        Promise::CpuShare => cpu_share(sandbox, stage).await,
        Promise::CpuTime => cpu_time(sandbox, stage).await,
        Promise::FileSize => file_size(sandbox, stage).await,
        Promise::TemporarySpace => temporary_space(sandbox, stage).await,
        Promise::WallTime => wall_time(sandbox, stage).await,
        Promise::Leftovers => leftovers(sandbox, stage).await,
        Promise::WriteOutside
        | Promise::Modes
        | Promise::Secrets
        | Promise::Links
        | Promise::ReadOnly
        | Promise::RunLater
        | Promise::Processes
        | Promise::Signals
        | Promise::ProcessList
        | Promise::Network
        | Promise::Hosts => Err("it has no attempts".to_owned()),
    };
    done.unwrap_or_else(Verdict::not_tried)
}

fn verdict(holds: bool, detail: String) -> Verdict {
    if holds { Verdict::Held { detail } } else { Verdict::NotHeld { detail } }
}

/// A number that a script has written; `what` it counts.
fn number(ran: &Ran, what: &str) -> Result<u64, String> {
    let last = ran.out.lines().last().unwrap_or_default();
    last.trim()
        .parse()
        .map_err(|_no_number| format!("{what} cannot be told from '{last}': {}", ran.errors.trim()))
}

async fn rights(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let script = "unshare -Ur true 2>/dev/null && echo NAMESPACE; cat /proc/self/status";
    let ran = run(sandbox, &command(script, stage, Limits::BUILD)).await?;
    let is = |name: &str, value: &str| {
        ran.out.lines().any(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start_matches(':').trim() == value)
        })
    };
    if !ran.out.contains("NoNewPrivs") {
        return Err(format!("/proc/self/status cannot be read: {}", ran.errors.trim()));
    }
    let wrong: Vec<&str> = [
        (!is("NoNewPrivs", "1"), "set-uid programs take effect"),
        (!is("CapEff", "0000000000000000"), "it has capabilities"),
        (!is("Seccomp", "2"), "no system call is refused"),
        (ran.out.contains("NAMESPACE"), "it can make a user namespace"),
    ]
    .into_iter()
    .filter_map(|(is_wrong, what)| is_wrong.then_some(what))
    .collect();
    let right = "no new privileges, no capabilities, system calls filtered, no user namespace";
    Ok(verdict(wrong.is_empty(), if wrong.is_empty() { right.into() } else { wrong.join(", ") }))
}

async fn variables(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let ran = run(sandbox, &command("compgen -e", stage, Limits::BUILD)).await?;
    let own: Vec<&str> =
        environment::variables("", "", "").into_iter().map(|(name, _)| name).collect();
    let names: Vec<&str> = ran.out.lines().collect();
    if names.is_empty() {
        return Err(format!("the variables cannot be listed: {}", ran.errors.trim()));
    }
    let foreign: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !own.contains(name) && !OF_THE_SHELL.contains(name))
        .collect();
    let detail = if foreign.is_empty() {
        format!("{} variables, all the sandbox's own", names.len())
    } else {
        format!("it sees {}", foreign.join(", "))
    };
    Ok(verdict(foreign.is_empty(), detail))
}

async fn forks(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    // Bash tries for a quarter of a minute before it gives up, perl does not.
    let script = format!(
        "if command -v perl >/dev/null; then
           perl -e 'while ($n < {FORKS} && defined($p = fork)) {{ if (!$p) {{ sleep 60; exit }} $n++ }} print \"$n\\n\"';
         else n=0; echo 0; while [ $n -lt {FORKS} ]; do sleep 60 & n=$((n+1)); echo $n; done; fi"
    );
    let limits = Limits { processes: PROCESSES, ..Limits::BUILD };
    let ran = run(sandbox, &command(&script, stage, limits)).await?;
    let started = number(&ran, "the number of processes")?;
    Ok(verdict(started < FORKS, format!("{started} of {FORKS} processes could be started")))
}

async fn memory(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    // What tail is to give at the end it keeps in memory.
    let wanted = 200_000_000;
    let script = format!("head -c {wanted} /dev/zero | tail -c {wanted} | wc -c");
    let limits = Limits { memory_bytes: 64 * MIB, total_memory_bytes: 256 * MIB, ..Limits::BUILD };
    let ran = run(sandbox, &command(&script, stage, limits)).await?;
    let kept = number(&ran, "the memory")?;
    let allowed = limits.memory_bytes / MIB;
    let fits = if kept < wanted { "did not fit" } else { "found room" };
    Ok(verdict(kept < wanted, format!("{wanted} bytes {fits} in {allowed} MiB")))
}

async fn total_memory(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    // Each keeps its part until all have theirs: what comes in after a second is read then.
    let script = "for i in 1 2 3 4; do
        { head -c 60000000 /dev/zero; sleep 1; } | tail -c 60000000 | wc -c &
      done; wait";
    let limits = Limits { total_memory_bytes: 128 * MIB, ..Limits::BUILD };
    let ran = run(sandbox, &command(script, stage, limits)).await?;
    let whole = ran.out.lines().filter(|line| line.trim() == "60000000").count();
    let detail = format!("{whole} of 4 processes with 57 MiB each fitted into 128 MiB");
    Ok(verdict(whole < 3 && ran.exit.limits_met.memory, detail))
}

async fn cpu_share(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let limits = Limits { cpu: Duration::from_secs(1), cpu_percent: Some(50), ..Limits::BUILD };
    // A container sees the counters of its own group.
    let script = "(while :; do :; done); cat /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat";
    let ran = run(sandbox, &command(script, stage, limits)).await?;
    let has_waited =
        |line: &str| line.strip_prefix("nr_throttled ").is_some_and(|count| count.trim() != "0");
    let was_held = ran.exit.limits_met.cpu || ran.out.lines().any(has_waited);
    let what = if was_held { "had to wait for" } else { "took more than" };
    Ok(verdict(was_held, format!("an endless loop {what} its half of a processor")))
}

async fn cpu_time(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let limits = Limits { cpu: Duration::from_secs(1), ..Limits::BUILD };
    let endless = command("while :; do :; done", stage, limits);
    Ok(match run(sandbox, &endless).await {
        Ok(Ran { exit, .. }) => {
            let is_ended = exit.signal.is_some() || exit.code.is_some_and(|code| code > 128);
            let what = if is_ended { "was ended after 1 s of CPU time" } else { "ended by itself" };
            verdict(is_ended, format!("an endless loop {what}"))
        }
        Err(reason) => Verdict::NotHeld { detail: format!("an endless loop went on: {reason}") },
    })
}

async fn file_size(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let limits = Limits { file_bytes: MIB, ..Limits::BUILD };
    let script = "head -c 3000000 /dev/zero > big; wc -c < big";
    let ran = run(sandbox, &command(script, stage, limits)).await?;
    let size = number(&ran, "the size of the file")?;
    Ok(verdict(size <= MIB, format!("a file could grow to {size} bytes of 3000000")))
}

async fn temporary_space(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let limits = Limits { temporary_bytes: 4 * MIB, ..Limits::BUILD };
    let script = "cd $TMPDIR; head -c 3000000 /dev/zero > a; head -c 3000000 /dev/zero > b;
                  cat a b | wc -c";
    let ran = run(sandbox, &command(script, stage, limits)).await?;
    let size = number(&ran, "the size of the files")?;
    let detail = format!("{size} of 6000000 bytes found room in 4 MiB; the workspace has no bound");
    Ok(verdict(size <= limits.temporary_bytes, detail))
}

async fn wall_time(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let seconds = &stage.seconds;
    let script =
        format!("trap '' TERM INT HUP; setsid sleep {seconds} & echo up; sleep {seconds}; wait");
    let mut child = sandbox
        .spawn(&command(&script, stage, Limits::BUILD))
        .await
        .map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().ok_or("it has no output")?;
    let mut lines = BufReader::new(stdout).lines();
    let up = timeout(PATIENCE, lines.next_line()).await;
    if !matches!(&up, Ok(Ok(Some(line))) if line == "up") {
        return Err("it did not start".to_owned());
    }
    child.terminate().await;
    let ended = timeout(PATIENCE, child.wait()).await.is_ok() && is_gone(seconds).await;
    let what = if ended { "it ignored TERM and was killed" } else { "it ignored TERM and goes on" };
    Ok(verdict(ended, what.to_owned()))
}

async fn leftovers(sandbox: &dyn Sandbox, stage: &Stage) -> Result<Verdict, String> {
    let seconds = &stage.seconds;
    let script = format!(
        "setsid sleep {seconds} >/dev/null 2>&1 & nohup sleep {seconds} & (sleep {seconds} &); \
         setsid setsid bash -c 'trap \"\" TERM; sleep {seconds}' & echo up"
    );
    let ran = run(sandbox, &command(&script, stage, Limits::BUILD)).await?;
    if ran.out != "up\n" {
        return Err(format!("it did not start: {}", ran.errors.trim()));
    }
    let of_daemons = is_gone(seconds).await;
    // As when the daemon dies: its end of the connection is closed.
    let child = sandbox
        .spawn(&command(&format!("trap '' TERM; sleep {seconds}"), stage, Limits::BUILD))
        .await
        .map_err(|error| error.to_string())?;
    drop(child);
    let of_a_dropped_run = is_gone(seconds).await;
    let detail = match (of_daemons, of_a_dropped_run) {
        (true, true) => "daemons of its own and a run that nobody waits for were ended",
        (false, _) => "a daemon of its own goes on",
        (true, false) => "a run that nobody waits for goes on",
    };
    Ok(verdict(of_daemons && of_a_dropped_run, detail.to_owned()))
}

/// Waits until no process has this among its arguments.
async fn is_gone(seconds: &str) -> bool {
    let gone = async {
        while runs_with(seconds) {
            sleep(LOOK_AGAIN).await;
        }
    };
    timeout(UNTIL_GONE, gone).await.is_ok()
}

fn runs_with(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|it| it == word.as_bytes()))
}
