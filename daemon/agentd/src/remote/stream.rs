//! A connection as the server reads and writes it. It breaks off by itself when its time is over.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tokio_rustls::server::TlsStream;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::transport::server::Connected;

use super::connections::{Admission, Peer};

/// Who is at the other end; in the extensions of each request.
#[derive(Debug, Clone)]
pub(crate) struct RemotePeer(pub(crate) Arc<Peer>);

/// A connection that was admitted and has shaken hands.
pub(crate) struct RemoteStream {
    io: Transport,
    admission: Admission,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    idle: Pin<Box<Sleep>>,
}

/// With or without TLS.
pub(super) enum Transport {
    Tls(Box<TlsStream<TcpStream>>),
    Plain(TcpStream),
}

impl RemoteStream {
    pub(super) fn new(io: Transport, admission: Admission) -> Self {
        let peer = admission.peer();
        let ended = Box::pin(peer.end.clone().cancelled_owned());
        let idle = Box::pin(tokio::time::sleep_until(peer.idle_until()));
        Self { io, admission, ended, idle }
    }

    /// Ready with the reason when the connection has to end. The server reads all the time, so this is
    /// looked at whenever something changes.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.ended.as_mut().poll(cx).is_ready() {
            return Poll::Ready(io::Error::new(io::ErrorKind::ConnectionAborted, "closed"));
        }
        while self.idle.as_mut().poll(cx).is_ready() {
            let until = self.admission.peer().idle_until();
            if until <= Instant::now() {
                tracing::debug!(peer = %self.admission.peer().address, "idle connection closed");
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "idle for too long"));
            }
            self.idle.as_mut().reset(until);
        }
        Poll::Pending
    }
}

impl AsyncRead for RemoteStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(error) = self.poll_over(cx) {
            return Poll::Ready(Err(error));
        }
        match &mut self.io {
            Transport::Tls(io) => Pin::new(io).poll_read(cx, buf),
            Transport::Plain(io) => Pin::new(io).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for RemoteStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.io {
            Transport::Tls(io) => Pin::new(io).poll_write(cx, buf),
            Transport::Plain(io) => Pin::new(io).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Transport::Tls(io) => Pin::new(io).poll_flush(cx),
            Transport::Plain(io) => Pin::new(io).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Transport::Tls(io) => Pin::new(io).poll_shutdown(cx),
            Transport::Plain(io) => Pin::new(io).poll_shutdown(cx),
        }
    }
}

impl Connected for RemoteStream {
    type ConnectInfo = RemotePeer;

    fn connect_info(&self) -> RemotePeer {
        RemotePeer(Arc::clone(self.admission.peer()))
    }
}

/// How many of something there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gauge(Arc<AtomicUsize>);

impl Gauge {
    /// The number.
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts a connection until it is dropped.
    pub(crate) fn count<T>(&self, io: T) -> Counted<T> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted { io, gauge: self.clone() }
    }
}

/// A connection that is counted while it is open.
#[derive(Debug)]
pub(crate) struct Counted<T> {
    io: T,
    gauge: Gauge,
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        self.gauge.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Counted<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

impl<T: Connected> Connected for Counted<T> {
    type ConnectInfo = T::ConnectInfo;

    fn connect_info(&self) -> T::ConnectInfo {
        self.io.connect_info()
    }
}
