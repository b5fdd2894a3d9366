//! A body as it comes in, unpacked as far as there is room.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

/// A body that grows up to a limit, whatever it says of its length.
pub(super) enum Body {
    Plain(Room),
    Gzip(Box<MultiGzDecoder<Room>>),
}

/// Bytes that take no more than there is room for.
pub(super) struct Room {
    bytes: Vec<u8>,
    most: usize,
    is_full: bool,
}

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most.saturating_sub(self.bytes.len());
        if room == 0 && !bytes.is_empty() {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.bytes.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Body {
    /// An empty body; none when it is packed in a way that is not read.
    pub(super) fn new(encoding: &str, most: usize) -> Option<Self> {
        let room = Room { bytes: Vec::new(), most, is_full: false };
        match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Plain(room)),
            "gzip" | "x-gzip" => Some(Self::Gzip(Box::new(MultiGzDecoder::new(room)))),
            _ => None,
        }
    }

    fn room(&self) -> &Room {
        match self {
            Self::Plain(room) => room,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }

    fn told(&self, result: io::Result<()>) -> Result<(), String> {
        match result {
            Ok(()) => Ok(()),
            Err(_) if self.room().is_full => {
                Err(format!("Only the first {} bytes were read.", self.room().most))
            }
            Err(_damaged) => Err("The rest is damaged and cannot be unpacked.".to_owned()),
        }
    }

    /// Adds what came; an error says why no more is taken.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Result<(), String> {
        let result = match self {
            Self::Plain(room) => room.write_all(chunk),
            Self::Gzip(decoder) => decoder.write_all(chunk),
        };
        self.told(result)
    }

    /// Ends it; an error says why it is not whole.
    pub(super) fn end(&mut self) -> Result<(), String> {
        let result = match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
        };
        self.told(result)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Plain(room) => room.bytes,
            // Its own buffer was written out before it gave an error.
            Self::Gzip(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes),
        }
    }
}
