//! A program in a terminal.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper that fails fails the test")]

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use tokio::sync::watch;
use vt100::Parser;

use crate::PATIENCE;

/// Lines that stay readable above the screen.
const SCROLLBACK: usize = 2_000;
/// What programs send to learn where the cursor is.
const ASK_CURSOR: &[u8] = b"\x1b[6n";

/// A program to be started in a terminal.
#[derive(Debug)]
pub struct PtyBuilder {
    command: CommandBuilder,
    size: PtySize,
}

impl PtyBuilder {
    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds an environment variable. `PATH` and `TERM` are there at first.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts the program in this folder.
    #[must_use]
    pub fn current_dir(mut self, dir: &Path) -> Self {
        self.command.cwd(dir);
        self
    }

    /// Sets the terminal's size; at first 100 columns and 30 rows.
    #[must_use]
    pub fn size(mut self, cols: u16, rows: u16) -> Self {
        self.size = PtySize { rows, cols, ..self.size };
        self
    }

    /// Starts the program.
    pub fn spawn(self) -> Pty {
        let Self { command, size } = self;
        let pair = native_pty_system().openpty(size).expect("open a terminal");
        let modes_at_start = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).expect("start the program");
        let pid = child.process_id();
        // The terminal ends with the program only when nobody else holds it.
        drop(pair.slave);
        let reader = pair.master.try_clone_reader().expect("read from the terminal");
        let writer = pair.master.take_writer().expect("write to the terminal");
        let (rows, cols) = (size.rows.try_into(), size.cols.try_into());
        let parser = Parser::new(rows.expect("rows"), cols.expect("columns"), SCROLLBACK);
        let shared = Arc::new(Shared {
            parser: Mutex::new(parser),
            writer: Mutex::new(writer),
            news: watch::Sender::new(News::default()),
        });
        std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.read(reader)
        });
        let killer = child.clone_killer();
        let (exit_tx, exit) = watch::channel(None);
        std::thread::spawn(move || {
            let mut child = child;
            exit_tx.send_replace(Some(child.wait().expect("wait for the program")));
        });
        Pty { shared, master: pair.master, killer, exit, pid, modes_at_start }
    }
}

/// What the reading thread tells.
#[derive(Debug, Clone, Copy, Default)]
struct News {
    reads: u64,
    closed: bool,
}

struct Shared {
    parser: Mutex<Parser>,
    writer: Mutex<Box<dyn Write + Send>>,
    news: watch::Sender<News>,
}

impl Shared {
    fn parser(&self) -> MutexGuard<'_, Parser> {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut reader: Box<dyn Read + Send>) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = reader.read(&mut buffer) {
            let bytes = buffer.get(..length).unwrap_or_default();
            self.parser().process(bytes);
            if bytes.windows(ASK_CURSOR.len()).any(|window| window == ASK_CURSOR) {
                let (row, col) = self.parser().screen().cursor_position();
                self.write(format!("\x1b[{};{}R", row + 1, col + 1).as_bytes());
            }
            self.news.send_modify(|news| news.reads += 1);
        }
        self.news.send_modify(|news| news.closed = true);
    }

    fn write(&self, bytes: &[u8]) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // A program that has ended reads nothing; the test will see that it has.
        let _ended = writer.write_all(bytes).and_then(|()| writer.flush());
    }
}

/// A terminal with a program in it. Dropping it kills the program.
pub struct Pty {
    shared: Arc<Shared>,
    master: Box<dyn MasterPty + Send>,
    killer: Box<dyn portable_pty::ChildKiller + Send + Sync>,
    exit: watch::Receiver<Option<ExitStatus>>,
    pid: Option<u32>,
    modes_at_start: String,
}

/// The terminal's line discipline: echo, line editing, signals.
fn modes(master: &(dyn MasterPty + Send)) -> String {
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
        let mut command = CommandBuilder::new(program.as_ref());
        command.env_clear();
        command.env("PATH", "/usr/bin:/bin");
        command.env("TERM", "xterm-256color");
        PtyBuilder { command, size: PtySize { rows: 30, cols: 100, ..PtySize::default() } }
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.pid.expect("the program has started")
    }

    /// The terminal's modes now, as a text to compare.
    pub fn modes(&self) -> String {
        modes(&*self.master)
    }

    /// The terminal's modes before the program started.
    pub fn modes_at_start(&self) -> &str {
        &self.modes_at_start
    }

    /// Types. A line ends with `\r`; `\x03` is Ctrl-C.
    pub fn send(&self, keys: &str) {
        self.shared.write(keys.as_bytes());
    }

    /// Changes the terminal's size.
    pub fn resize(&self, cols: u16, rows: u16) {
        let size = PtySize { rows, cols, ..PtySize::default() };
        self.master.resize(size).expect("resize the terminal");
        let (rows, cols) = (rows.try_into(), cols.try_into());
        let mut parser = self.shared.parser();
        parser.screen_mut().set_size(rows.expect("rows"), cols.expect("columns"));
    }

    /// The visible screen as text.
    pub fn screen(&self) -> String {
        self.shared.parser().screen().contents()
    }

    /// Whether the program uses the alternate screen now.
    pub fn is_alternate_screen(&self) -> bool {
        self.shared.parser().screen().alternate_screen()
    }

    /// Everything that can be scrolled to, the visible screen included, as text.
    pub fn text(&self) -> String {
        let mut parser = self.shared.parser();
        let screen = parser.screen_mut();
        let rows = usize::from(u16::from(screen.size().0));
        let cols = screen.size().1.into();
        let above = screen.scrollback_len();
        let mut lines = Vec::new();
        let mut offset = above;
        while offset > 0 {
            screen.set_scrollback(offset);
            lines.extend(screen.rows(0, cols).take(rows.min(offset)));
            offset = offset.saturating_sub(rows);
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, cols));
        lines.join("\n")
    }

    /// Waits until screen or scrollback contain `text`.
    pub async fn wait_for(&self, text: &str) {
        self.wait_until(&format!("the text '{text}'"), |shown| shown.contains(text)).await;
    }

    /// Waits until `done` is true of [`Self::text`].
    pub async fn wait_until(&self, what: &str, done: impl Fn(&str) -> bool) {
        let mut news = self.shared.news.subscribe();
        let shown = tokio::time::timeout(PATIENCE, async {
            loop {
                let closed = news.borrow_and_update().closed;
                if done(&self.text()) {
                    return true;
                }
                if closed || news.changed().await.is_err() {
                    return false;
                }
            }
        })
        .await;
        match shown {
            Ok(true) => {}
            Ok(false) => panic!("the program ended before: {what}\n{}", self.text()),
            Err(elapsed) => panic!("did not appear: {what} ({elapsed})\n{}", self.text()),
        }
    }

    /// Waits for the program's end and returns its exit code.
    pub async fn wait_exit(&self) -> u32 {
        let mut exit = self.exit.clone();
        let ended = tokio::time::timeout(PATIENCE, exit.wait_for(Option::is_some)).await;
        match ended {
            Ok(status) => {
                let status = status.expect("the waiting thread lives").clone();
                status.map_or(u32::MAX, |status| status.exit_code())
            }
            Err(elapsed) => panic!("the program did not end ({elapsed})\n{}", self.text()),
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.killer.kill();
    }
}
