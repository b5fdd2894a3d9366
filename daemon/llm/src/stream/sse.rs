//! Server-sent events over raw bytes.
//!
//! Lines are found in the bytes and nothing is decoded before its line is whole, so a character cut by
//! a read boundary cannot be damaged.

use memchr::memchr2;

use crate::LlmError;

/// Most bytes of a line, and of the data of an event.
pub(crate) const MAX_LINE: usize = 8 * 1024 * 1024;

/// Most bytes of an event's name; longer ones are no API's.
const MAX_NAME: usize = 128;

/// An event that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SseEvent<'a> {
    /// The field `event`; empty when there is none.
    pub(crate) name: &'a [u8],
    /// The lines of the field `data`, joined by line feeds.
    pub(crate) data: &'a [u8],
}

/// Splits bytes into events. Their names and data are kept; ids and comments are skipped.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    /// Start of a line whose end has not arrived.
    line: Vec<u8>,
    /// Data lines of the event so far, joined by line feeds.
    data: Vec<u8>,
    /// Name of the event so far.
    name: Vec<u8>,
    has_data: bool,
    /// The last byte was CR: an LF that follows belongs to the same line end.
    after_cr: bool,
    /// The byte order mark, if any, is behind.
    is_started: bool,
}

/// A line or an event is longer than [`MAX_LINE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTooLong;

impl From<LineTooLong> for LlmError {
    fn from(_: LineTooLong) -> Self {
        Self::TooLarge { limit: MAX_LINE }
    }
}

impl SseDecoder {
    /// Takes bytes as they arrive and hands over each event that they complete.
    pub(crate) fn push<E: From<LineTooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.append_to_line(bytes)?;
                return Ok(());
            };
            let (start, from_end) = bytes.split_at(end);
            self.after_cr = from_end.first() == Some(&b'\r');
            bytes = from_end.get(1..).unwrap_or_default();
            if self.line.is_empty() {
                self.take_line(start, &mut on_event)?;
            } else {
                self.append_to_line(start)?;
                let line = std::mem::take(&mut self.line);
                self.take_line(&line, &mut on_event)?;
                // The allocation serves the next line that is cut.
                self.line = line;
                self.line.clear();
            }
        }
        Ok(())
    }

    /// Hands over what stands there when the connection ends. The format says to drop it, but
    /// servers forget the last line end.
    pub(crate) fn finish<E: From<LineTooLong>>(
        &mut self,
        mut on_event: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.take_line(&line, &mut on_event)?;
        self.take_line(b"", &mut on_event)
    }

    fn append_to_line(&mut self, bytes: &[u8]) -> Result<(), LineTooLong> {
        if self.line.len() + bytes.len() > MAX_LINE {
            return Err(LineTooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_line<E: From<LineTooLong>>(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = if std::mem::replace(&mut self.is_started, true) {
            line
        } else {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
        };
        if line.is_empty() {
            let mut result = Ok(());
            if std::mem::take(&mut self.has_data) {
                result = on_event(SseEvent { name: &self.name, data: &self.data });
                self.data.clear();
            }
            self.name.clear();
            return result;
        }
        let Some(value) = field(line, b"data") else {
            if let Some(name) = field(line, b"event") {
                self.name.clear();
                self.name.extend_from_slice(name.get(..MAX_NAME).unwrap_or(name));
            }
            return Ok(());
        };
        if self.data.len() + value.len() > MAX_LINE {
            return Err(LineTooLong.into());
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }
}

/// The value of the line if it is of this field.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let value = line.strip_prefix(name)?;
    match value.split_first() {
        None => Some(value),
        Some((b':', value)) => Some(value.strip_prefix(b" ").unwrap_or(value)),
        // Another field whose name starts the same.
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<String>, LineTooLong> {
        let mut decoder = SseDecoder::default();
        let mut events = Vec::new();
        let mut keep = |event: SseEvent<'_>| {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let name = if event.name.is_empty() { String::new() } else { text(event.name) + "=" };
            events.push(name + &text(event.data));
            Ok(())
        };
        for piece in pieces {
            decoder.push(piece, &mut keep)?;
        }
        decoder.finish(&mut keep)?;
        Ok(events)
    }

    #[test]
    fn every_line_end_and_field_is_understood() {
        let check = |input: &str, expect: &[&str]| {
            assert_eq!(
                decode(&[input.as_bytes()]).as_deref(),
                Ok(&expect.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()[..]),
                "{input:?}"
            );
        };
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data:a\n\n", &["a"]);
        check("data:  a\n\n", &[" a"]);
        check("data: a\ndata: b\n\n", &["a\nb"]);
        check("data\n\n", &[""]);
        check(": comment\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", &["x=a"]);
        check("event: x\ndata: a\n\ndata: b\n\n", &["x=a", "b"]);
        check("event: x\n\ndata: b\n\n", &["b"]);
        check("data: a\nevent:x\nevent:y\n\n", &["y=a"]);
        check("events: x\ndata: a\n\n", &["a"]);
        check("database: a\n\n", &[]);
        check("\n\n\n\n", &[]);
        check("\u{feff}data: a\n\n", &["a"]);
        check("data: [DONE]", &["[DONE]"]);
        check("data: a\r\n", &["a"]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let piece = vec![b'x'; MAX_LINE / 2 + 1];
        assert_eq!(decode(&[&piece, &piece]), Err(LineTooLong));
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        assert_eq!(decode(&[&line, &line]), Err(LineTooLong));
    }

    proptest! {
        #[test]
        fn ps_01_any_split_gives_the_same_events(
            text in "(event: (a|世)\n|data: (使用|😀|a){0,4}(\n|\r\n|\r){1,2}|: ping\n|\r|\n){0,12}",
            cuts in prop::collection::vec(0_usize..200, 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for at in cuts {
                pieces.push(&bytes[from..at]);
                from = at;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(decode(&pieces), decode(&[bytes]));
        }
    }
}
