//! What the user does, from a line editor or from a pipe.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader, Stdin};
use tokio::time::Instant;

/// Longest line from a pipe, in bytes; the daemon takes as much as a message.
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// What the user does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// The prompt is on the screen, and rows may be written above it.
    Ready,
    /// Rows that were handed over are on the screen.
    Printed,
    /// A line was entered.
    Line {
        /// What it says.
        text: String,
        /// When it was.
        at: Instant,
    },
    /// A line of the pipe was too long and has been skipped.
    TooLong,
    /// Ctrl-C at the prompt, and what stood in the line.
    Interrupt(String),
    /// Ctrl-Z at the prompt, and what stood in the line.
    Suspend(String),
    /// Ctrl-D, or the end of the pipe.
    End,
    /// The terminal cannot be read any more.
    Failed(String),
}

/// Lines of a pipe, or of a terminal too dumb for an editor.
#[derive(Debug)]
pub(crate) struct PipeLines<R = BufReader<Stdin>> {
    reader: R,
    line: Vec<u8>,
    /// What was read to see whether there is anything.
    first: Option<Input>,
    /// The line is over the limit: the rest of it is not kept.
    too_long: bool,
}

impl PipeLines {
    /// Reads stdin.
    pub(crate) fn new() -> Self {
        Self::from_reader(BufReader::new(tokio::io::stdin()))
    }
}

impl<R: AsyncBufRead + Unpin> PipeLines<R> {
    fn from_reader(reader: R) -> Self {
        Self { reader, line: Vec::new(), first: None, too_long: false }
    }

    /// Waits for a line that is not empty; false when the pipe ends without one. The line is kept.
    pub(crate) async fn has_line(&mut self) -> bool {
        loop {
            match self.next().await {
                Input::Line { text, .. } if text.trim().is_empty() => {}
                Input::End => return false,
                first => {
                    self.first = Some(first);
                    return true;
                }
            }
        }
    }

    /// The next line.
    ///
    /// # Cancel safety
    /// Safe: a line that is half read stays for the next call.
    pub(crate) async fn next(&mut self) -> Input {
        if let Some(first) = self.first.take() {
            return first;
        }
        loop {
            let read = match self.reader.fill_buf().await {
                Ok([]) if self.line.is_empty() && !self.too_long => return Input::End,
                Ok([]) => return self.ended(),
                Ok(read) => read,
                Err(error) => return Input::Failed(error.to_string()),
            };
            let end = read.iter().position(|byte| *byte == b'\n');
            let piece = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            self.too_long |= self.line.len() + piece.len() > MAX_LINE_BYTES;
            if self.too_long {
                self.line.clear();
            } else {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return self.ended();
            }
        }
    }

    fn ended(&mut self) -> Input {
        let bytes = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            return Input::TooLong;
        }
        let text = String::from_utf8_lossy(&bytes);
        Input::Line { text: text.trim_end_matches('\r').to_owned(), at: Instant::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line without its time, or what else was read.
    #[derive(Debug, PartialEq)]
    enum Read {
        Line(String),
        Other(Input),
    }

    fn untimed(input: Input) -> Read {
        match input {
            Input::Line { text, .. } => Read::Line(text),
            other => Read::Other(other),
        }
    }

    async fn read(bytes: &[u8]) -> Vec<Read> {
        // A small buffer, so that lines come in pieces.
        let mut lines = PipeLines::from_reader(BufReader::with_capacity(7, bytes));
        let mut inputs = Vec::new();
        loop {
            match lines.next().await {
                Input::End => return inputs,
                input => inputs.push(untimed(input)),
            }
        }
    }

    fn line(text: &str) -> Read {
        Read::Line(text.to_owned())
    }

    #[tokio::test]
    async fn lines_come_as_they_were_written() {
        assert_eq!(read(b"").await, []);
        assert_eq!(
            read(b"one\r\n\ntwo and more").await,
            [line("one"), line(""), line("two and more")]
        );
        assert_eq!(read("世界\n".as_bytes()).await, [line("世界")]);
    }

    #[tokio::test]
    async fn a_pipe_is_looked_into_without_a_loss() {
        let check = async |bytes: &[u8], expect: Option<&str>| {
            let mut lines = PipeLines::from_reader(bytes);
            assert_eq!(lines.has_line().await, expect.is_some(), "{bytes:?}");
            let expect = expect.map_or(Read::Other(Input::End), line);
            assert_eq!(untimed(lines.next().await), expect, "{bytes:?}");
            assert_eq!(lines.next().await, Input::End, "{bytes:?}");
        };
        check(b"", None).await;
        check(b" \n\n", None).await;
        check(b"\none", Some("one")).await;
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_reported_once_and_skipped_to_its_end() {
        let longest = "x".repeat(MAX_LINE_BYTES);
        let text = format!("{longest}\n{longest}yyy\nafter\n{longest}z");
        let inputs = read(text.as_bytes()).await;
        assert_eq!(
            inputs,
            [
                line(&longest),
                Read::Other(Input::TooLong),
                line("after"),
                Read::Other(Input::TooLong)
            ]
        );
    }
}
