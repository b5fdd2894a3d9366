//! The line by which a daemon says that it is ready: `{"socket":"…","pid":N}`.

use std::path::PathBuf;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::ChildStdout;
use tokio::time::Instant;

/// Longest line that is read, in bytes.
const MAX_LINE: u64 = 16 * 1024;

#[derive(Debug, serde::Deserialize)]
pub(super) struct Announcement {
    pub(super) socket: PathBuf,
    /// Only proves that it is an announcement.
    #[serde(rename = "pid")]
    _pid: u32,
}

pub(super) enum Heard {
    Ready(Announcement),
    /// The output ended without a line.
    End,
    /// There was no line until the deadline.
    Nothing,
    Nonsense(String),
}

pub(super) async fn hear(stdout: ChildStdout, deadline: Instant) -> Heard {
    let mut line = Vec::new();
    let mut reader = BufReader::new(stdout.take(MAX_LINE));
    match tokio::time::timeout_at(deadline, reader.read_until(b'\n', &mut line)).await {
        Err(_) => Heard::Nothing,
        Ok(Err(_) | Ok(0)) => Heard::End,
        Ok(Ok(_)) => match serde_json::from_slice(&line) {
            Ok(announcement) => Heard::Ready(announcement),
            Err(_) => Heard::Nonsense(String::from_utf8_lossy(&line).into_owned()),
        },
    }
}
