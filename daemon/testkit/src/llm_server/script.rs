//! What a reply consists of: things to say, which each API says its way, and writes.

use std::time::Duration;

use serde_json::Value;

use super::{Gate, Pace};

/// A piece of a reply's body.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Say(Said),
    Write(Write),
}

/// Something to say in the API of the request.
#[derive(Debug, Clone)]
pub(super) enum Said {
    /// A delta of Chat Completions.
    Delta(Value),
    SignedReasoning {
        text: String,
        signature: String,
    },
    RedactedReasoning {
        data: String,
    },
    Deltas {
        text: String,
        count: usize,
        pace: Pace,
    },
    Finish(String),
    Usage {
        prompt: u64,
        completion: u64,
        cached: u64,
    },
    /// An error in the stream.
    Error(Value),
    Done,
    /// The body of an HTTP error.
    Refused {
        code: String,
        message: String,
    },
}

/// Something to do with the socket.
#[derive(Debug, Clone)]
pub(super) enum Write {
    Bytes(Vec<u8>),
    Repeat { bytes: Vec<u8>, count: usize, pace: Pace },
    Wait(Gate),
    Pause(Duration),
    Stall,
}

/// Where parts are cut into several writes.
#[derive(Debug, Clone)]
pub(super) enum Cuts {
    Parts,
    EveryByte,
    At(Vec<usize>),
    Inside { text: String, bytes: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Chunked,
    Length,
    UntilClose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Clean,
    Cut,
    Reset,
}

/// How a reply is written, whatever it says.
#[derive(Debug, Clone)]
pub(super) struct How {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) cuts: Cuts,
    pub(super) framing: Framing,
    pub(super) end: End,
    /// One JSON text instead of a stream.
    pub(super) is_whole: bool,
    /// Nothing at all is written before this.
    pub(super) before_headers: Option<Write>,
}

impl How {
    pub(super) fn new(status: u16, headers: Vec<(String, String)>) -> Self {
        Self {
            status,
            headers,
            cuts: Cuts::Parts,
            framing: Framing::Chunked,
            end: End::Clean,
            is_whole: false,
            before_headers: None,
        }
    }
}

/// A reply in its API: nothing is left but to write it.
#[derive(Debug, Clone)]
pub(super) struct Rendered {
    pub(super) how: How,
    pub(super) writes: Vec<Write>,
}

impl Rendered {
    /// All bytes of the body, repeats once.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for write in &self.writes {
            if let Write::Bytes(bytes) | Write::Repeat { bytes, .. } = write {
                all.extend_from_slice(bytes);
            }
        }
        all
    }
}
