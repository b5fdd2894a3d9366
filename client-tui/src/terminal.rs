//! The terminal itself: taken over at the start, and given back as it was on every way out.
//!
//! A guard gives it back when it is dropped, a panic hook before the panic is printed, and the loop before
//! it stops the process or lets an editor run.

pub mod editor;
mod notify;
mod signals;

use std::io::{self, IsTerminal as _, Stdout, Write as _};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, SetTitle};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

pub use notify::notify;
pub use signals::{Signals, Stop};

/// What the terminal is asked to do beside showing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// Clicks and the wheel come to us. Selecting text then takes Shift in most terminals.
    pub mouse: bool,
}

/// The screen while it is ours.
pub type Screen = Terminal<CrosstermBackend<Stdout>>;

/// A terminal that was taken over. Dropping it gives the terminal back.
#[derive(Debug)]
pub struct TerminalGuard {
    before: Arc<Before>,
    wishes: Wishes,
}

/// How the terminal was.
#[derive(Debug)]
struct Before {
    modes: Termios,
    is_ours: AtomicBool,
}

impl TerminalGuard {
    /// Takes the terminal over, and sees to it that a panic gives it back.
    ///
    /// # Errors
    /// When stdin and stdout are not one, or it refuses.
    pub fn take(wishes: Wishes) -> io::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(io::Error::other("stdin and stdout are not a terminal"));
        }
        let modes = tcgetattr(io::stdin())?;
        let before = Arc::new(Before { modes, is_ours: AtomicBool::new(false) });
        let guard = Self { before: Arc::clone(&before), wishes };
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            before.give_back();
            report(panic);
        }));
        guard.enter()?;
        Ok(guard)
    }

    /// Takes the terminal over again after [`Self::give_back`].
    ///
    /// # Errors
    /// When it refuses.
    pub fn enter(&self) -> io::Result<()> {
        self.before.is_ours.store(true, Ordering::SeqCst);
        // It does nothing while it believes that the terminal is raw already.
        crossterm::terminal::disable_raw_mode()?;
        crossterm::terminal::enable_raw_mode()?;
        let mut out = io::stdout();
        execute!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange)?;
        if self.wishes.mouse {
            execute!(out, EnableMouseCapture)?;
        }
        Ok(())
    }

    /// Whether the terminal is ours. A panic of some task gives it back.
    pub fn is_ours(&self) -> bool {
        self.before.is_ours.load(Ordering::SeqCst)
    }

    /// Gives the terminal back for a while.
    pub fn give_back(&self) {
        self.before.give_back();
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.before.give_back();
    }
}

impl Before {
    /// Puts everything back, once. There is nobody to tell if the terminal is gone.
    fn give_back(&self) {
        if !self.is_ours.swap(false, Ordering::SeqCst) {
            return;
        }
        let mut out = io::stdout();
        let left = queue!(
            out,
            DisableMouseCapture,
            DisableFocusChange,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            cursor::Show,
        );
        drop(left.and_then(|()| out.flush()));
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.modes);
    }
}

/// Makes the screen that is drawn on.
///
/// # Errors
/// When the terminal does not tell its size.
pub fn screen() -> io::Result<Screen> {
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

/// Puts a text on the clipboard of the terminal, which may be on another machine (OSC 52).
///
/// # Errors
/// When the terminal is gone.
pub fn copy(text: &str) -> io::Result<()> {
    execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))
}

/// Rings the bell.
///
/// # Errors
/// When the terminal is gone.
pub fn ring() -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(b"\x07")?;
    out.flush()
}

/// Shows a text as the window's title. It has to be inert.
///
/// # Errors
/// When the terminal is gone.
pub fn set_title(title: &str) -> io::Result<()> {
    execute!(io::stdout(), SetTitle(title))
}

/// Stops the process as Ctrl-Z does, and returns when somebody lets it go on.
///
/// # Errors
/// When the system refuses.
pub fn stop_process() -> io::Result<()> {
    // The whole group, as the terminal would do it, so that a parent such as `cargo run` stops too.
    rustix::process::kill_current_process_group(rustix::process::Signal::STOP)?;
    Ok(())
}
