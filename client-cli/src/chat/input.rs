//! What the user does, from a line editor or from a pipe.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Stdin};

/// Longest line from a pipe, in bytes; the daemon takes as much as a message.
const MAX_LINE_BYTES: u64 = 1024 * 1024;

/// What the user does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// The prompt is on the screen, and rows may be written above it.
    Ready,
    /// Rows that were handed over are on the screen.
    Printed,
    /// A line was entered.
    Line(String),
    /// Ctrl-C at the prompt.
    Interrupt,
    /// Ctrl-D, or the end of the pipe.
    End,
    /// The terminal cannot be read any more.
    Failed(String),
}

/// Lines of a pipe, or of a terminal too dumb for an editor.
#[derive(Debug)]
pub(super) struct PipeLines {
    reader: BufReader<Stdin>,
    line: Vec<u8>,
}

impl PipeLines {
    /// Reads stdin.
    pub(super) fn new() -> Self {
        Self { reader: BufReader::new(tokio::io::stdin()), line: Vec::new() }
    }

    /// The next line.
    ///
    /// # Cancel safety
    /// Safe: a line that is half read stays for the next call.
    pub(super) async fn next(&mut self) -> Input {
        let room = MAX_LINE_BYTES.saturating_sub(u64::try_from(self.line.len()).unwrap_or(0));
        let mut limited = (&mut self.reader).take(room);
        match limited.read_until(b'\n', &mut self.line).await {
            Ok(0) if self.line.is_empty() => Input::End,
            Ok(_) => {
                let bytes = std::mem::take(&mut self.line);
                let text = String::from_utf8_lossy(&bytes);
                Input::Line(text.trim_end_matches(['\n', '\r']).to_owned())
            }
            Err(error) => Input::Failed(error.to_string()),
        }
    }
}
