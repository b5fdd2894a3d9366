//! Reading a line that somebody types on the ordinary screen, shown or not.

use std::io::{self, BufRead as _};
use std::pin::Pin;

use rustix::process::Signal;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};

/// Whether what is typed is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Echo {
    On,
    Off,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed<S> {
    /// A line.
    Line(String),
    /// The end of the input: Ctrl-D.
    End,
    /// What stops it came first.
    Stopped(S),
}

/// Asks, and reads a line from stdin, which is a terminal, unless `stopped` ends first.
///
/// # Errors
/// When the terminal cannot be used.
pub(super) async fn line<S>(
    ask: impl Fn(),
    echo: Echo,
    mut stopped: Pin<&mut impl Future<Output = S>>,
) -> io::Result<Typed<S>> {
    let hidden = match echo {
        Echo::On => None,
        Echo::Off => Some(Hidden::new()?),
    };
    let mut goes_on = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
    // Only now: whoever answers at once must be hidden already.
    ask();
    // On a thread of its own, which is left behind when it is stopped and ends with the process.
    let mut read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|bytes| (bytes > 0).then_some(line))
    });
    loop {
        tokio::select! {
            biased;
            stop = &mut stopped => return Ok(Typed::Stopped(stop)),
            read = &mut read => {
                return Ok(read.map_err(io::Error::other)??.map_or(Typed::End, Typed::Line));
            }
            // After a Ctrl-Z: what was typed before is gone, and a shell may have changed the modes.
            _ = goes_on.recv() => {
                if let Some(hidden) = &hidden {
                    hidden.again()?;
                }
                ask();
            }
        }
    }
}

/// A terminal that does not show what is typed, until it is dropped.
struct Hidden {
    before: Termios,
    hidden: Termios,
}

impl Hidden {
    fn new() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // What was typed before is dropped: it was meant for something else, and was shown.
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self { before, hidden })
    }

    fn again(&self) -> io::Result<()> {
        Ok(tcsetattr(io::stdin(), OptionalActions::Now, &self.hidden)?)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // There is nobody left to tell if the terminal is gone.
        let _gone = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
