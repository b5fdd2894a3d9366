//! The terminal's other end: reads what the program writes, and answers what it asks.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;
use tokio::sync::watch;
use vt100::{Callbacks, Parser};

use super::Screen;
use super::screen::Told;

/// Lines that stay readable above the screen.
const SCROLLBACK: usize = 2_000;
/// Bytes that are kept as the program wrote them, from the first on.
const WRITTEN: usize = 1024 * 1024;

/// What the reading thread tells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct News {
    reads: u64,
    /// Nothing more comes.
    pub(super) closed: bool,
}

/// What the terminal has been told, and how it answers.
pub(super) struct Emulator {
    parser: Mutex<Parser<Listener>>,
    writer: Mutex<Option<Box<dyn Write + Send>>>,
    written: Mutex<Vec<u8>>,
    news: watch::Sender<News>,
    stopped: AtomicBool,
}

impl Emulator {
    /// Reads from the program in a thread of its own until the program has ended.
    pub(super) fn start(
        cols: u16,
        rows: u16,
        reader: Box<dyn Read + Send>,
        writer: Box<dyn Write + Send>,
    ) -> Arc<Self> {
        let (rows, cols) = (at_least_one(rows), at_least_one(cols));
        let parser = Parser::new_with_callbacks(rows, cols, SCROLLBACK, Listener::default());
        let emulator = Arc::new(Self {
            parser: Mutex::new(parser),
            writer: Mutex::new(Some(writer)),
            written: Mutex::default(),
            news: watch::Sender::new(News::default()),
            stopped: AtomicBool::new(false),
        });
        std::thread::spawn({
            let emulator = Arc::clone(&emulator);
            move || emulator.read(reader)
        });
        emulator
    }

    fn parser(&self) -> MutexGuard<'_, Parser<Listener>> {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the program has written, as far as it is kept.
    pub(super) fn written(&self) -> MutexGuard<'_, Vec<u8>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, mut reader: Box<dyn Read + Send>) {
        // Also when the emulator itself fails: who waits must learn of it.
        let _closed = Closing(&self.news);
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = reader.read(&mut buffer) {
            if self.stopped.load(Ordering::Acquire) {
                break;
            }
            let bytes = buffer.get(..length).unwrap_or_default();
            {
                let mut written = self.written();
                let room = WRITTEN.saturating_sub(written.len());
                written.extend(bytes.iter().take(room));
            }
            let answers = {
                let mut parser = self.parser();
                parser.process(bytes);
                std::mem::take(&mut parser.callbacks_mut().answers)
            };
            self.write(&answers);
            self.news.send_modify(|news| news.reads += 1);
        }
        drop(reader);
    }

    pub(super) fn news(&self) -> watch::Receiver<News> {
        self.news.subscribe()
    }

    pub(super) fn write(&self, bytes: &[u8]) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = writer.as_mut() {
            // A program that has ended reads nothing; the test will see that it has.
            let _ended = writer.write_all(bytes).and_then(|()| writer.flush());
        }
    }

    /// Gives the emulator another size, and then the terminal.
    pub(super) fn resize(&self, cols: u16, rows: u16, resize_terminal: impl FnOnce()) {
        let mut parser = self.parser();
        parser.set_size(at_least_one(rows), at_least_one(cols));
        resize_terminal();
    }

    /// Lets the thread end and gives up both ways to the terminal.
    pub(super) fn stop_reading(&self, terminal: &Path) {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.stopped.store(true, Ordering::Release);
        // It waits for a byte of the program: it gets one from here.
        let mut options = OpenOptions::new();
        options.write(true).custom_flags((OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed());
        // When nobody has the terminal any more, the thread has ended already.
        let _ended = options.open(terminal).and_then(|mut file| file.write_all(b" "));
    }

    pub(super) fn screen(&self) -> Screen {
        let parser = self.parser();
        Screen::new(parser.screen().clone(), &parser.callbacks().told)
    }

    /// Everything that can be scrolled to, the visible screen included.
    pub(super) fn text(&self) -> String {
        let mut parser = self.parser();
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
}

fn at_least_one(size: u16) -> NonZeroU16 {
    NonZeroU16::new(size).expect("a terminal has at least one row and column")
}

struct Closing<'a>(&'a watch::Sender<News>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|news| news.closed = true);
    }
}

/// Hears what does not change the screen.
#[derive(Debug, Default)]
struct Listener {
    told: Told,
    /// What goes back to the program.
    answers: Vec<u8>,
}

impl Callbacks for Listener {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.told.bells += 1;
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.told.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.told.clipboard = Some(String::from_utf8_lossy(data).into_owned());
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        second: Option<u8>,
        params: &[&[u16]],
        command: char,
    ) {
        match (first, second, command) {
            (None, None, 'n') if params == [[6]] => {
                let (row, col) = screen.cursor_position();
                self.answers.extend(format!("\x1b[{};{}R", row + 1, col + 1).into_bytes());
            }
            // A VT220 with colours.
            (None, None, 'c') => self.answers.extend(b"\x1b[?62;22c"),
            (Some(b'?'), None, 'h' | 'l') => {
                let modes = params.iter().flat_map(|group| group.iter().copied());
                self.told.set_private_modes(modes, command == 'h');
            }
            // The enhanced keyboard is a stack.
            (Some(b'>'), None, 'u') => self.told.keyboard_pushes += 1,
            (Some(b'<'), None, 'u') => {
                let count = params.first().and_then(|it| it.first()).copied().unwrap_or(1).max(1);
                self.told.keyboard_pushes = self.told.keyboard_pushes.saturating_sub(count);
            }
            _ => {}
        }
    }
}
