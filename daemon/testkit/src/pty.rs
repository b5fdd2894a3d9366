//! A program in a terminal: typed to, read from, resized, stopped and hung up on.
//!
//! The terminal is a pty of the system and a terminal emulator that reads what the program writes. A
//! test waits for what the program shows, never for a time.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper that fails fails the test")]

mod builder;
mod emulator;
mod screen;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use portable_pty::{ChildKiller, ExitStatus, MasterPty, PtySize};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::watch;

use crate::PATIENCE;
use emulator::Emulator;

pub use builder::PtyBuilder;
pub use screen::{Cell, Modes, Screen};
pub use vt100::{Color, CursorStyle};

/// A terminal with a program in it. Dropping it kills the program.
pub struct Pty {
    emulator: Arc<Emulator>,
    /// None after it was hung up.
    master: Option<Box<dyn MasterPty + Send>>,
    killer: Box<dyn ChildKiller + Send + Sync>,
    exit: watch::Receiver<Option<ExitStatus>>,
    pid: u32,
    modes_at_start: String,
}

/// The terminal's line discipline: echo, line editing, signals.
fn line_modes(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios().expect("the modes of the terminal"))
}

impl fmt::Debug for Pty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pty").field("exit", &self.exit).finish_non_exhaustive()
    }
}

impl Pty {
    /// A program in a terminal, with an environment of its own.
    pub fn builder(program: impl AsRef<Path>) -> PtyBuilder {
        PtyBuilder::new(program.as_ref())
    }

    /// The program's process id; with [`PtyBuilder::in_shell`] the shell's.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    fn master(&self) -> &(dyn MasterPty + Send) {
        &**self.master.as_ref().expect("the terminal was not hung up")
    }

    /// The terminal's line discipline now (echo, line editing, signals), as a text to compare.
    pub fn modes(&self) -> String {
        line_modes(self.master())
    }

    /// The terminal's line discipline before the program started.
    pub fn modes_at_start(&self) -> &str {
        &self.modes_at_start
    }

    /// Checks that the terminal is as it was before the program: its line discipline, and all that the
    /// program has told the terminal itself.
    ///
    /// # Panics
    /// With `what` and the difference when it is not.
    #[track_caller]
    pub fn assert_restored(&self, what: &str) {
        let shown = self.screen_now();
        assert_eq!(self.modes(), self.modes_at_start(), "{what}: the line discipline");
        assert_eq!(*shown.modes(), Modes::default(), "{what}\n{}", shown.text());
        assert!(!shown.has_attributes(), "{what}: colours are left on\n{}", shown.text());
    }

    /// Types. A line ends with `\r`; `\x03` is Ctrl-C.
    pub fn send(&self, keys: &str) {
        self.emulator.write(keys.as_bytes());
    }

    /// Pastes as a terminal does: in brackets when the program asked for them, line breaks as `\r`.
    pub fn paste(&self, text: &str) {
        let text = text.replace("\r\n", "\r").replace('\n', "\r");
        let wraps = self.screen_now().modes().bracketed_paste;
        let (begin, end) = if wraps { ("\x1b[200~", "\x1b[201~") } else { ("", "") };
        self.send(&format!("{begin}{text}{end}"));
    }

    /// Changes the terminal's size, which the program is told with SIGWINCH.
    pub fn resize(&self, cols: u16, rows: u16) {
        let size = PtySize { rows, cols, ..PtySize::default() };
        // The emulator first: what the program draws for the new size must not meet the old one.
        self.emulator.resize(cols, rows, || {
            self.master().resize(size).expect("resize the terminal");
        });
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        signal_process(self.pid, signal);
    }

    /// Closes the terminal, as when its window is closed: the program is told with SIGHUP, and reads
    /// and writes nothing any more. What it has shown can still be read.
    pub async fn hang_up(&mut self) {
        let master = self.master.take().expect("it is hung up once");
        let name = master.tty_name().expect("the terminal has a name");
        self.emulator.stop_reading(&name);
        self.wait_closed().await;
        drop(master);
    }

    /// The screen now, with its attributes, cursor and modes.
    pub fn screen_now(&self) -> Screen {
        self.emulator.screen()
    }

    /// The visible screen as text.
    pub fn screen(&self) -> String {
        self.screen_now().text()
    }

    /// Whether the program uses the alternate screen now.
    pub fn is_alternate_screen(&self) -> bool {
        self.screen_now().modes().alternate_screen
    }

    /// Everything that can be scrolled to, the visible screen included, as text.
    pub fn text(&self) -> String {
        self.emulator.text()
    }

    /// What the program has written so far, with its escape sequences; of much the first MiB.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.emulator.written()).into_owned()
    }

    /// Waits until screen or scrollback contain `text`.
    pub async fn wait_for(&self, text: &str) {
        self.wait_until(&format!("the text '{text}'"), |shown| shown.contains(text)).await;
    }

    /// Waits until `done` is true of [`Self::text`].
    pub async fn wait_until(&self, what: &str, done: impl Fn(&str) -> bool) {
        self.wait(what, || done(&self.text()).then_some(())).await;
    }

    /// Waits until `done` is true of the visible screen, and returns that screen.
    pub async fn wait_screen(&self, what: &str, done: impl Fn(&Screen) -> bool) -> Screen {
        self.wait(what, || Some(self.screen_now()).filter(&done)).await
    }

    /// Waits until the shell of [`PtyBuilder::in_shell`] asks for a command, as after Ctrl-Z.
    pub async fn wait_shell(&self) -> Screen {
        let prompt = builder::SHELL_PROMPT;
        self.wait_screen("the prompt of the shell", |screen| {
            let (row, col) = screen.cursor();
            let line = screen.rows().into_iter().nth(usize::from(row)).unwrap_or_default();
            line == prompt.trim_end() && usize::from(col) == prompt.len()
        })
        .await
    }

    /// Waits until `find` finds something after some output of the program.
    async fn wait<T>(&self, what: &str, find: impl Fn() -> Option<T>) -> T {
        let mut news = self.emulator.news();
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                let closed = news.borrow_and_update().closed;
                if let Some(found) = find() {
                    return Some(found);
                }
                if closed || news.changed().await.is_err() {
                    return None;
                }
            }
        })
        .await;
        match found {
            Ok(Some(found)) => found,
            Ok(None) => panic!("the program ended before: {what}\n{}", self.text()),
            Err(elapsed) => panic!("did not appear: {what} ({elapsed})\n{}", self.text()),
        }
    }

    /// Waits for the program's end, with all that it wrote, and returns its exit code.
    pub async fn wait_exit(&self) -> u32 {
        let mut exit = self.exit.clone();
        let ended = tokio::time::timeout(PATIENCE, exit.wait_for(Option::is_some)).await;
        let status = match ended {
            Ok(status) => status.expect("the waiting thread lives").clone(),
            Err(elapsed) => panic!("the program did not end ({elapsed})\n{}", self.text()),
        };
        self.wait_closed().await;
        status.map_or(u32::MAX, |status| status.exit_code())
    }

    /// Waits until nothing more comes from the terminal.
    async fn wait_closed(&self) {
        let mut news = self.emulator.news();
        let closed = tokio::time::timeout(PATIENCE, news.wait_for(|news| news.closed)).await;
        assert!(closed.is_ok(), "somebody still holds the terminal\n{}", self.text());
    }
}

fn signal_process(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, signal).expect("send a signal");
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.killer.kill();
    }
}
