//! A socket before a daemon's own, which a test cuts and opens again.

#![expect(clippy::expect_used, reason = "a helper that fails fails the test")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::{UnixListener, UnixStream};
use tokio::task::{AbortHandle, JoinSet};

/// Passes connections on to a daemon. Dropping it cuts them.
#[derive(Debug)]
pub struct Passage {
    socket: PathBuf,
    daemon: PathBuf,
    /// The task that accepts, while it is open.
    accepting: JoinSet<()>,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Passage {
    /// Listens at `socket` for connections to the daemon at `daemon`.
    pub fn open(socket: impl Into<PathBuf>, daemon: impl Into<PathBuf>) -> Self {
        let mut passage = Self {
            socket: socket.into(),
            daemon: daemon.into(),
            accepting: JoinSet::new(),
            connections: Arc::default(),
        };
        passage.reopen();
        passage
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    fn connections(&self) -> MutexGuard<'_, Vec<AbortHandle>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts all connections and takes no more.
    pub async fn cut(&mut self) {
        self.accepting.shutdown().await;
        self.connections().clear();
    }

    /// Takes no more connections and cuts the first of those that there are, on which a client sends
    /// its commands; its streams, which have connections of their own, go on.
    pub fn cut_commands(&self) {
        // Nobody finds it any more. The task that accepts stays: it holds the other connections.
        std::fs::remove_file(&self.socket).expect("remove the socket");
        self.connections().first().expect("a connection").abort();
    }

    /// Takes connections again, as at first.
    pub fn reopen(&mut self) {
        let _gone = std::fs::remove_file(&self.socket);
        let listener = UnixListener::bind(&self.socket).expect("listen at the socket");
        let (daemon, connections) = (self.daemon.clone(), Arc::clone(&self.connections));
        self.accepting.spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                let daemon = daemon.clone();
                let passes = passing.spawn(async move {
                    // A daemon that is gone is a connection that ends.
                    if let Ok(mut daemon) = UnixStream::connect(daemon).await {
                        let _ended = tokio::io::copy_bidirectional(&mut client, &mut daemon).await;
                    }
                });
                connections.lock().unwrap_or_else(PoisonError::into_inner).push(passes);
            }
        });
    }
}
