//! What a program writes.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// One of a program's streams; it ends when the program and all that it started have.
pub struct Output(Box<dyn AsyncRead + Send + Sync + Unpin>);

impl Output {
    pub(crate) fn new(stream: impl AsyncRead + Send + Sync + Unpin + 'static) -> Self {
        Self(Box::new(stream))
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}
