//! Terminals that sessions keep open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentd_domain::{ActionTarget, ToolResult};
use agentd_sandbox::{Child, Exit, Terminal, TerminalSize, WaitError};
use tokio::sync::watch;
use tokio::time::timeout;

use super::per_session::{Full, Life, PerSession, RunsOn, seconds};
use super::running::{Bounds, STOP_PATIENCE};
use super::screen::Screen;
use super::told::{left_behind, line};
use crate::ToolContext;

/// What a terminal shows at once.
pub(super) const SIZE: TerminalSize = TerminalSize { rows: 30, columns: 100 };

/// Bytes that are read at once.
const PIECE: usize = 16 * 1024;

/// When nothing comes for so long, what was typed has had its effect, as far as one can tell.
const QUIET: Duration = Duration::from_millis(300);

/// How long a program may leave what is typed unread.
const TYPING: Duration = Duration::from_secs(5);

/// Terminals of all sessions.
pub(super) type Terminals = PerSession<OpenTerminal>;

/// One terminal.
#[derive(Debug)]
pub(super) struct OpenTerminal {
    life: Life,
    /// What was planned when it was opened: where it is, and what keeps it in.
    pub(super) opened: ActionTarget,
    writes: bool,
    /// Pieces that have come.
    pieces: watch::Sender<u64>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    screen: Screen,
    /// None: it is closed.
    terminal: Option<Arc<Terminal>>,
    /// Pieces that were read.
    read: u64,
    end: Option<End>,
}

#[derive(Debug)]
struct End {
    exit: Option<Result<Exit, WaitError>>,
    is_late: bool,
    after: Duration,
}

impl RunsOn for OpenTerminal {
    fn life(&self) -> &Life {
        &self.life
    }
}

/// Keeps a terminal for the session.
///
/// # Errors
/// When the session has too many; what runs in it is killed.
pub(super) fn keep(
    terminals: &Terminals,
    ctx: &ToolContext,
    (child, terminal): (Child, Terminal),
    (opened, writes): (ActionTarget, bool),
    bounds: Bounds,
) -> Result<Arc<OpenTerminal>, ToolResult> {
    let terminal = Arc::new(terminal);
    let state = State {
        screen: Screen::new(SIZE, bounds.kept_bytes),
        terminal: Some(Arc::clone(&terminal)),
        read: 0,
        end: None,
    };
    let new = Arc::new(OpenTerminal {
        life: Life::new(terminals.new_id(ctx.clock.now())),
        opened,
        writes,
        pieces: watch::Sender::new(0),
        state: Mutex::new(state),
    });
    let attending = attend(Arc::clone(&new), child, terminal, bounds.time);
    terminals.add(ctx.session, &new, attending).map_err(too_many)?;
    Ok(new)
}

/// The result of a call that would open one terminal too many.
pub(super) fn too_many(Full(open): Full) -> ToolResult {
    ToolResult::fatal(
        "TOO_MANY_TERMINALS",
        format!("The terminal was not opened: {open} are open already. Close one."),
    )
}

/// Carries out what comes until the shell ends, its time is over, or it is to end.
async fn attend(
    open: Arc<OpenTerminal>,
    mut child: Child,
    terminal: Arc<Terminal>,
    time: Duration,
) {
    // Whoever waits for the end is let go on whatever happens here.
    let _over = open.life.over.clone().drop_guard();
    let mut is_late = false;
    let exit = {
        let by_itself = async { tokio::join!(show(&open, &terminal), child.wait()).1 };
        tokio::select! {
            biased;
            exit = by_itself => Some(exit),
            () = open.life.stop.cancelled() => None,
            () = tokio::time::sleep(time) => { is_late = true; None }
        }
    };
    let exit = if exit.is_some() {
        exit
    } else {
        child.terminate().await;
        let ending = async { tokio::join!(show(&open, &terminal), child.wait()).1 };
        timeout(STOP_PATIENCE, ending).await.ok()
    };
    let mut state = open.lock();
    state.end = Some(End { exit, is_late, after: open.life.began.elapsed() });
    state.terminal = None;
}

/// Carries out what comes until nobody is left who writes.
async fn show(open: &OpenTerminal, terminal: &Terminal) {
    let mut piece = vec![0; PIECE];
    // An error is an end too: the exit says what became of the shell.
    while let Ok(length @ 1..) = terminal.read(&mut piece).await {
        open.lock().screen.feed(piece.get(..length).unwrap_or_default());
        open.pieces.send_modify(|pieces| *pieces += 1);
    }
}

impl OpenTerminal {
    pub(super) fn id(&self) -> &str {
        &self.life.id
    }

    /// True when arrow keys are to be sent in their other form.
    pub(super) fn wants_application_keys(&self) -> bool {
        self.lock().screen.wants_application_keys()
    }

    /// Types text.
    ///
    /// # Errors
    /// The result of the call, when it could not be typed.
    pub(super) async fn send(&self, text: &str) -> Result<(), ToolResult> {
        let Some(terminal) = self.lock().terminal.clone() else {
            return Err(ToolResult::fatal("TERMINAL_CLOSED", self.read().output));
        };
        match timeout(TYPING, terminal.write_all(text.as_bytes())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ToolResult::fatal(
                "TERMINAL_CLOSED",
                format!("The terminal takes nothing more: {error}."),
            )),
            Err(_late) => Err(ToolResult::retryable(
                "TERMINAL_BUSY",
                "What runs in the terminal does not read what is typed; a part may have been typed.",
            )),
        }
    }

    /// Waits until something has come since the last reading and then nothing more, or for this long.
    pub(super) async fn settled(&self, longest: Duration) {
        let read = self.lock().read;
        let settling = async {
            let mut pieces = self.pieces.subscribe();
            tokio::select! {
                _ = pieces.wait_for(|pieces| *pieces > read) => {}
                () = self.life.over.cancelled() => return,
            }
            while let Ok(Ok(())) = timeout(QUIET, pieces.changed()).await {}
        };
        let _goes_on = timeout(longest, settling).await;
    }

    /// The result of a call that reads it: what has scrolled by since the last time, and the screen.
    pub(super) fn read(&self) -> ToolResult {
        let mut state = self.lock();
        state.read = *self.pieces.borrow();
        let mut text = state.screen.news();
        if text.is_empty() {
            text.push_str("[the screen is empty]");
        }
        if let Some(Ok(exit)) = state.end.as_ref().and_then(|end| end.exit.as_ref()) {
            left_behind(&mut text, exit);
        }
        let standing = match &state.end {
            None if self.life.is_over() => "is closed".to_owned(),
            None => "is open".to_owned(),
            Some(End { is_late: true, after, .. }) => {
                format!("was closed after {}: its time was over", seconds(*after))
            }
            Some(_) => "is closed".to_owned(),
        };
        line(&mut text, &format!("[terminal {} {standing}]", self.id()));
        ToolResult { workspace_changed: self.writes, ..ToolResult::success(text) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
