//! What a program writes, as text of a bounded length.

use agentd_domain::floor_char_boundary;
use anstream::adapter::StripBytes;

/// Longest sequence of bytes that may still become a character.
const MAX_UNFINISHED: usize = 3;

/// One stream: bytes become text, escape sequences go, and what is between head and tail is counted
/// but not kept.
#[derive(Debug)]
pub(super) struct Capture {
    /// Most bytes of the head, and of the tail.
    half: usize,
    /// Bytes that may begin a character.
    unfinished: Vec<u8>,
    /// Whether the last piece ended with a carriage return, which a line feed may follow.
    after_return: bool,
    escapes: StripBytes,
    head: String,
    tail: String,
    left_out: usize,
    /// The text is not, byte for byte, what was written.
    is_altered: bool,
}

impl Capture {
    /// A stream of which this many bytes are kept, half of them from its end.
    pub(super) fn keeping(bytes: usize) -> Self {
        Self {
            half: bytes / 2,
            unfinished: Vec::new(),
            after_return: false,
            escapes: StripBytes::default(),
            head: String::new(),
            tail: String::new(),
            left_out: 0,
            is_altered: false,
        }
    }

    /// True when a part of the text is not kept.
    pub(super) fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// True when what is kept is all that was written, byte for byte.
    pub(super) fn is_exact(&self) -> bool {
        !self.is_cut() && !self.is_altered
    }

    /// Takes bytes and gives the text that they add. Bytes that are no text become U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.unfinished);
        all.extend_from_slice(bytes);
        let whole = all.len() - unfinished(&all);
        self.unfinished = all.split_off(whole);
        self.add(&all)
    }

    /// Ends the stream and gives what was unfinished.
    pub(super) fn end(&mut self) -> String {
        let rest = std::mem::take(&mut self.unfinished);
        let mut text = self.add(&rest);
        if std::mem::take(&mut self.after_return) {
            text += &self.keep("\n".to_owned());
        }
        text
    }

    /// Bytes of text so far, kept or not.
    pub(super) fn written(&self) -> usize {
        self.head.len() + self.left_out + self.tail.len()
    }

    /// What has been written since there were `from` bytes, as far as it is kept.
    pub(super) fn since(&self, from: usize) -> String {
        let Self { head, tail, left_out, .. } = self;
        let tail_begins = head.len() + left_out;
        if from >= tail_begins {
            return tail.get(from - tail_begins..).unwrap_or_default().to_owned();
        }
        let head = head.get(from..).unwrap_or_default();
        let missing = left_out - from.saturating_sub(self.head.len());
        if missing == 0 {
            return format!("{head}{tail}");
        }
        format!("{head}\n[... {missing} bytes are left out ...]\n{tail}")
    }

    /// Head and tail, with a line between them that says how much is missing.
    pub(super) fn text(&self) -> String {
        self.since(0)
    }

    fn add(&mut self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let mut plain = String::new();
        // By bytes: only so does it remember an escape sequence that goes on in the next piece.
        for printable in self.escapes.strip_next(text.as_bytes()) {
            for c in String::from_utf8_lossy(printable).chars() {
                // A progress bar writes over its line; each state becomes a line of its own.
                if std::mem::take(&mut self.after_return) && c != '\n' {
                    plain.push('\n');
                }
                match c {
                    '\r' => self.after_return = true,
                    c => plain.push(c),
                }
            }
        }
        self.is_altered |= plain.as_bytes() != bytes;
        self.keep(plain)
    }

    fn keep(&mut self, plain: String) -> String {
        let room = if self.tail.is_empty() && self.left_out == 0 {
            floor_char_boundary(&plain, self.half.saturating_sub(self.head.len()))
        } else {
            0
        };
        let (head, tail) = plain.split_at(room);
        self.head.push_str(head);
        self.tail.push_str(tail);
        if let Some(more @ 1..) = self.tail.len().checked_sub(self.half) {
            let cut = (more..=self.tail.len())
                .find(|at| self.tail.is_char_boundary(*at))
                .unwrap_or(self.tail.len());
            self.tail.drain(..cut);
            self.left_out += cut;
        }
        plain
    }
}

/// How many bytes at the end may become a character with the bytes that follow.
fn unfinished(bytes: &[u8]) -> usize {
    (1..=MAX_UNFINISHED.min(bytes.len()))
        .find(|length| {
            let tail = bytes.get(bytes.len() - length..).unwrap_or_default();
            // It begins with the first byte of a character, and only its end is missing.
            tail.first().is_some_and(|first| *first >= 0xc0)
                && std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: usize = 32 * 1024;

    fn captured(pieces: &[&[u8]]) -> String {
        let mut capture = Capture::keeping(2 * HALF);
        let mut shown: String = pieces.iter().map(|piece| capture.push(piece)).collect();
        shown += &capture.end();
        if capture.left_out == 0 {
            assert_eq!(shown, capture.text(), "what is shown is what is kept");
        }
        capture.text()
    }

    #[test]
    fn en_02_bytes_that_are_no_text_become_replacement_characters_and_nothing_else_does() {
        assert_eq!(captured(&[b"a\xed\xa0\x80b"]), "a\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(captured(&[b"\xff\xfe", b"ok"]), "\u{fffd}\u{fffd}ok");
        assert_eq!(captured(&[b"cut \xf0\x9f"]), "cut \u{fffd}");
    }

    #[test]
    fn en_02_characters_and_escapes_may_be_split_anywhere() {
        let text = "\u{1b}[1;31m世界\u{1b}[0m 😀\u{1b}]0;title\u{7} e\u{301}\r\nend\n".as_bytes();
        for at in 0..=text.len() {
            let (before, after) = text.split_at(at);
            assert_eq!(captured(&[before, after]), "世界 😀 e\u{301}\nend\n", "{at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(captured(&bytes), "世界 😀 e\u{301}\nend\n");
    }

    #[test]
    fn lines_that_are_written_over_become_lines() {
        assert_eq!(captured(&[b"10%\r20%", b"\r30%\r\n", b"done\r"]), "10%\n20%\n30%\ndone\n");
    }

    #[test]
    fn only_text_that_is_what_was_written_counts_as_exact() {
        let check = |pieces: &[&[u8]], expect: (bool, bool)| {
            let mut capture = Capture::keeping(20);
            for piece in pieces {
                capture.push(piece);
            }
            capture.end();
            assert_eq!((capture.is_exact(), capture.is_cut()), expect, "{pieces:?}");
        };
        check(&[], (true, false));
        check(&["a世\tb\n".as_bytes()], (true, false));
        check(&["世".as_bytes().split_at(1).0, "世".as_bytes().split_at(1).1], (true, false));
        check(&[b"a\0b"], (false, false));
        check(&[b"a\x1b[1mb"], (false, false));
        check(&[b"a\rb"], (false, false));
        check(&[b"a\r", b"b"], (false, false));
        check(&[b"a\xff"], (false, false));
        check(&[b"a\xf0\x9f"], (false, false));
        check(&[b"0123456789", b"0123456789a"], (false, true));
    }

    #[test]
    fn long_output_keeps_its_head_and_its_tail() {
        let piece = "世".repeat(1_000);
        let mut capture = Capture::keeping(2 * HALF);
        capture.push(b"first\n");
        for _ in 0..1_000 {
            capture.push(piece.as_bytes());
            assert!(capture.head.len() + capture.tail.len() <= 2 * HALF);
        }
        capture.push(b"\nlast");
        let text = capture.text();
        assert!(text.starts_with("first\n世") && text.ends_with("世\nlast"));
        let kept = capture.head.len() + capture.tail.len();
        assert_eq!(kept + capture.left_out, 6 + 3_000_000 + 5);
        assert!(text.contains(&format!("[... {} bytes are left out ...]", capture.left_out)));
    }

    #[test]
    fn what_is_read_piece_by_piece_is_the_whole_and_what_is_missing_is_counted() {
        let mut capture = Capture::keeping(20);
        let mut read = 0;
        let mut news = |capture: &Capture| {
            let text = capture.since(read);
            read = capture.written();
            text
        };
        assert_eq!(news(&capture), "");
        capture.push("a世".as_bytes());
        assert_eq!(news(&capture), "a世");
        capture.push(b"bcdefghijklm");
        assert_eq!(news(&capture), "bcdefghijklm");
        // Only the newest ten bytes are there; of the others four have been read.
        capture.push("0123456789世0123456".as_bytes());
        assert_eq!(news(&capture), "\n[... 10 bytes are left out ...]\n世0123456");
        assert_eq!(news(&capture), "");
        assert_eq!(capture.text(), "a世bcdefg\n[... 16 bytes are left out ...]\n世0123456");
    }
}
