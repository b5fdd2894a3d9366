//! Jobs: commands that go on when the call that started them has ended.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_domain::ToolResult;
use agentd_sandbox::{Child, Exit, WaitError};
use futures_util::future::maybe_done;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout;

use super::capture::Capture;
use super::per_session::{Full, Life, PerSession, RunsOn, seconds};
use super::running::{Bounds, STOP_PATIENCE, exit_code};
use super::told::{left_behind, line, streams};
use crate::ToolContext;

/// Bytes that are read at once.
const PIECE: usize = 16 * 1024;

/// Jobs of all sessions.
pub(super) type Jobs = PerSession<Job>;

/// One job.
#[derive(Debug)]
pub(super) struct Job {
    life: Life,
    /// The command, on one line.
    shown: String,
    /// It may change the workspace.
    writes: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    out: Stream,
    errors: Stream,
    end: Option<End>,
    /// The model knows of its end.
    is_told: bool,
}

/// One of its streams, and how much of it was read.
#[derive(Debug)]
struct Stream {
    capture: Capture,
    read: usize,
}

impl Stream {
    fn keeping(bytes: usize) -> Self {
        Self { capture: Capture::keeping(bytes), read: 0 }
    }

    /// What came since the last time.
    fn news(&mut self) -> String {
        let news = self.capture.since(self.read);
        self.read = self.capture.written();
        news
    }
}

/// How a job ended.
#[derive(Debug)]
struct End {
    why: Why,
    exit: Option<Result<Exit, WaitError>>,
    after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// By itself.
    Itself,
    /// Somebody wanted it to.
    Killed,
    /// Its time was over.
    Late,
}

impl RunsOn for Job {
    fn life(&self) -> &Life {
        &self.life
    }
}

/// Takes a program that was started as a job of the session, and tells the model.
///
/// # Errors
/// When the session has too many; the program is killed.
pub(super) fn start(
    jobs: &Jobs,
    ctx: &ToolContext,
    child: Child,
    (shown, writes): (String, bool),
    bounds: Bounds,
) -> Result<ToolResult, ToolResult> {
    let stream = || Stream::keeping(bounds.kept_bytes);
    let state = State { out: stream(), errors: stream(), end: None, is_told: false };
    let life = Life::new(jobs.new_id(ctx.clock.now()));
    let job = Arc::new(Job { life, shown, writes, state: Mutex::new(state) });
    jobs.add(ctx.session, &job, attend(Arc::clone(&job), child, bounds.time)).map_err(too_many)?;
    Ok(ToolResult::success(format!(
        "[It runs as job {} and is ended after {}. call_tool with the tool job reads what it writes \
         (action read, wait, kill or list).]",
        job.id(),
        seconds(bounds.time)
    )))
}

/// The result of a call that would start one job too many.
pub(super) fn too_many(Full(running): Full) -> ToolResult {
    ToolResult::fatal(
        "TOO_MANY_JOBS",
        format!("The command was not run: {running} jobs run already. End one with the tool job."),
    )
}

/// Reads what a job writes until it ends, or its time is over, or it is to end.
async fn attend(job: Arc<Job>, mut child: Child, time: Duration) {
    // Whoever waits for the end is let go on whatever happens here.
    let _over = job.life.over.clone().drop_guard();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut reading = pin!(maybe_done(async {
        tokio::join!(
            read(stdout, &job, |state| &mut state.out.capture),
            read(stderr, &job, |state| &mut state.errors.capture),
        )
    }));
    let ended = {
        let by_itself = async { tokio::join!(reading.as_mut(), child.wait()).1 };
        tokio::select! {
            biased;
            exit = by_itself => Ok(exit),
            () = job.life.stop.cancelled() => Err(Why::Killed),
            () = tokio::time::sleep(time) => Err(Why::Late),
        }
    };
    let (why, exit) = match ended {
        Ok(exit) => (Why::Itself, Some(exit)),
        Err(why) => {
            child.terminate().await;
            let ending = async { tokio::join!(reading.as_mut(), child.wait()).1 };
            (why, timeout(STOP_PATIENCE, ending).await.ok())
        }
    };
    let after = job.life.began.elapsed();
    job.lock().end = Some(End { why, exit, after });
}

/// Reads a stream to its end.
async fn read(
    stream: Option<impl AsyncRead + Unpin>,
    job: &Job,
    capture: impl Fn(&mut State) -> &mut Capture,
) {
    let Some(mut stream) = stream else { return };
    let mut piece = vec![0; PIECE];
    // An error ends a stream as its end does: the exit says what became of the program.
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        capture(&mut job.lock()).push(piece.get(..length).unwrap_or_default());
    }
    capture(&mut job.lock()).end();
}

impl Job {
    pub(super) fn id(&self) -> &str {
        &self.life.id
    }

    /// The result of a call that reads it: what it wrote since the last time, and how it is.
    pub(super) fn read(&self) -> ToolResult {
        let mut state = self.lock();
        let State { out, errors, .. } = &mut *state;
        let mut text = streams(&out.news(), &errors.news());
        if text.is_empty() {
            text.push_str("[no new output]");
        }
        if let Some(Ok(exit)) = state.end.as_ref().and_then(|end| end.exit.as_ref()) {
            left_behind(&mut text, exit);
        }
        line(&mut text, &format!("[job {} {}]", self.id(), self.standing(&state)));
        state.is_told = self.life.is_over();
        let exit_code = state.code();
        let result = match (self.life.is_over(), exit_code) {
            (false, _) | (true, Some(0)) => ToolResult::success(text),
            (true, _) if state.end.as_ref().is_some_and(|end| end.why == Why::Killed) => {
                ToolResult::success(text)
            }
            (true, _) => ToolResult::partial("COMMAND_NONZERO_EXIT", text),
        };
        ToolResult { exit_code, workspace_changed: self.writes, ..result }
    }

    /// One line for a list.
    pub(super) fn listed(&self) -> String {
        let mut state = self.lock();
        state.is_told = self.life.is_over();
        format!("{}: {} [{}]", self.id(), self.shown, self.standing(&state))
    }

    /// What the model has not been told of its end.
    pub(super) fn news_of_end(&self) -> Option<String> {
        let mut state = self.lock();
        let is_news = self.life.is_over() && !state.is_told;
        state.is_told |= is_news;
        is_news.then(|| format!("job {} ({}) {}", self.id(), self.shown, self.standing(&state)))
    }

    fn standing(&self, state: &State) -> String {
        let Some(End { why, after, .. }) = state.end.as_ref() else {
            return if self.life.is_over() {
                "has ended, nobody knows how".to_owned()
            } else {
                format!("is running, {} so far", seconds(self.life.began.elapsed()))
            };
        };
        let after = seconds(*after);
        match (why, state.code()) {
            (Why::Killed, _) => format!("was ended after {after}"),
            (Why::Late, _) => format!("was ended after {after}: its time was over"),
            (Why::Itself, Some(code)) => format!("ended after {after} with exit code {code}"),
            (Why::Itself, None) => format!("ended after {after}, nobody knows how"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn code(&self) -> Option<i32> {
        exit_code(self.end.as_ref()?.exit.as_ref()?)
    }
}
